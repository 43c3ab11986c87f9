package vm

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// Results belong to the caller, and their memory to Go's collector, which begins when the
// heap has doubled. Packed weights are most of the heap: with 1.2 GB of them as much of
// results would pile up that nobody reads any more, each in memory that is new to the
// system. So runs ask for a collection when it is worth it; weights make none slower, as
// there is no pointer in them.

const (
	// leastCollected is how many bytes of results are worth a collection of a small heap,
	// of a fraction of a millisecond: to bring in as much memory anew takes some.
	leastCollected = 16 << 20
	// perScanned is how many bytes of results are worth one byte that a collection has to
	// look for pointers in: it marks about as much slower than memory is brought in.
	perScanned = 4
)

// A collector asks for collections. Its zero value is ready for use by several goroutines.
type collector struct {
	made atomic.Int64 // bytes of results since the last collection that it knows of
	next atomic.Int64 // when they are as many, it looks again whether one is worth it
	busy atomic.Bool  // one that was asked for is under way

	mu     sync.Mutex // of who looks
	cycles uint64     // how many collections it knows of
}

// tell says of how many bytes the results are that a run has made.
func (c *collector) tell(bytes int64) {
	if c.made.Add(bytes) >= c.next.Load() {
		c.look()
	}
}

// look asks for a collection if it is worth it. What others tell meanwhile may be lost.
func (c *collector) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.made.Load()
	if made < c.next.Load() { // somebody else has looked
		return
	}
	c.next.Store(made + leastCollected)
	now := [...]metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/scan/heap:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(now[:])
	cycles, scanned, percent := now[0].Value.Uint64(), now[1].Value.Uint64(), now[2].Value.Uint64()
	switch {
	case cycles != c.cycles: // there was one that nobody has asked for here
		c.known(cycles)
	case percent == math.MaxUint64: // the process does without
	case uint64(made)/perScanned < scanned:
	case c.busy.CompareAndSwap(false, true):
		c.known(cycles + 1)
		go func() {
			runtime.GC()
			c.busy.Store(false)
		}()
	}
}

// known begins anew behind so many collections.
func (c *collector) known(cycles uint64) {
	c.made.Store(0)
	c.next.Store(leastCollected)
	c.cycles = cycles
}
