package lower

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// LowerWithin is Lower for sizes none of which is above those of the plan most,
// which was made of the same function with the same options, so that runs of both
// plans can use the same arena. If the smaller sizes make the same tasks, the plan
// has the order, the streams, the events and the offsets of the larger one. Else it
// is made afresh: where a size of 0 or 1 makes other views and copies (a transpose
// of one row moves nothing), or where a value is larger though the sizes are
// smaller (f32[8-B]). Only such a plan may need a larger arena, and then has it.
func LowerWithin(f *ir.Func, env ir.Env, opts Options, most *Plan) (*Plan, error) {
	p, opts, err := build(f, env, opts)
	if err != nil {
		return nil, err
	}
	if p.adopt(most) {
		return p, nil
	}
	// To adopt may have changed the order already.
	if p, opts, err = build(f, env, opts); err != nil {
		return nil, err
	}
	p.decide(&opts)
	p.Arena, p.Frames = max(p.Arena, most.Arena), max(p.Frames, most.Arena+most.Frames-p.Arena)
	return p, nil
}

// adopt takes over what was decided for larger sizes, if the tasks are the same
// and every value fits its place.
func (p *Plan) adopt(most *Plan) bool {
	if len(p.Tasks) != len(most.Tasks) || len(p.Buffers) != len(most.Buffers) {
		return false
	}
	if most.order != nil {
		p.permute(most.order)
	}
	p.needs()
	for i := range p.Tasks {
		if !p.Tasks[i].like(&most.Tasks[i]) {
			return false
		}
	}
	for i := range p.Buffers {
		if !p.adoptBuffer(i, most) {
			return false
		}
	}
	for i := range p.Tasks {
		if !p.canStillReplace(i) {
			return false
		}
	}
	p.adoptRest(most)
	return true
}

// like reports whether a task does the same on the same buffers as one of a larger
// plan, and needs no task that the other does not: the first rows of a concat may
// be in its first part, and in the first two where parts are smaller.
func (t *Task) like(u *Task) bool {
	if !subset(t.After, u.After) {
		return false
	}
	if t.Name != u.Name || !slices.Equal(t.In, u.In) || !slices.Equal(t.Out, u.Out) || (t.Region == nil) != (u.Region == nil) {
		return false
	}
	return t.Region == nil || t.Region.Kind == u.Region.Kind && t.Region.Frame == u.Region.Frame
}

// subset reports whether all of a, which is ascending, is in b, which is too.
func subset(a, b []int) bool {
	for _, n := range a {
		if _, found := slices.BinarySearch(b, n); !found {
			return false
		}
	}
	return true
}

// adoptBuffer puts a buffer where that of the larger plan is.
func (p *Plan) adoptBuffer(i int, most *Plan) bool {
	b, m := &p.Buffers[i], &most.Buffers[i]
	moved := b.Space == Arena && m.Space == Output && m.Given
	if b.Base != m.Base || b.Kept != m.Kept || b.Local != m.Local || !moved && (b.Space != m.Space || b.Slot != m.Slot) {
		return false
	}
	b.Space, b.Slot, b.Offset = m.Space, m.Slot, m.Offset
	b.Takes, b.Given, b.Reuses = m.Takes, m.Given, m.Reuses
	return b.Base >= 0 || b.Space != Arena || roundUp(b.Size, p.Align) <= roundUp(m.Size, p.Align)
}

// canStillReplace reports whether the results that take the memory of an argument
// still may: a size of 1, say, may have made the argument smaller than the result.
func (p *Plan) canStillReplace(task int) bool {
	t := &p.Tasks[task]
	for i, out := range t.Out {
		a := p.Buffers[out].Takes
		if a < 0 {
			continue
		}
		k := slices.IndexFunc(t.In, func(in int) bool { return in >= 0 && p.Root(in) == a })
		if k < 0 || p.Buffers[a].Size != p.Buffers[out].Size || !p.isWhole(t.In[k]) || !t.canReplace(k, i) {
			return false
		}
	}
	return true
}

// adoptRest copies streams and events, and counts the memory.
func (p *Plan) adoptRest(most *Plan) {
	p.measureTasks()
	for i := range p.Tasks {
		t, m := &p.Tasks[i], &most.Tasks[i]
		t.Stream, t.Waits, t.Post = m.Stream, m.Waits, m.Post
	}
	p.Streams, p.Events = most.Streams, most.Events
	p.measure(p.slots())
	p.Arena, p.Frames, p.Method = most.Arena, most.Frames, most.Method
	p.placeViews()
}
