package place

import (
	"cmp"
	"slices"
)

// Bounds are what the search looks at to give a part up early.
type bounds struct {
	queue []entry // of the part at hand, by the offset at which they are ready
	end   []int64 // by section: what is left to place there ends no lower
	full  int32   // the section that was too full last
}

// An entry is a buffer that lies no lower than an offset.
type entry struct {
	ready  int64
	buffer int32
}

func newBounds(sections int) bounds { return bounds{end: make([]int64, sections)} }

// fits reports whether a part may have a plan. What is live in one section lies
// one above the other, like jobs on one machine: taken in the order in which they
// are ready, they end as low as they can.
func (s *search) fits(p *part) bool {
	s.queue = s.queue[:0]
	s.looks += looksToQueue * int64(p.to-p.from)
	for _, b := range s.members[p.from:p.to] {
		ready := s.boxes[b].least
		if p.passed(&s.boxes[b]) {
			ready = s.lifted(p, b)
		}
		if ready > s.limit-s.boxes[b].size {
			return false
		}
		s.queue = append(s.queue, entry{ready, b})
	}
	slices.SortFunc(s.queue, func(a, b entry) int { return cmp.Compare(a.ready, b.ready) })
	return s.sectionFits(s.full) && s.allFit(s.boxes[s.members[p.from]].lo)
}

// sectionFits looks at one section: where one step leads to too much, the next
// often does too.
func (s *search) sectionFits(section int32) bool {
	end := int64(0)
	for _, e := range s.queue {
		if b := &s.boxes[e.buffer]; b.lo <= section && section < b.hi {
			end = max(end, e.ready) + b.size
		}
	}
	return end <= s.limit
}

// allFit looks at all sections of a part, which begins with the given one.
func (s *search) allFit(first int32) bool {
	reach := first
	for _, e := range s.queue {
		b := &s.boxes[e.buffer]
		for ; reach < b.hi; reach++ {
			s.end[reach] = 0
		}
		ends := s.end[b.lo:b.hi]
		s.looks += int64(len(ends))
		for i, end := range ends {
			end = max(end, e.ready) + b.size
			if end > s.limit {
				s.full = b.lo + int32(i)
				return false
			}
			ends[i] = end
		}
	}
	return true
}

// lifted is an offset that a buffer which waits cannot lie below. It lies on
// another that is still to be placed, which must begin low enough to be in its
// way: else it could be let down.
func (s *search) lifted(p *part, b int32) int64 {
	x := s.boxes[b]
	begin, top := int64(unbounded), int64(unbounded)
	for _, c := range s.members[p.from:p.to] {
		s.looks += looksToMeet
		y := &s.boxes[c]
		if s.meet.words == nil && y.lo >= x.hi {
			break // and all that follow
		}
		if c != b && s.meets(b, c) {
			at := max(y.least, p.floor)
			begin, top = min(begin, at), min(top, at+y.size)
		}
	}
	if begin >= x.least+x.size {
		return unbounded
	}
	return top
}

// A matrix says which buffers are in conflict, one bit for each pair.
type matrix struct {
	words  []uint64
	stride int
}

func newMatrix(lists [][]int32) matrix {
	stride := (len(lists) + 63) / 64
	m := matrix{make([]uint64, stride*len(lists)), stride}
	for a, list := range lists {
		for _, b := range list {
			m.words[a*stride+int(b)/64] |= 1 << (b % 64)
		}
	}
	return m
}

func (m matrix) has(a, b int32) bool {
	return m.words[int(a)*m.stride+int(b)/64]>>(b%64)&1 != 0
}
