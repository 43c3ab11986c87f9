// Package gen is what the generators share: where files go, how they are marked,
// how they are compared.
package gen

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// A File is a pair of generated files, NAME_amd64.s and the NAME_amd64.go with its
// declarations.
type File struct {
	Name  string
	Build func(*build.Context)
}

// Main writes the files of the package pkg, whose folder lies beside that of the
// generators; with the flag -check it compares them instead.
func Main(pkg string, files ...File) {
	check := flag.Bool("check", false, "write nothing; fail if a file is out of date")
	flag.Parse()
	put := write
	if *check {
		put = compare
	}
	failed := false
	for _, f := range files {
		if err := f.make(pkg, put); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// make compiles the file and hands its two texts to put.
func (f File) make(pkg string, put func(path string, text []byte) error) error {
	ctx := build.NewContext()
	f.Build(ctx)
	file, err := ctx.Result()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if err := pass.Compile.Execute(file); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	config := printer.Config{Name: "vm/kernel/asm/" + pkg, Pkg: pkg}
	for _, out := range []struct {
		end string
		printer.Printer
	}{
		{"_amd64.s", printer.NewGoAsm(config)},
		{"_amd64.go", printer.NewStubs(config)},
	} {
		text, err := out.Print(file)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := put(filepath.Join("..", pkg, f.Name+out.end), text); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, text []byte) error { return os.WriteFile(path, text, 0o666) }

func compare(path string, text []byte) error {
	there, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(there, text) {
		return fmt.Errorf("%s is not what its generator writes: run go generate in its folder", path)
	}
	return nil
}
