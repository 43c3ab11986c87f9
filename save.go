package npu

import (
	"io"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang"
)

// Save writes the program as a compiled file (.npuc): the optimised graph, its
// weights, packed too if Options.Pack says so, and for a graph without symbolic
// dimensions its bytecode. File (or npu run) loads it without the language, and uses
// the weights in place. The file appears under its name when it is whole.
func (p *Program) Save(path string) error {
	f, err := p.file()
	if err != nil {
		return asError(err)
	}
	to, err := target(path)
	if err == nil {
		if err = f.Save(to); err != nil {
			err = writeError(path, err)
		}
	}
	return asError(err)
}

// WriteTo writes what Save does.
func (p *Program) WriteTo(w io.Writer) (int64, error) {
	f, err := p.file()
	if err != nil {
		return 0, asError(err)
	}
	return f.WriteTo(w)
}

// file puts a compiled file together.
func (p *Program) file() (*bytecode.File, error) {
	f := &bytecode.File{IR: p.fn.String(), Meta: []bytecode.Pair{{Key: "npu", Value: Version()}, {Key: "graph", Value: p.fn.Name}}}
	if planning := p.opts.planning(); planning != "" {
		f.Meta = append(f.Meta, bytecode.Pair{Key: planningKey, Value: planning})
	}
	if p.opts.Precision != "" {
		f.Meta = append(f.Meta, bytecode.Pair{Key: precisionKey, Value: string(p.opts.Precision)})
	}
	for _, name := range sortedKeys(p.weights) {
		t, err := p.weight(name)
		if err != nil {
			return nil, err
		}
		f.Weights = append(f.Weights, bytecode.NewWeight(name, t))
	}
	for i, v := range p.fn.Params {
		t, err := p.defaultValue(i)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		f.Weights = append(f.Weights, bytecode.NewWeight(defaultPrefix+v.Name, t))
	}
	if len(symbols(p.fn)) == 0 {
		var err error
		if f.Program, err = p.code(ir.Env{}); err != nil {
			return nil, err
		}
	}
	return f, p.pack(f)
}

// defaultPrefix marks, among the tensors of a compiled file, the defaults of
// inputs. A parameter's path cannot begin with it.
const defaultPrefix = "default "

// savedDefaults finds the defaults of a compiled file's inputs.
func savedDefaults(file *bytecode.File, f *ir.Func) []*lang.Default {
	defaults := make([]*lang.Default, len(f.Params))
	for i, v := range f.Params {
		if t, ok := file.Lookup(defaultPrefix + v.Name); ok {
			defaults[i] = &lang.Default{Value: t, Type: ir.TypeOf(t)}
		}
	}
	return defaults
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
