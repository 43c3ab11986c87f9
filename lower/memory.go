package lower

import (
	"cmp"
	"math"
	"slices"

	"github.com/npulang/npu/lower/place"
)

// A mode is a row of the table of memory modes.
type mode struct {
	reuse   bool // a place is used again
	inPlace bool // also by a result while its argument is still read
	reorder bool // tasks change their order to lower the peak
	search  bool // the placer searches for a better layout
}

var memoryModes = map[MemoryMode]mode{
	MemoryOff:          {},
	MemoryConservative: {reuse: true},
	MemoryNormal:       {reuse: true, inPlace: true, search: true},
	MemoryAggressive:   {reuse: true, inPlace: true, search: true, reorder: true},
}

// known reports whether there is such a mode.
func (m MemoryMode) known() bool {
	_, ok := memoryModes[cmp.Or(m, MemoryNormal)]
	return ok
}

func (o *Options) mode() mode { return memoryModes[cmp.Or(o.Memory, MemoryNormal)] }

// defaultSteps bounds the search for a better layout where the options leave it
// open. On one stream the bound says when a layout is as good as can be, which of
// 200 random graphs all were after 500 steps, 196 of them without any search. On
// several the bound is that of one order of tasks, which no layout may reach, so
// that the search would always go on to its end, for a percent.
const (
	defaultSteps        = 20_000
	defaultSeveralSteps = 500
)

// effort is how hard the placer searches for a layout of so many streams;
// negative steps ask for no search.
func (o *Options) effort(streams int) place.Effort {
	e := o.Effort
	switch {
	case !o.mode().search || e.Steps < 0:
		e.Steps = 0
	case e.Steps == 0 && streams > 1:
		e.Steps = defaultSeveralSteps
	case e.Steps == 0:
		e.Steps = defaultSteps
	}
	return e
}

// placeBuffers gives every arena buffer an offset. A place is used again only
// where the order of tasks says that all who used it are done, whatever the
// streams' speed. Sizes count rounded up to the alignment, also in the plan's
// numbers, so that MaxLive is what no arena could be smaller than.
func (p *Plan) placeBuffers(opts *Options) {
	u := p.users()
	if opts.mode().inPlace {
		p.carryInPlace(u)
		p.reuseArguments(u)
	}
	slots := p.slots()
	p.measure(slots)
	problem := &place.Problem{Align: p.Align}
	for i := range slots {
		problem.Buffers = append(problem.Buffers, slots[i].life(p))
	}
	switch {
	case !opts.mode().reuse:
		p.placeApart(slots)
	case len(p.Streams) > 1:
		p.placeStreams(slots, problem, opts, u)
	default:
		p.solve(slots, problem, opts, true)
	}
	p.noteReuse(slots)
	p.placeFrames(opts.mode().reuse)
	p.placeViews()
}

// placeFrames puts the frames of fused regions behind all other values, those of one
// stream over each other, since its tasks run one after the other. Where kernels
// compute the regions as a whole nothing lies there, and a run leaves that part of
// the arena out.
func (p *Plan) placeFrames(reuse bool) {
	end := roundUp(p.Arena, p.Align)
	for _, stream := range p.Streams {
		shared := int64(0)
		for _, b := range p.frames(stream) {
			b.Last = min(b.Last, len(p.Tasks))
			b.Offset = end
			if reuse && !b.Kept {
				shared = max(shared, roundUp(b.Size, p.Align))
			}
		}
		end += shared
		for _, b := range p.frames(stream) {
			if !reuse || b.Kept {
				b.Offset = end
				end += roundUp(b.Size, p.Align)
			}
		}
	}
	if p.Frames = end - p.Arena; end == roundUp(p.Arena, p.Align) {
		p.Frames = 0
	}
}

// frames are those of the fused regions of a stream.
func (p *Plan) frames(s Stream) (list []*Buffer) {
	for _, t := range s.Tasks {
		if r := p.Tasks[t].Region; r != nil && r.Frame >= 0 && p.Buffers[r.Frame].Local {
			list = append(list, &p.Buffers[r.Frame])
		}
	}
	return list
}

// placeViews puts the views where their bases are.
func (p *Plan) placeViews() {
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Base >= 0 {
			base := &p.Buffers[b.Base]
			b.Space, b.Slot, b.Offset = base.Space, base.Slot, base.Offset+b.At
		}
	}
}

// A slot is a place in the arena that buffers take over from each other in
// place, the first from nobody.
type slot struct {
	buffers     []int
	size        int64
	first, last int  // tasks, in program order
	kept        bool // nothing else may lie there, before or after
}

// slots lists the places that the arena needs, in the order of their buffers.
func (p *Plan) slots() []slot {
	var slots []slot
	of := make([]int32, len(p.Buffers)) // by buffer: its slot
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Space != Arena || b.Base >= 0 || b.Local {
			continue
		}
		b.Last = min(b.Last, len(p.Tasks))
		if b.Takes < 0 {
			of[i] = int32(len(slots))
			slots = append(slots, slot{size: roundUp(b.Size, p.Align), first: b.First, kept: b.Kept})
		} else {
			of[i] = of[b.Takes]
		}
		s := &slots[of[i]]
		s.buffers = append(s.buffers, i)
		s.last = max(s.last, b.Last)
	}
	return slots
}

// life is what the placer has to know of a slot.
func (s *slot) life(p *Plan) place.Buffer {
	if s.kept {
		return place.Buffer{Size: s.size, Lower: -1, Upper: int64(len(p.Tasks)) + 1}
	}
	return place.Buffer{Size: s.size, Lower: int64(s.first), Upper: int64(s.last) + 1}
}

// measure sums the sizes of all values, and of those that live at one time when
// tasks run in program order.
func (p *Plan) measure(slots []slot) {
	p.sum()
	change := make([]int64, len(p.Tasks)+3)
	for i := range slots {
		s := &slots[i]
		life := s.life(p)
		change[life.Lower+1] += s.size
		change[life.Upper+1] -= s.size
	}
	live := int64(0)
	for _, c := range change {
		live += c
		p.MaxLive = max(p.MaxLive, live)
	}
}

// sum counts what MemoryOff would take: every value that is no result has bytes
// of its own, also where it was made in the place of a result, and a frame holds
// all that its bodies make.
func (p *Plan) sum() {
	frames := int64(0)
	for i := range p.Tasks {
		if r := p.Tasks[i].Region; r != nil {
			most := int64(0)
			for _, body := range r.Bodies {
				most = max(most, body.Sum)
			}
			p.Sum += most
			if r.Frame >= 0 {
				frames += roundUp(p.Buffers[r.Frame].Size, p.Align)
			}
		}
	}
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Base < 0 && (b.Space == Arena || b.Space == Output && (b.Given || p.carry > 0)) {
			p.Sum += roundUp(b.Size, p.Align)
		}
	}
	p.Sum -= frames
}

func (p *Plan) solve(slots []slot, problem *place.Problem, opts *Options, exact bool) {
	plan := place.Solve(problem, opts.effort(len(p.Streams)))
	p.Arena, p.Method = plan.Height, plan.Method
	if exact && plan.Bound > p.MaxLive {
		p.MaxLive, p.Proved = plan.Bound, true
	}
	p.setOffsets(slots, plan.Offsets)
}

// placeApart puts all slots behind each other.
func (p *Plan) placeApart(slots []slot) {
	offsets, next := make([]int64, len(slots)), int64(0)
	for i := range slots {
		offsets[i] = next
		next += slots[i].size
	}
	p.Arena, p.Method = next, "apart"
	p.setOffsets(slots, offsets)
}

func (p *Plan) setOffsets(slots []slot, offsets []int64) {
	for i := range slots {
		for _, b := range slots[i].buffers {
			p.Buffers[b].Offset = offsets[i]
		}
	}
}

// noteReuse remembers who lay in a slot's place before.
func (p *Plan) noteReuse(slots []slot) {
	buffers, offsets := make([]place.Buffer, len(slots)), make([]int64, len(slots))
	for i := range slots {
		buffers[i] = place.Buffer{Size: slots[i].size, Lower: int64(slots[i].first)}
		offsets[i] = p.Buffers[slots[i].buffers[0]].Offset
	}
	for i, old := range place.Before(buffers, offsets) {
		if old >= 0 {
			last := slots[old].buffers
			p.Buffers[slots[i].buffers[0]].Reuses = last[len(last)-1]
		}
	}
}

func roundUp(n, align int64) int64 { return (n + align - 1) / align * align }

// users lists, for each buffer without a base, the tasks that read or write it or
// a view of it, ascending.
type users struct {
	start []int32 // by buffer: where its tasks begin; one more at the end
	tasks []int32
}

func (p *Plan) users() *users {
	u := &users{start: make([]int32, len(p.Buffers)+2)}
	p.eachUse(func(r int, _ int) { u.start[r+2]++ })
	for i := 2; i < len(u.start); i++ {
		u.start[i] += u.start[i-1]
	}
	u.tasks = make([]int32, u.start[len(u.start)-1])
	p.eachUse(func(r int, task int) {
		u.tasks[u.start[r+1]] = int32(task)
		u.start[r+1]++
	})
	return u
}

// of lists the tasks of a buffer; one that reads it twice is there twice.
func (u *users) of(b int) []int32 { return u.tasks[u.start[b]:u.start[b+1]] }

// eachUse visits the buffers that each task touches.
func (p *Plan) eachUse(visit func(root, task int)) {
	for i := range p.Tasks {
		t := &p.Tasks[i]
		for _, b := range t.In {
			if b >= 0 {
				visit(p.Root(b), i)
			}
		}
		for _, b := range t.Out {
			visit(p.Root(b), i)
		}
		if t.Region != nil && t.Region.Frame >= 0 {
			visit(t.Region.Frame, i)
		}
	}
}

// forever is the Last of what is read after the last task.
const forever = math.MaxInt

// writers lists the tasks that write b first, of several parts each one's.
func (p *Plan) writers(b int, u *users) []int32 {
	if len(u.of(b)) == 0 || p.Buffers[b].First < 0 {
		return nil
	}
	var list []int32
	for _, t := range u.of(b) {
		if slices.ContainsFunc(p.Tasks[t].Out, func(o int) bool { return p.Root(o) == b }) {
			list = append(list, t)
		}
	}
	if list == nil {
		list = u.of(b)[:1] // a frame
	}
	return list
}
