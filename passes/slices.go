package passes

import (
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Slices, and what is joined to be taken apart again.
//
//	%c = concat %a, %b : f32[8]
//	%s = slice %c {starts=[1], ends=[4]}     =>  %y = slice %a {starts=[2], ends=[4]}
//	%y = slice %s {starts=[1], ends=[3]}
//
//	%l, %r = split %x {parts=2}              =>  %y = exp %x
//	%z = concat %l, %r
//	%y = exp %z
//
// A slice copies what it takes, whatever it takes it from, so that one that
// reads further up costs the same and lets what it read before die. A part of a
// split is a slice here; but that split is one task, so a rule that would leave
// both it and a slice beside it does not fire.
//
// Where the elements lie is proved for every size of the symbols; that the
// result has as many of them as before, Apply sees to.

var sliceRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		anyOf("merge-slices", "a slice of a slice is one slice", []string{"slice"}, mergeSlices),
		anyOf("slice-of-concat", "a slice of what was joined is one of the parts that it falls into", parts, sliceOfConcat),
		anyOf("slice-of-pad", "a slice that takes nothing of the padding is one of what was padded", []string{"slice"}, sliceOfPad),
		anyOf("hoist-slice", "what a slice leaves out is not computed", []string{"slice"}, hoistSlice),
		anyOf("merge-concats", "what is joined to be joined is joined at once; what is empty is left out", []string{"concat"}, mergeConcats),
		anyOf("concat-of-slices", "neighbouring parts of one value that are joined are one part, or all of it", []string{"concat"}, concatOfSlices),
	}
})

var parts = []string{"slice", "split", "chunk", "result"}

func mergeSlices(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	inner := m.Root.Args[0]
	x, taken := partOf(inner)
	outer := sliceSpans(m.Root)
	if taken == nil || outer == nil || !m.Alike(owner(inner)) || inner.Op != ir.Slice && m.Uses(inner) > 1 {
		return nil
	}
	spans := make([]span, len(outer))
	for a := range spans {
		var ok bool
		if spans[a], ok = compose(taken[a], outer[a]); !ok {
			return nil
		}
	}
	return sliced(b, x, spans)
}

// joined reads a concat: its axis, and where each part begins; last the size of
// the whole.
func joined(c *ir.Value) (axis int, starts []ir.Dim) {
	axis = axisAttr(c)
	at := ir.N(0)
	for _, p := range c.Args {
		starts = append(starts, at)
		at = at.Add(p.Type.Shape[axis])
	}
	return axis, append(starts, at)
}

func sliceOfConcat(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	c, spans := partOf(m.Root)
	if spans == nil || c.Op != ir.Concat || len(c.Args) > maxParts || !m.Alike(c, owner(m.Root)) {
		return nil
	}
	axis, starts := joined(c)
	s := spans[axis]
	for i, p := range c.Args {
		if s.within(starts[i], starts[i+1]) {
			spans[axis] = s.shifted(starts[i])
			return ofPart(b, m, p, spans)
		}
	}
	return someParts(b, m, c, spans)
}

// ofPart is a slice of one part of a concat. In the place of a part of a split
// it has to be all of that, since the split may stay for its other parts.
func ofPart(b *rewrite.Builder, m *rewrite.Match, p *ir.Value, spans []span) *ir.Value {
	made := sliced(b, p, spans)
	if m.Root.Op != ir.Slice && made != p {
		return nil
	}
	return made
}

// someParts is a slice from the beginning of one part of a concat to the end of
// another: these parts joined.
func someParts(b *rewrite.Builder, m *rewrite.Match, c *ir.Value, spans []span) *ir.Value {
	axis, starts := joined(c)
	s := spans[axis]
	first := slices.IndexFunc(starts, s.start.Equal)
	last := slices.IndexFunc(starts, s.end().Equal)
	if m.Root.Op != ir.Slice || s.step != 1 || first < 0 || last <= first {
		return nil
	}
	for a := range spans {
		if a != axis && !spans[a].takesAll(c.Type.Shape[a]) {
			return nil
		}
	}
	return b.With(ir.Concat, c.Args[first:last], c.Attrs)
}

func sliceOfPad(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	p, spans := m.Root.Args[0], sliceSpans(m.Root)
	if p.Op != ir.Pad || spans == nil || !m.Alike(p) {
		return nil
	}
	x := p.Args[0]
	pairs := attrOf(p, "pairs").Dims
	for a, d := range x.Type.Shape {
		before := pairs[0] // one number, or one pair, is for all axes
		if len(pairs) > 2 {
			before = pairs[2*a]
		}
		if !spans[a].within(before, before.Add(d)) {
			return nil
		}
		spans[a] = spans[a].shifted(before)
	}
	return sliced(b, x, spans)
}

// mergeConcats goes through a whole tree of concats at its root, since to take
// one after the other would copy the list of operands as often.
func mergeConcats(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	c, axis := m.Root, axisAttr(m.Root)
	if readers := m.Readers(c); len(readers) == 1 && joinsInto(m, c, readers[0]) {
		return nil
	}
	var all []*ir.Value
	changed := false
	for todo := pushed(nil, c.Args); len(todo) > 0; { // a stack: the next one is last
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case p.Type.Shape[axis].Is(0):
			changed = true
		case joinsInto(m, p, c):
			todo = pushed(todo, p.Args)
			changed = true
		default:
			all = append(all, p)
		}
	}
	switch {
	case !changed || len(all) == 0:
		return nil
	case len(all) == 1:
		return all[0]
	}
	return b.With(ir.Concat, all, c.Attrs)
}

// pushed puts values onto a stack, the first one on top.
func pushed(stack, vs []*ir.Value) []*ir.Value {
	for i := len(vs) - 1; i >= 0; i-- {
		stack = append(stack, vs[i])
	}
	return stack
}

// joinsInto reports whether the parts of a concat may be those of another one
// that reads it: nobody else does.
func joinsInto(m *rewrite.Match, inner, outer *ir.Value) bool {
	return inner.Op == ir.Concat && outer.Op == ir.Concat && axisAttr(inner) == axisAttr(outer) &&
		m.Uses(inner) == 1 && m.Alike(inner, outer)
}

func concatOfSlices(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	c, axis := m.Root, axisAttr(m.Root)
	var all []*ir.Value
	for i := 0; i < len(c.Args); {
		n, x, spans := run(m, c.Args[i:], axis)
		p := c.Args[i]
		if n > 1 && mayJoin(m, c.Args[i:i+n], x, spans) {
			p = sliced(b, x, spans)
		} else {
			n = 1
		}
		all = append(all, p)
		i += n
	}
	switch len(all) {
	case len(c.Args):
		return nil
	case 1:
		return all[0]
	}
	return b.With(ir.Concat, all, c.Attrs)
}

// run counts how many values from the first one on are parts of one value that
// lie behind each other, and gives the part that they make together.
func run(m *rewrite.Match, ps []*ir.Value, axis int) (n int, x *ir.Value, spans []span) {
	x, spans = partOf(ps[0])
	if spans == nil || spans[axis].step != 1 || !m.Alike(owner(ps[0])) {
		return 1, nil, nil
	}
	for n = 1; n < len(ps); n++ {
		y, next := partOf(ps[n])
		if y != x || next == nil || !m.Alike(owner(ps[n])) || !follows(spans, next, axis) {
			break
		}
		spans[axis].count = spans[axis].count.Add(next[axis].count)
	}
	return n, x, spans
}

// follows reports whether b begins where a ends, and is the same along the other
// axes.
func follows(a, b []span, axis int) bool {
	for i := range a {
		same := a[i].start.Equal(b[i].start) && a[i].count.Equal(b[i].count) && a[i].step == b[i].step
		if i != axis && !same {
			return false
		}
	}
	return b[axis].step == 1 && b[axis].start.Equal(a[axis].start.Add(a[axis].count))
}

// mayJoin reports whether parts may be read as one: if that is all of the value,
// which costs nothing; if it is all of the concat, in whose place the slice
// stands; or if they are slices that nobody else reads.
func mayJoin(m *rewrite.Match, ps []*ir.Value, x *ir.Value, spans []span) bool {
	all := true
	for a, s := range spans {
		all = all && s.takesAll(x.Type.Shape[a])
	}
	if all || len(ps) == len(m.Root.Args) {
		return true
	}
	return !slices.ContainsFunc(ps, func(p *ir.Value) bool { return p.Op != ir.Slice || m.Uses(p) > 1 })
}
