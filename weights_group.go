package npu

import (
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// whole computes a group by one kernel that gives the bits of the evaluation, as the rows
// of a weight become bytes in one pass. It reports whether there is one.
func (m *weightMaking) whole(group []*ir.Value) (done bool, err error) {
	g := &weightBody{weightMaking: m, number: map[*ir.Value]int{}, body: &kernel.Body{InPlace: kernel.Absent}}
	if !g.write(group) {
		return false, nil
	}
	k := kernel.Prepare(g.body, &m.kernels)
	if k == nil || k.Kind == kernel.Reference || k.Within > 0 {
		return false, nil
	}
	for _, v := range g.sources {
		if err := m.source(v); err != nil {
			return false, err
		}
		g.in = append(g.in, m.values[v])
	}
	out := make([]*Tensor, len(g.body.Out))
	for i, v := range g.body.Out {
		t := g.body.Type(v)
		out[i] = tensor.New(t.DType, t.Ints()...)
		if err := m.budget.Take(int64(len(out[i].Data))); err != nil {
			return false, err
		}
	}
	if err := m.parts(k, out, g.in); err != nil {
		return false, err
	}
	g.finish(group, out)
	return true, nil
}

// A weightBody is a group on its way to a kernel.
type weightBody struct {
	*weightMaking
	body    *kernel.Body
	number  map[*ir.Value]int // of values of the body
	sources []*ir.Value       // its inputs
	in      []*Tensor
	views   []*ir.Value // at its end: they are made of what it gives
}

// write makes the body. It reports whether the group has several operators, of one result
// each, none of which is a product: for these a kernel would pack what it is to multiply by.
func (g *weightBody) write(group []*ir.Value) bool {
	for _, v := range group {
		if v.Op == ir.Param || v.Op == ir.Const || v.Op.Unit == ir.Cube || v.Op.Class == ir.Region || v.Op.Flags&ir.Projection != 0 {
			return false
		}
		for _, a := range v.Args {
			if a != nil && (a.Op == ir.Param || a.Op == ir.Const) {
				g.input(a)
			}
		}
	}
	next := len(g.sources)
	for _, v := range group {
		if g.view(v) {
			g.views = append(g.views, v)
			g.result(v.Args[0])
			continue
		}
		c, err := boundCall(v, nil)
		if err != nil || len(c.Out) != 1 {
			return false
		}
		o := kernel.Op{Call: c, First: next, Args: make([]int, len(v.Args))}
		for i, a := range v.Args {
			if o.Args[i] = kernel.Absent; a != nil {
				at, known := g.number[a]
				if !known {
					return false // what is made of a view
				}
				o.Args[i] = at
			}
		}
		g.number[v] = next
		g.body.Ops = append(g.body.Ops, o)
		if next++; g.results[v.Name] == v {
			g.result(v)
		}
	}
	return len(g.body.Ops) > 1 && len(g.body.Out) > 0
}

// view reports whether a value is a result in the memory of another that the group makes.
func (g *weightBody) view(v *ir.Value) bool {
	return v.Op.Flags&ir.View != 0 && v.Op.Class == ir.Move && g.results[v.Name] == v && v.Args[0].Op != ir.Param
}

// input adds one; what is known of it is that of constants.
func (g *weightBody) input(v *ir.Value) {
	if _, known := g.number[v]; known {
		return
	}
	g.number[v] = len(g.sources)
	g.sources = append(g.sources, v)
	g.body.In = append(g.body.In, v.Type)
	var value *Tensor
	if v.Op == ir.Const {
		value = v.Attrs[0].Tensor
	}
	g.body.Const = append(g.body.Const, value)
}

// result makes a value one of the body's results.
func (g *weightBody) result(v *ir.Value) {
	if at, known := g.number[v]; known && !slices.Contains(g.body.Out, at) {
		g.body.Out = append(g.body.Out, at)
	}
}

// parts runs a kernel on as many threads as the group may use.
func (m *weightMaking) parts(k *kernel.Prepared, out, in []*Tensor) error {
	parts := k.Parts(m.threads)
	errs := make([]error, parts)
	var workers sync.WaitGroup
	for part := range parts {
		workers.Go(func() {
			x := kernel.Exec{Budget: m.budget}
			errs[part] = k.Do(&x, part, parts, out, in)
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// finish hands the results out, and lets go of the sources.
func (g *weightBody) finish(group []*ir.Value, out []*Tensor) {
	for _, v := range group {
		if at, known := g.number[v]; known {
			if i := slices.Index(g.body.Out, at); i >= 0 {
				g.values[v] = out[i]
			}
		}
		for _, a := range v.Args {
			if a == nil || a.Op != ir.Param {
				continue
			}
			if g.left[a]--; g.left[a] == 0 {
				g.release(a)
			}
		}
	}
	for _, v := range g.views {
		g.values[v] = &Tensor{DType: v.Type.DType, Shape: v.Type.Ints(), Data: g.values[v.Args[0]].Data}
	}
}
