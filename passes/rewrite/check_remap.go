package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// symbols puts symbols for some of the sizes of a graph; nil: it is not legal
// then.
//
//	func @before(%a: f32[2,3], %b: f32[3])  =>  func @before(%a: f32[N2,3], %b: f32[3])
//
// A size that stands in several places becomes one symbol in all of them.
func symbols(f *ir.Func, s *style) *ir.Func {
	names := map[int64]ir.Dim{}
	m := &remapping{size: func(d ir.Dim) ir.Dim {
		n, ok := d.Const()
		if !ok || n < 2 {
			return d
		}
		if _, seen := names[n]; !seen {
			names[n] = d
			if !s.chance(3) {
				names[n] = ir.Sym("N" + d.String())
			}
		}
		return names[n]
	}}
	return m.remap(f)
}

// remap builds a function again with other sizes, in the types of its inputs and
// constants and in attributes. It is nil if that is not legal. Constants that
// change their sizes are cut.
func (m *remapping) remap(f *ir.Func) *ir.Func {
	m.f, m.with, m.results = &ir.Func{Name: f.Name}, map[*ir.Value]*ir.Value{}, map[*ir.Value][]*ir.Value{}
	for _, v := range f.Params {
		m.with[v] = m.f.NewInput(v.Name, m.typ(v.Type))
	}
	for _, v := range f.Body {
		if !m.add(v) {
			return nil
		}
	}
	for _, v := range f.Results {
		m.f.Results = append(m.f.Results, m.with[v])
	}
	prune(m.f) // of further results, Add makes all
	if ir.Verify(m.f) != nil {
		return nil // a symbol that no input has
	}
	return m.f
}

// A remapping says what changes in a function.
type remapping struct {
	size func(ir.Dim) ir.Dim   // what a size becomes
	leaf func(ir.Type) ir.Type // changes the type of an input or constant before; nil: nothing
	last bool                  // tensors that become smaller keep their last elements

	f       *ir.Func // the new one
	with    map[*ir.Value]*ir.Value
	results map[*ir.Value][]*ir.Value // of a call, those of the new one
}

func (m *remapping) typ(t ir.Type) ir.Type {
	if m.leaf != nil {
		t = m.leaf(t)
	}
	return ir.Type{DType: t.DType, Shape: mapDims(t.Shape, m.size)}
}

// add makes a value again; false: it is not legal.
func (m *remapping) add(v *ir.Value) bool {
	if v.Op.Flags&ir.Projection != 0 {
		m.with[v] = m.results[v.Args[0]][v.Index()]
		return true
	}
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = m.with[a]
	}
	attrs := slices.Clone(v.Attrs)
	for i := range attrs {
		if !m.attr(v, i, &attrs[i]) {
			return false
		}
	}
	out, err := m.f.Add(v.Op, args, attrs)
	if err != nil {
		return false
	}
	m.with[v], m.results[v] = out[0], out
	return true
}

func (m *remapping) attr(v *ir.Value, i int, l *ir.Lit) bool {
	switch kind := v.Op.Attrs[i].Kind; {
	case kind == ir.KDim || kind == ir.KDims || kind == ir.KType:
		l.Dims = mapDims(l.Dims, m.size)
	case l.Tensor != nil:
		l.Tensor = m.cut(l.Tensor, m.typ(v.Type))
		return l.Tensor != nil
	}
	return true
}

func mapDims(dims []ir.Dim, size func(ir.Dim) ir.Dim) []ir.Dim {
	out := make([]ir.Dim, len(dims))
	for i, d := range dims {
		out[i] = size(d)
	}
	return out
}

// cut makes a tensor of another shape: the first elements along each axis, or the
// last, axes counted from the last one. A size with a symbol, or one that is
// larger, stays as it is; nil: the shape cannot be.
func (m *remapping) cut(t *tensor.T, to ir.Type) *tensor.T {
	lead := len(t.Shape) - to.Rank()
	if lead < 0 || slices.Contains(t.Shape[:lead], 0) {
		return nil // no element is the first
	}
	shape := slices.Clone(t.Shape[lead:])
	strides := tensor.Strides(t.Shape)
	begin := 0 // of what is kept
	for axis, n := range t.Shape {
		if axis >= lead {
			if d, ok := to.Shape[axis-lead].Const(); ok && d >= 0 && int(d) <= n {
				shape[axis-lead] = int(d)
			}
			n -= shape[axis-lead]
		} else {
			n--
		}
		if m.last {
			begin += n * strides[axis]
		}
	}
	return gathered(t, begin, strides[lead:], shape)
}

// gathered copies the elements of a view.
func gathered(t *tensor.T, begin int, strides, shape []int) *tensor.T {
	out := tensor.New(t.DType, shape...)
	size := t.DType.Size()
	for i := range out.Len() {
		from := begin
		for axis, at := range tensor.Index(shape, i) {
			from += at * strides[axis]
		}
		copy(out.Data[i*size:(i+1)*size], t.Data[from*size:])
	}
	return out
}
