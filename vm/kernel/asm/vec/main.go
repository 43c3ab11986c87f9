// Command vec writes the machines of package vec.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	codes, err := codesOf(filepath.Join("..", "vec", "code.go"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	gen.Main("vec", gen.File{Name: "avx2", Build: write(avx2, codes)}, gen.File{Name: "avx512", Build: write(avx512, codes)})
}

// codesOf reads the names of the codes, in their order, from the block of constants
// that begins with End and ends before Chains, and adds those of the chains.
func codesOf(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		var names []string
		for _, s := range g.Specs {
			for _, n := range s.(*ast.ValueSpec).Names {
				if n.Name == "Chains" {
					return append(names, chainNames()...), nil
				}
				names = append(names, n.Name)
			}
		}
	}
	return nil, fmt.Errorf("%s: there are no constants up to Chains", path)
}
