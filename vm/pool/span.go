package pool

// find gives a free span of at least want bytes, if need be from the system.
func (p *Pool) find(want int64) (*span, error) {
	if s := p.take(want); s != nil {
		return s, nil
	}
	c, err := p.grow(want)
	if err == nil {
		return c.first, nil
	}
	if s := p.bins.any(want, p.grain); s != nil {
		return s, nil
	}
	return nil, err
}

// take finds a span that is free already. One that was taken for a single block
// is given out as a whole only.
func (p *Pool) take(want int64) *span {
	switch {
	case p.opts.NoPool:
		return p.bins.exact(want, p.grain)
	case want <= p.opts.Threshold:
		return p.bins.best(want, p.grain)
	}
	return nil
}

// giveOut makes a block of a free span; what is left of it stays free.
func (p *Pool) giveOut(s *span, want, asked int64) {
	p.bins.remove(s, p.grain)
	c := s.chunk
	if rest := s.size - want; rest > 0 {
		r := p.newSpan(c, s.at+want, rest)
		r.prev, r.next = s, s.next
		if s.next != nil {
			s.next.prev = r
		}
		s.next, s.size = r, want
		p.keep(r)
	}
	s.state, s.asked = used, asked
	s.use++
	c.blocks++
	i := &p.info
	if s.at < c.high {
		i.Reuses++
	}
	c.high = max(c.high, s.at+s.size)
	i.Allocations++
	i.Blocks++
	i.Requested += asked
	i.Used += want
	i.Peak = max(i.Peak, i.Used)
}

// takeBack ends a block: its memory is kept, joined with what is free beside it,
// or given back to the system.
func (p *Pool) takeBack(s *span) {
	c := s.chunk
	c.blocks--
	i := &p.info
	i.Frees++
	i.Blocks--
	i.Used -= s.size
	i.Requested -= s.asked
	if p.opts.NoReuse {
		i.Lost += s.size
		s.state = lost
	} else {
		p.keep(p.join(s))
	}
	if c.blocks == 0 && !p.keeps(c) {
		p.release(c)
	}
}

// keeps reports whether a chunk in which nothing is given out stays. Where memory
// is not given out twice it is the one that was taken last, for what it has left.
func (p *Pool) keeps(c *chunk) bool {
	switch {
	case p.closed:
		return false
	case p.opts.NoReuse:
		return c == p.newest
	}
	return !c.single || int64(len(c.data)) <= p.opts.Threshold
}

// keep makes a span free.
func (p *Pool) keep(s *span) {
	s.state = ready
	p.bins.add(s, p.grain)
}

// join takes free neighbours into a span.
func (p *Pool) join(s *span) *span {
	if n := s.next; n != nil && n.state == ready {
		p.bins.remove(n, p.grain)
		p.swallow(s, n)
	}
	if b := s.prev; b != nil && b.state == ready {
		p.bins.remove(b, p.grain)
		p.swallow(b, s)
		return b
	}
	return s
}

// swallow makes one span of s and the one behind it.
func (p *Pool) swallow(s, next *span) {
	s.size += next.size
	s.next = next.next
	if s.next != nil {
		s.next.prev = s
	}
	p.dropSpan(next)
}
