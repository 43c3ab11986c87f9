package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A span is what a slice takes of one axis: count elements, the first at start,
// the others in steps from it. Where count is 0, start means nothing.
type span struct {
	start, count ir.Dim
	step         int64
}

const (
	// farAway as a bound of a slice means "as far as there is"; see the operator.
	farAway = 1 << 41
	// maxStep keeps the product of two steps far from overflow. No tensor that
	// fits into memory has use for larger ones.
	maxStep = 1 << 20
	// maxParts bounds the parts of a concat or a split that are counted through
	// for one slice, so that many slices of many parts take no quadratic time.
	maxParts = 256
)

// partOf reads v as a part of another value: slice, or one part of split or
// chunk. There is a span for each axis. The spans are nil if v is nothing of the
// kind, or begins at a place that has no form.
func partOf(v *ir.Value) (of *ir.Value, spans []span) {
	switch o := owner(v); o.Op {
	case ir.Slice:
		return v.Args[0], sliceSpans(v)
	case ir.Split, ir.Chunk:
		return o.Args[0], portion(o, v)
	}
	return nil, nil
}

// owner is the operator that computes v.
func owner(v *ir.Value) *ir.Value {
	if projection(v) {
		return v.Args[0]
	}
	return v
}

// whole takes all of a shape.
func whole(shape []ir.Dim) []span {
	spans := make([]span, len(shape))
	for i, d := range shape {
		spans[i] = span{ir.N(0), d, 1}
	}
	return spans
}

func (s span) takesAll(d ir.Dim) bool { return s.start.Is(0) && s.step == 1 && s.count.Equal(d) }

// end is the position behind the last element of a span with positive steps.
func (s span) end() ir.Dim {
	return s.start.Add(s.count.Sub(ir.N(1)).Mul(ir.N(s.step))).Add(ir.N(1))
}

// sliceSpans reads a slice. Bounds outside of the axis are clamped, as the
// operator does it; how many elements there are is known from the type.
func sliceSpans(v *ir.Value) []span {
	x := v.Args[0].Type.Shape
	spans := whole(x)
	starts, steps := attrOf(v, "starts").Dims, attrOf(v, "steps").Ints
	axes := axesAttr(v, "axes", len(starts))
	if !attrOf(v, "axes").IsNone() {
		axes = axesAttr(v, "axes", len(x))
	}
	for i, a := range axes {
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		if step > maxStep || step < -maxStep {
			return nil
		}
		spans[a] = span{firstOf(starts[i], x[a], step), v.Type.Shape[a], step}
	}
	return spans
}

// firstOf is the position at which a slice of an axis of size d begins.
func firstOf(start, d ir.Dim, step int64) ir.Dim {
	n, known := start.Const()
	switch {
	case known && n >= farAway:
		start = d
	case known && n <= -farAway:
		start = ir.N(-1)
	case known && n < 0:
		start = d.Add(start)
	case start.Add(d).Equal(ir.N(-1)):
		start = ir.N(-1)
	}
	if step < 0 {
		return ir.MinOf(start, d.Sub(ir.N(1)))
	}
	return ir.MaxOf(start, ir.N(0))
}

// portion reads one part of a split or chunk: it begins where those before it
// end. The parts have one size, or sizes that the attribute lists; those of a
// chunk are as large as there is room. Nil for one far behind.
func portion(owner, part *ir.Value) []span {
	axis, i := axisAttr(owner), ir.N(int64(part.Index()))
	spans := whole(owner.Args[0].Type.Shape)
	d, start := spans[axis].count, ir.N(0)
	switch {
	case owner.Op == ir.Chunk:
		size := ir.CeilDiv(d, ir.N(attrOf(owner, "n").Int))
		start = ir.MinOf(size.Mul(i), d)
	case attrOf(owner, "sizes").IsNone():
		start = part.Type.Shape[axis].Mul(i)
	case part.Index() > maxParts:
		return nil
	default:
		for _, n := range attrOf(owner, "sizes").Dims[:part.Index()] {
			start = start.Add(n)
		}
	}
	spans[axis] = span{start, part.Type.Shape[axis], 1}
	return spans
}

// sliced makes the slice of x that has these spans, or gives x itself if they
// are all of it. Steps back are made only of numbers.
func sliced(b *rewrite.Builder, x *ir.Value, spans []span) *ir.Value {
	if x == nil || spans == nil {
		return nil
	}
	var starts, ends []ir.Dim
	var axes []int
	var steps []int64
	stepped := false
	for a, s := range spans {
		if s.takesAll(x.Type.Shape[a]) {
			continue
		}
		end := s.end()
		if s.step < 0 {
			var ok bool
			if end, ok = s.endBack(); !ok {
				return nil
			}
		}
		starts, ends = append(starts, s.start), append(ends, end)
		axes, steps = append(axes, a), append(steps, s.step)
		stepped = stepped || s.step != 1
	}
	if axes == nil {
		return x
	}
	taken := []rewrite.Set{set("starts", ir.DimsLit(starts...)), set("ends", ir.DimsLit(ends...)), set("axes", ints(axes))}
	if stepped {
		taken = append(taken, set("steps", ir.IntsLit(steps...)))
	}
	return b.Call(ir.Slice, []*ir.Value{x}, taken...)
}

// endBack is the bound of a slice with negative steps: the position before its
// last element, which may be as far as there is.
func (s span) endBack() (ir.Dim, bool) {
	start, ok := s.start.Const()
	n, ok2 := s.count.Const()
	if !ok || !ok2 || start < 0 || n < 1 {
		return ir.Dim{}, false
	}
	last := start + (n-1)*s.step
	if last <= 0 {
		return ir.N(-farAway), last == 0
	}
	return ir.N(last - 1), true
}

// compose is the span of the argument that an outer span takes of what an inner
// one has taken. Steps back are composed of numbers only.
func compose(inner, outer span) (span, bool) {
	s := span{inner.start.Add(outer.start.Mul(ir.N(inner.step))), outer.count, inner.step * outer.step}
	if inner.step > 0 && outer.step > 0 {
		return s, true
	}
	return s, s.start.IsConst() && s.count.IsConst() && !s.count.Is(0)
}

// within reports whether a span with positive steps lies between two positions,
// for every size of the symbols.
func (s span) within(from, to ir.Dim) bool {
	return s.step > 0 && ir.LessEq(from, s.start) && ir.LessEq(s.end(), to)
}

// shifted is the span counted from another position.
func (s span) shifted(by ir.Dim) span { return span{s.start.Sub(by), s.count, s.step} }
