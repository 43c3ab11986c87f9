package pool

import (
	"unsafe"

	"github.com/npulang/npu/vm/pages"
)

// A chunk is memory of the system. Its spans cover it without gaps, and no two
// neighbours are both free.
type chunk struct {
	data   []byte
	first  *span
	blocks int   // spans that are given out
	high   int64 // nothing from here on was ever given out
	single bool  // taken for one block
	index  int   // in Pool.chunks
}

// A state is what a span is.
type state uint8

const (
	idle  state = iota // a record without memory
	ready              // free; in a bin
	used               // given out
	lost               // freed, but may not be given out again
)

// A span is a piece of a chunk.
type span struct {
	pool     *Pool
	chunk    *chunk
	at, size int64 // in chunk.data
	asked    int64 // by whom it is given out to
	state    state
	use      uint64 // counts how often the record was given out

	prev, next    *span // neighbours in the chunk
	before, after *span // in the bin
}

// newSpan takes a record that was used before, if there is one, so that splitting
// a span allocates nothing in the long run.
func (p *Pool) newSpan(c *chunk, at, size int64) *span {
	s := p.spare
	if s == nil {
		s = &span{pool: p}
	} else {
		p.spare = s.after
	}
	s.chunk, s.at, s.size, s.after = c, at, size, nil
	return s
}

func (p *Pool) dropSpan(s *span) {
	s.chunk, s.prev, s.next, s.before = nil, nil, nil, nil
	s.state, s.after = idle, p.spare
	p.spare = s
}

// grow takes memory from the system in which want bytes are free.
func (p *Pool) grow(want int64) (*chunk, error) {
	single := p.opts.NoPool || want > p.opts.Threshold
	size := want
	if !single {
		size = max(want, p.opts.Chunk/p.grain*p.grain)
	}
	if limit := p.opts.Limit; limit > 0 {
		if p.info.Total+size > limit {
			p.trim()
		}
		size = min(size, (limit-p.info.Total)/p.grain*p.grain)
		if size < want {
			return nil, p.full(want)
		}
	}
	c := &chunk{data: alignedBytes(size, p.grain), single: single, index: len(p.chunks)}
	c.first = p.newSpan(c, 0, size)
	p.chunks = append(p.chunks, c)
	p.count(c, 1)
	if old := p.newest; !single {
		p.newest = c
		if old != nil && old.blocks == 0 && !p.keeps(old) {
			p.release(old)
		}
	}
	p.info.Requests++
	p.info.PeakTotal = max(p.info.PeakTotal, p.info.Total)
	p.keep(c.first)
	return c, nil
}

// count adds a chunk to the figures (sign 1), or takes it off (-1).
func (p *Pool) count(c *chunk, sign int64) {
	size := sign * int64(len(c.data))
	p.info.Total += size
	if c.single {
		p.info.System += size
		return
	}
	p.info.Pool += size
	p.info.Chunks += int(sign)
}

func (p *Pool) full(want int64) error {
	d := fault("limit", "a block of %d bytes does not fit: the limit is %d bytes, and %d are given out", want, p.opts.Limit, p.info.Used)
	if p.info.Used+want <= p.opts.Limit {
		d.Message += "; the rest lies in pieces between them"
	}
	d.Helps = []string{"free blocks that are no longer needed, or allow more"}
	return d
}

// alignedBytes makes n zero bytes that begin at a multiple of align. Most of what
// Go's heap gives does so by itself.
func alignedBytes(n, align int64) []byte {
	b := make([]byte, n)
	if offset(b, align) != 0 {
		b = make([]byte, n+align)
		off := offset(b, align)
		b = b[off : off+n : off+n]
	}
	pages.Large(b)
	return b
}

// offset is how far b is from the next multiple of align.
func offset(b []byte, align int64) int64 {
	return int64(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1))
}

// trim gives back the chunks in which nothing is given out.
func (p *Pool) trim() {
	for i := len(p.chunks) - 1; i >= 0; i-- {
		if c := p.chunks[i]; c.blocks == 0 {
			p.release(c)
		}
	}
}

// release gives a chunk back to the system.
func (p *Pool) release(c *chunk) {
	for s := c.first; s != nil; {
		next := s.next
		switch s.state {
		case ready:
			p.bins.remove(s, p.grain)
		case lost:
			p.info.Lost -= s.size
		}
		p.dropSpan(s)
		s = next
	}
	if c == p.newest {
		p.newest = nil
	}
	last := p.chunks[len(p.chunks)-1]
	p.chunks[c.index], last.index = last, c.index
	p.chunks[len(p.chunks)-1] = nil
	p.chunks = p.chunks[:len(p.chunks)-1]
	p.count(c, -1)
}
