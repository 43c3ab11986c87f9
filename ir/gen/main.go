package main

import (
	"fmt"
	"os"
)

// files lists what is generated, by path from the project's root.
var files = []struct {
	path string
	make func() ([]byte, error)
}{
	{"builder_gen.go", builder},
	{"docs/ops.md", reference},
}

func main() {
	for _, f := range files {
		text, err := f.make()
		if err == nil {
			err = os.WriteFile(f.path, text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
