package place

import "slices"

// A span is a range of offsets, without its end.
type span struct{ from, to int64 }

// Spans are ranges that ascend and do not touch.
type spans []span

// add joins a range with those that it meets or touches.
func (s *spans) add(r span) {
	list := *s
	first := list.above(r.from - 1)
	last := first
	for ; last < len(list) && list[last].from <= r.to; last++ {
		r.from, r.to = min(r.from, list[last].from), max(r.to, list[last].to)
	}
	if last == first {
		list = append(list, span{})
		copy(list[first+1:], list[first:])
	} else {
		list = append(list[:first+1], list[last:]...)
	}
	list[first] = r
	*s = list
}

// above is the first span that ends above an offset.
func (s spans) above(at int64) int {
	lo, hi := 0, len(s)
	for lo < hi {
		if m := int(uint(lo+hi) / 2); s[m].to > at {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo
}

// A cursor goes through spans upwards.
type cursor struct {
	rest  spans // those that end above what has been asked for
	fresh bool  // nothing has been asked for
}

// gap is the lowest offset, at least at, from which size bytes are free, and how
// many spans it has passed. What a cursor is asked for rises.
func (c *cursor) gap(at, size int64) (_ int64, passed int) {
	if c.fresh {
		c.fresh = false
		c.rest = c.rest[c.rest.above(at):]
	}
	i := 0
	for ; i < len(c.rest) && c.rest[i].from < at+size; i++ {
		at = max(at, c.rest[i].to)
	}
	c.rest = c.rest[i:]
	return at, i
}

// A timeline knows which offsets are taken when. It is a tree over the sections:
// node n has the children 2n and 2n+1, the leaves are the sections. What is taken
// for a range of time is noted in the few nodes that the range is made of; in the
// long run a node's ranges grow together, so that there is little to look at.
type timeline struct {
	leaves int32
	whole  []spans  // by node: taken for all of the node's time
	some   []spans  // taken somewhere in it
	work   int64    // how often it has looked at a node or passed a span
	seen   []cursor // what the query at hand has to avoid
}

func newTimeline(sections int) *timeline {
	n := int32(1)
	for int(n) < sections {
		n *= 2
	}
	return &timeline{leaves: n, whole: make([]spans, 2*n), some: make([]spans, 2*n)}
}

// nodes lists the nodes that sections lo up to hi are made of.
func (t *timeline) nodes(lo, hi int32, list []int32) []int32 {
	for l, h := lo+t.leaves, hi+t.leaves; l < h; l, h = l/2, h/2 {
		if l&1 == 1 {
			list = append(list, l)
			l++
		}
		if h&1 == 1 {
			h--
			list = append(list, h)
		}
	}
	return list
}

// above calls f with the nodes above those of a range, each once: what lies above
// the first and the last section.
func (t *timeline) above(lo, hi int32, f func(n int32)) {
	l, h := (lo+t.leaves)/2, (hi-1+t.leaves)/2
	for ; l != h; l, h = l/2, h/2 {
		f(l)
		f(h)
	}
	for ; l > 0; l /= 2 {
		f(l)
	}
}

// take notes a range of offsets for sections lo up to hi.
func (t *timeline) take(lo, hi int32, r span) {
	var buffer [64]int32
	for _, n := range t.nodes(lo, hi, buffer[:0]) {
		t.whole[n].add(r)
		t.some[n].add(r)
	}
	t.above(lo, hi, func(n int32) { t.some[n].add(r) })
}

// gap is the lowest offset from which size bytes are free in all of the sections
// lo up to hi.
func (t *timeline) gap(lo, hi int32, size int64) int64 {
	var buffer [64]int32
	t.seen = t.seen[:0]
	see := func(s spans) {
		if len(s) > 0 {
			t.seen = append(t.seen, cursor{s, true})
		}
	}
	// The nodes of the longest times come first: they have the fewest gaps, and
	// lead over most of what the others would have to be asked for.
	for _, n := range slices.Backward(t.nodes(lo, hi, buffer[:0])) {
		see(t.some[n])
	}
	t.above(lo, hi, func(n int32) { see(t.whole[n]) })
	at := int64(0)
	for quiet := 0; quiet < len(t.seen); {
		for i := range t.seen {
			next, passed := t.seen[i].gap(at, size)
			t.work += int64(passed) + 1
			if quiet++; next > at {
				at, quiet = next, 1
			}
		}
	}
	return at
}
