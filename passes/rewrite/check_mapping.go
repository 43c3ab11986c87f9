package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A mapping brings the types of a sample into those of a graph. It holds a few
// entries, and one is made for every sample: so these are lists, not maps.
type mapping struct {
	style  *style
	sizes  pairs[int64, ir.Dim]
	dtypes pairs[tensor.DType, tensor.DType]
}

type pairs[K comparable, V any] []struct {
	key   K
	value V
}

func (p pairs[K, V]) of(key K) (V, bool) {
	for i := range p {
		if p[i].key == key {
			return p[i].value, true
		}
	}
	var none V
	return none, false
}

func (p *pairs[K, V]) set(key K, value V) {
	for i := range *p {
		if (*p)[i].key == key {
			(*p)[i].value = value
			return
		}
	}
	*p = append(*p, struct {
		key   K
		value V
	}{key, value})
}

func (s *style) mapping() *mapping { return &mapping{style: s} }

// learn takes over that an argument of the sampled type has another one; false:
// it cannot.
func (m *mapping) learn(sample, actual ir.Type) bool {
	if sample.Absent() || sample.Rank() != actual.Rank() {
		return false
	}
	if d, ok := m.dtypes.of(sample.DType); ok && d != actual.DType {
		return false
	}
	m.dtypes.set(sample.DType, actual.DType)
	for i, d := range sample.Shape {
		n, _ := d.Const()
		if _, ok := m.sizes.of(n); !ok {
			m.sizes.set(n, actual.Shape[i])
		}
	}
	return true
}

// prefer lets a sample whose dtypes are free have the dtype of the style, most of
// the time, so that several branches of a pattern come to have the same.
func (m *mapping) prefer(in []ir.Type, op *ir.Op) {
	if len(m.dtypes) > 0 || m.style.chance(6) {
		return
	}
	i := slices.IndexFunc(in, func(t ir.Type) bool { return !t.Absent() && t.DType != tensor.Bool })
	if i >= 0 && op.Over.Has(m.style.dtype) {
		m.dtypes.set(in[i].DType, m.style.dtype)
	}
}

func (m *mapping) typ(t ir.Type) ir.Type {
	if t.Absent() {
		return t
	}
	out := ir.Type{DType: t.DType, Shape: make([]ir.Dim, t.Rank())}
	if d, ok := m.dtypes.of(t.DType); ok {
		out.DType = d
	}
	for i, d := range t.Shape {
		out.Shape[i] = m.dim(d)
	}
	return out
}

// dim is what a size of the sample stands for. One that is free is drawn from the
// style's sizes, if it has some.
func (m *mapping) dim(d ir.Dim) ir.Dim {
	n, ok := d.Const()
	if !ok || n < 0 {
		return d
	}
	if to, ok := m.sizes.of(n); ok {
		return to
	}
	to := d
	if s := m.style; n > 1 && len(s.sizes) > 0 {
		to = ir.N(s.sizes[s.IntN(len(s.sizes))])
	}
	m.sizes.set(n, to)
	return to
}

// lit maps the sizes that an attribute holds.
func (m *mapping) lit(l ir.Lit, kind ir.AttrKind) ir.Lit {
	if kind != ir.KDim && kind != ir.KDims && kind != ir.KType || m.style.chance(4) {
		return l
	}
	l.Dims = slices.Clone(l.Dims)
	for i, d := range l.Dims {
		l.Dims[i] = m.dim(d)
	}
	return l
}
