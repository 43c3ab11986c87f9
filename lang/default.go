package lang

import (
	"strconv"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// A Default is what a graph's parameter is when no input is given: a file to
// load, known values, or an init (zeros, full(2)) of type Type.
type Default struct {
	Load  string // path of a .npy file, or .npz:KEY
	Value *tensor.T
	Init  string
	Type  ir.Type
}

// Tensor makes the values. read opens files; it may be nil when no default
// loads one.
func (d *Default) Tensor(seed uint64, read func(path string) ([]byte, error)) (*tensor.T, error) {
	switch {
	case d.Value != nil:
		return d.Value, nil
	case d.Load != "":
		return LoadArray(d.Load, read)
	}
	return source{seed: seed, read: read}.make(d.Init, d.Type, "default")
}

// defaults evaluates the defaults of a graph's parameters.
func (e *elaborator) defaults(f funcVal) []*Default {
	out := make([]*Default, len(f.decl.Params))
	a := &activation{name: f.decl.Name.Name, in: f.in, scope: newScope(nil, bodyScope), body: f.decl.At, plain: true}
	e.inProgram(newProgram("default"), func() {
		e.inActivation(a, func() {
			for _, name := range e.signatureOf(f).dims {
				a.scope.set(name, intVal{d: ir.Sym(name)}, f.decl.Name.At)
			}
			for i := range f.decl.Params {
				p := &f.decl.Params[i]
				if p.Default == nil {
					continue
				}
				if t, ok := e.typeOf(p.Type); ok {
					out[i] = e.defaultOf(p.Default, t)
				}
			}
		})
	})
	return out
}

// defaultOf evaluates one default for a parameter of type t.
func (e *elaborator) defaultOf(x syntax.Expr, t ir.Type) *Default {
	if name, call, ok := calledName(x); ok && typeArgument(call) {
		own, good := e.typeOf(call.Args[0].Value.(*syntax.TypeLit).Type)
		if row, known := initRows[name.Name]; good && known {
			rest := *call
			rest.Args = call.Args[1:]
			init, ok := e.callInit(name, row, &rest, own)
			if !ok || !e.defaultType(x, own, t) {
				return nil
			}
			return &Default{Init: init.text, Type: own}
		}
	}
	init, ok := e.initOf(x, t)
	if !ok {
		return nil
	}
	if file, isLoad := loadText(init.text); isLoad {
		return &Default{Load: file}
	}
	if init.value == nil && !t.IsConst() {
		d := e.errorf("not-constant", x.Span(), "the default has no shape of its own, and %s is not known", t)
		help(d, "write the type: zeros(f32[2, 3])")
		return nil
	}
	return &Default{Value: init.value, Init: init.text, Type: t}
}

// defaultType checks the type that a default is written with.
func (e *elaborator) defaultType(x syntax.Expr, own, t ir.Type) bool {
	if !own.IsConst() {
		e.errorf("not-constant", x.Span(), "the shape of the default is not known")
		return false
	}
	ok := own.DType == t.DType && own.Rank() == t.Rank()
	for i := 0; ok && i < t.Rank(); i++ {
		ok = !t.Shape[i].IsConst() || t.Shape[i].Equal(own.Shape[i])
	}
	if !ok {
		e.errorf("shape-mismatch", x.Span(), "the default is %s, not %s", own, t)
	}
	return ok
}

// defaultTensor is the default of a graph's parameter when another graph or fn
// calls it: a value, or a weight that is loaded with the program.
func (e *elaborator) defaultTensor(f funcVal, i int) value {
	ds := e.defaults(f)
	p := &f.decl.Params[i]
	d := ds[i]
	switch {
	case d == nil:
		return poison{}
	case d.Value != nil:
		return e.wrap(e.constant(d.Value, p.Default.Span()), true)
	}
	if e.prog.test != nil {
		t, err := d.Tensor(0, e.opts.ReadFile)
		if err != nil {
			e.errorf("bad-file", p.Default.Span(), "%s", err)
			return poison{}
		}
		return e.wrap(e.constant(t, p.Default.Span()), true)
	}
	name := f.decl.Name.Name + "." + p.Name.Name
	if known := e.prog.params[name]; known != nil {
		return known.val
	}
	t, init := d.Type, d.Init
	if d.Load != "" {
		x, err := LoadArray(d.Load, e.opts.ReadFile)
		if err != nil {
			e.errorf("bad-file", p.Default.Span(), "%s", err)
			return poison{}
		}
		t, init = ir.TypeOf(x), loadWord+"("+strconv.Quote(d.Load)+")"
	}
	attrs := ir.Param.Defaults()
	for k, a := range ir.Param.Attrs {
		switch a.Name {
		case "type":
			attrs[k] = ir.TypeLit(t)
		case "init":
			attrs[k] = ir.StrLit(init)
		}
	}
	v := &ir.Value{Op: ir.Param, Attrs: attrs, Type: t, Name: name, Pos: e.where(p.Name.At)}
	e.prog.weights = append(e.prog.weights, v)
	e.prog.params[name] = &boundParam{val: e.tensor(v)}
	return e.prog.params[name].val
}
