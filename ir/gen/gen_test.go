package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGenerated makes every generated file again and compares it with what is
// committed.
func TestGenerated(t *testing.T) {
	for _, f := range files {
		want, err := f.make()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../../" + f.path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the operator table gives: run go run ./ir/gen", f.path)
		}
	}
}
