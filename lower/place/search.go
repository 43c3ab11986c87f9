package place

import (
	"cmp"
	"slices"
)

// A search looks for a plan that is no higher than a limit, depth first with
// backtracking. Its ideas are those of MiniMalloc (Moffitt, "MiniMalloc: A
// Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS
// 2023), with other bounds.
//
// Any plan can be made canonical: buffers are let down as far as they go, also
// into holes, until none can lie any lower. In a canonical plan every buffer lies
// on the ground or on one that it meets. So it is enough to place buffers by
// offset rising (of equals by rank), each on top of what it meets of those placed
// before: where that is, its least, is known at any time. A buffer whose least is
// passed by waits: it must be lifted by one that it meets and that is still to be
// placed, or the plan is not canonical.
//
// When the buffers that are left fall into parts that do not meet, each part is
// searched by itself; when one has no plan, the step that parted them is undone
// and not what has been done in other parts.
type search struct {
	job   *job
	limit int64
	meet  matrix // of a problem with conflicts

	work
	boxes []box
	at    []int64 // by buffer: where it was placed last

	frames  []frame
	parts   []part
	members []int32
	tries   []int32
	trail   []change

	bounds
	ranking
}

// A box is what the search has to have at hand of a buffer.
type box struct {
	size   int64
	least  int64 // the top of the placed ones that it meets
	lo, hi int32
	rank   int32 // in its part: which comes first at one offset
}

// A part is a set of buffers to place that meet no other buffers to place.
type part struct {
	from, to int32 // in members, ascending by begin
	parent   int32 // the frame whose step made it; none: it is the whole
	next     int32 // the part that comes after it; none
	floor    int64 // nothing is placed lower,
	last     int32 // and at this offset nothing of a lower rank
}

// A frame is a place of choice: which buffer of its part comes next.
type frame struct {
	part
	first, next, end int32 // in tries: the candidates, and the next to be tried
	open             bool  // a candidate is placed
	mark             mark  // what to go back to
}

// A mark is how long the search's lists were.
type mark struct{ trail, parts, members int }

// A change is what a buffer's numbers were before.
type change struct {
	buffer, rank int32
	least        int64
}

func newSearch(j *job, w work) *search {
	n, sections := len(j.of), len(j.load)
	s := &search{job: j, work: w, boxes: make([]box, n), at: make([]int64, n), bounds: newBounds(sections), ranking: newRanking(j)}
	for k := range s.boxes {
		s.boxes[k] = box{size: j.size[k], lo: j.lo[k], hi: j.hi[k]}
	}
	if j.explicit != nil {
		s.meet = newMatrix(j.explicit)
	}
	return s
}

// An outcome is how a search ended.
type outcome uint8

const (
	gaveUp outcome = iota // out of steps
	found
	impossible
)

// run searches for a plan of the given buffers, which ascend by begin, in at most
// the given number of placements, and until the search has spent as much as end.
func (s *search) run(list []int32, limit, placements, end int64) outcome {
	s.limit = limit
	s.members = append(s.members[:0], list...)
	s.frames, s.parts, s.tries, s.trail = s.frames[:0], s.parts[:0], s.tries[:0], s.trail[:0]
	for _, b := range list {
		s.boxes[b].least = 0
	}
	whole := part{to: int32(len(list)), parent: none, next: none, last: none}
	s.rerank(&whole)
	if !s.fits(&whole) {
		return impossible
	}
	s.push(whole)
	for stop := s.placed + placements; s.placed < stop && s.spent() < end && !s.late(); {
		next, ok := s.step()
		switch {
		case !ok && len(s.frames) == 0:
			return impossible
		case ok && next == none:
			return found
		case ok:
			s.push(s.parts[next])
		}
	}
	return gaveUp
}

// step tries the next candidate of the last frame, or gives its part up. It
// returns the part to go on with, none if all is placed; false: there is another
// candidate to try, or nothing is left to try at all.
func (s *search) step() (next int32, ok bool) {
	top := len(s.frames) - 1
	f := &s.frames[top]
	s.undo(f)
	if f.next == f.end {
		s.back(int(f.parent))
		return none, false
	}
	s.placed++
	b := s.tries[f.next]
	f.next++
	f.open = true
	return s.place(int32(top), b)
}

// back gives up all frames above the given one.
func (s *search) back(to int) {
	for i := len(s.frames) - 1; i > to; i-- {
		s.undo(&s.frames[i])
		s.tries = s.tries[:s.frames[i].first]
	}
	s.frames = s.frames[:to+1]
}

// undo takes a frame's buffer out again.
func (s *search) undo(f *frame) {
	if !f.open {
		return
	}
	f.open = false
	for i := len(s.trail) - 1; i >= f.mark.trail; i-- {
		c := &s.trail[i]
		s.boxes[c.buffer].least, s.boxes[c.buffer].rank = c.least, c.rank
	}
	s.trail, s.parts, s.members = s.trail[:f.mark.trail], s.parts[:f.mark.parts], s.members[:f.mark.members]
}

// note remembers a buffer's numbers, which are about to change.
func (s *search) note(b int32) {
	s.trail = append(s.trail, change{b, s.boxes[b].rank, s.boxes[b].least})
}

// push begins with a part: its candidates are the buffers that do not wait, lowest
// first. What lies above the end that another could have now is none: that one
// would fall into the hole below.
func (s *search) push(p part) {
	f := frame{part: p, first: int32(len(s.tries)), mark: mark{len(s.trail), len(s.parts), len(s.members)}}
	list := s.members[p.from:p.to]
	ceiling := int64(unbounded)
	for _, b := range list {
		ceiling = min(ceiling, s.boxes[b].least+s.boxes[b].size)
	}
	for _, b := range list {
		if s.boxes[b].least < ceiling && !p.passed(&s.boxes[b]) {
			s.tries = append(s.tries, b)
		}
	}
	f.next, f.end = f.first, int32(len(s.tries))
	slices.SortFunc(s.tries[f.first:], func(a, b int32) int {
		x, y := &s.boxes[a], &s.boxes[b]
		return cmp.Or(cmp.Compare(x.least, y.least), cmp.Compare(x.rank, y.rank))
	})
	s.frames = append(s.frames, f)
}

// passed reports whether a buffer waits.
func (p *part) passed(b *box) bool {
	return b.least < p.floor || b.least == p.floor && b.rank < p.last
}

// meets reports whether two buffers must not overlap.
func (s *search) meets(a, b int32) bool {
	if s.meet.words != nil {
		return s.meet.has(a, b)
	}
	x, y := &s.boxes[a], &s.boxes[b]
	return x.lo < y.hi && y.lo < x.hi
}

// place puts a buffer of a frame at its least and sees what that means for those
// that it meets. It returns the part to go on with; false: there is no plan.
func (s *search) place(top, b int32) (next int32, ok bool) {
	f := &s.frames[top]
	at := s.boxes[b].least
	s.at[b] = at
	if !s.lift(&f.part, b) {
		return none, false
	}
	rest := part{parent: top, floor: at, last: s.boxes[b].rank, from: int32(len(s.members))}
	next = f.part.next
	reach, parted := int32(none), false
	for _, c := range s.members[f.from:f.to] {
		if c == b {
			continue
		}
		if s.meet.words == nil && s.boxes[c].lo >= reach && len(s.members) > int(rest.from) {
			parted = true
			if next, ok = s.finish(rest, next, parted); !ok {
				return none, false
			}
			rest.from = int32(len(s.members))
		}
		reach = max(reach, s.boxes[c].hi)
		s.members = append(s.members, c)
	}
	return s.finish(rest, next, parted)
}

// lift raises what a buffer meets to its top.
func (s *search) lift(p *part, b int32) bool {
	x := s.boxes[b]
	top := x.least + x.size
	for _, c := range s.members[p.from:p.to] {
		y := &s.boxes[c]
		if s.meet.words == nil && y.lo >= x.hi {
			break // and all that follow
		}
		if y.least < top && c != b && s.meets(b, c) {
			if top+y.size > s.limit {
				return false
			}
			s.note(c)
			y.least = top
		}
	}
	return true
}

// finish ends a part with the last member. One buffer alone can lie at its least;
// more are put before the parts that are to come.
func (s *search) finish(p part, next int32, parted bool) (int32, bool) {
	p.to, p.next = int32(len(s.members)), next
	switch p.to - p.from {
	case 0:
		return next, true
	case 1:
		b := s.members[p.from]
		s.at[b] = s.boxes[b].least
		return next, true
	}
	if !s.fits(&p) {
		return none, false
	}
	if parted {
		for _, b := range s.members[p.from:p.to] {
			s.note(b)
		}
		s.rerank(&p)
	}
	s.parts = append(s.parts, p)
	return int32(len(s.parts) - 1), true
}
