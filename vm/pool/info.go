package pool

// Info says what a pool holds and has done. All sizes are bytes. At any time
//
//	Total = Pool + System = Used + Free + Lost
//
// Sizes of blocks are rounded up to multiples of the alignment. What the system
// is asked for beyond Total, at most Align for each chunk or block that is taken
// from it, so that it begins at a multiple of Align, is not counted.
type Info struct {
	Limit  int64 // the most that Total may be; 0: no limit
	Total  int64 // held from the system
	Pool   int64 // of these in chunks, from which blocks are carved
	System int64 // of these in blocks taken from the system one by one
	Used   int64 // in blocks that are given out
	Free   int64 // that can be given out without asking the system
	Lost   int64 // in freed blocks that wait for others of their chunk (NoReuse)

	Requested int64 // what the blocks given out were asked for; Used is this, rounded up
	Peak      int64 // the largest Used so far
	PeakTotal int64 // the largest Total so far

	// Fragmentation is the part of Free that the largest free block does not
	// have, 0 to below 1: 0 where Free is one block, or nothing.
	Fragmentation float64

	Blocks      int   // given out now
	Chunks      int   // held now
	Allocations int64 // blocks ever given out
	Frees       int64 // blocks ever freed
	Reuses      int64 // allocations that were given memory that a block had before
	Requests    int64 // how often the system was asked
}

// Info returns the figures of now.
func (p *Pool) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.info
	i.Free = p.free()
	if i.Free > 0 {
		i.Fragmentation = 1 - float64(p.bins.largest())/float64(i.Free)
	}
	return i
}

// FreeBytes is how many bytes can be given out without asking the system, in all;
// one block may have less (see Info.Fragmentation).
func (p *Pool) FreeBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free()
}

func (p *Pool) free() int64 { return p.info.Total - p.info.Used - p.info.Lost }
