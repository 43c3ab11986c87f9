package npu

import (
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
)

// Save writes the program as a compiled file (.npuc): the optimised graph, its
// weights, and for a graph without symbolic dimensions its bytecode. File (or
// npu run) loads it without the language, and uses the weights in place.
func (p *Program) Save(path string) error {
	f := &bytecode.File{IR: p.fn.String(), Meta: []bytecode.Pair{{Key: "npu", Value: Version()}, {Key: "graph", Value: p.fn.Name}}}
	for _, name := range sortedKeys(p.weights) {
		f.Weights = append(f.Weights, bytecode.NewWeight(name, p.weights[name]))
	}
	if len(symbols(p.fn)) == 0 {
		code, err := p.code(ir.Env{})
		if err != nil {
			return err
		}
		f.Program = code
	}
	return asError(f.Save(path))
}

// symbols lists the symbolic dimensions of a function's inputs.
func symbols(f *ir.Func) []string {
	var names []string
	for _, p := range f.Params {
		for _, d := range p.Type.Shape {
			d.Symbols(func(s string) { names = append(names, s) })
		}
	}
	return names
}

// asError makes any error a Diagnostics; nil stays nil.
func asError(err error) error {
	if err == nil {
		return nil
	}
	return asDiagnostics(err)
}
