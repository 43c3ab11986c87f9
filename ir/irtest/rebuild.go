package irtest

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// Bind puts numbers for the symbols of a function's sizes; nil: the function
// cannot have these sizes, or has regions that know of them.
//
//	func @f(%x: f32[B,8])  =>  func @f(%x: f32[2,8])    (B=2)
func Bind(f *ir.Func, env ir.Env) *ir.Func {
	bound := func(d ir.Dim) ir.Dim {
		if n, err := d.Bind(env); err == nil {
			return n
		}
		return d
	}
	return rebuild(f, bound, nil)
}

// Symbols are the names of the symbols of a function's inputs, each once.
func Symbols(f *ir.Func) []string {
	var names []string
	for _, p := range f.Params {
		for _, d := range p.Type.Shape {
			d.Symbols(func(s string) {
				if !slices.Contains(names, s) {
					names = append(names, s)
				}
			})
		}
	}
	return names
}

// A call is what a value of a function is made of, before it is made again.
type call struct {
	op    *ir.Op
	args  []*ir.Value // of the new function
	attrs []ir.Lit
	typ   ir.Type // of an input
}

// rebuild makes a function again with other sizes, and with calls that edit, if
// it is not nil, has changed; nil: that is not legal.
func rebuild(f *ir.Func, size func(ir.Dim) ir.Dim, edit func(at int, c *call)) *ir.Func {
	b := &rebuilding{size: size, edit: edit, f: &ir.Func{Name: f.Name}, with: map[*ir.Value]*ir.Value{}, all: map[*ir.Value][]*ir.Value{}}
	f, _ = f.Clone() // its regions go into the new one
	for _, p := range f.Params {
		b.with[p] = b.f.NewInput(p.Name, b.call(p).typ)
	}
	for _, v := range f.Body {
		if !b.add(v) {
			return nil
		}
	}
	for _, v := range f.Results {
		b.f.Results = append(b.f.Results, b.with[v])
	}
	if ir.Verify(b.f) != nil {
		return nil
	}
	return b.f
}

type rebuilding struct {
	size func(ir.Dim) ir.Dim
	edit func(at int, c *call) // at: inputs first, then the body
	at   int
	f    *ir.Func
	with map[*ir.Value]*ir.Value
	all  map[*ir.Value][]*ir.Value // results of a call that has several
}

// call is what v is made of in the new function.
func (b *rebuilding) call(v *ir.Value) *call {
	c := &call{op: v.Op, typ: v.Type, attrs: slices.Clone(v.Attrs)}
	c.typ.Shape = b.sizes(v.Type.Shape)
	for i, l := range c.attrs {
		c.attrs[i].Dims = b.sizes(l.Dims)
	}
	for _, a := range v.Args {
		c.args = append(c.args, b.with[a])
	}
	if b.edit != nil {
		b.edit(b.at, c)
	}
	b.at++
	return c
}

func (b *rebuilding) sizes(dims []ir.Dim) []ir.Dim {
	if dims == nil {
		return nil
	}
	out := make([]ir.Dim, len(dims))
	for i, d := range dims {
		out[i] = b.size(d)
	}
	return out
}

// add makes a value again; false: it is not legal.
func (b *rebuilding) add(v *ir.Value) bool {
	if v.Op.Flags&ir.Projection != 0 {
		b.at++
		made := b.all[v.Args[0]]
		if v.Index() >= len(made) {
			return false
		}
		b.with[v] = made[v.Index()]
		return true
	}
	c := b.call(v)
	made, err := b.f.Add(c.op, c.args, c.attrs, v.Bodies...)
	if err != nil || len(made) == 0 {
		return false
	}
	made[0].Annots, made[0].Name = v.Annots, v.Name
	b.with[v], b.all[v] = made[0], made
	return true
}
