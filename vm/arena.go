package vm

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/pool"
)

// An arena is the memory of one run. Any arena that is large enough serves any
// machine, so that a program that is run for many sizes keeps few.
type arena struct {
	data  []byte
	block pool.Block
	last  *frame // whose tensors show it; nil: nobody's
}

// What a memory takes arenas from. Those of small programs are carved from
// chunks that are not much larger than they; the others are taken one by one, and
// go back when they are dropped.
var arenaPool = pool.Options{Chunk: 256 << 10, Threshold: 64 << 10}

// blocks is the pool of a memory.
func (y *Memory) blocks() *pool.Pool {
	y.pool.Do(func() {
		p, err := pool.New(arenaPool)
		if err != nil {
			panic(err) // the options are ours
		}
		y.arenas = p
	})
	return y.arenas
}

// newArena makes an arena. The memory's own account has allowed it.
func (y *Memory) newArena(size int64) (*arena, error) {
	if y.Fresh {
		return &arena{data: tensor.AlignedBytes(int(size))}, nil
	}
	b, err := y.blocks().Allocate(size)
	if err != nil {
		return nil, err
	}
	return &arena{data: b.Data, block: b}, nil
}

// free gives an arena back that nobody will use again.
func (y *Memory) free(a *arena) {
	a.orphan()
	if y.Fresh {
		return
	}
	if err := y.blocks().Free(a.block); err != nil {
		panic(err) // it was given out once, and is freed once
	}
}

func (a *arena) size() int64 { return int64(len(a.data)) }

// orphan takes the arena off the frame that shows it: a frame that waits for its
// next run must not hold memory that it has not.
func (a *arena) orphan() {
	if a.last != nil && a.last.arena == a {
		a.last.use(nil)
	}
	a.last = nil
}

// A MemoryInfo is what a Memory holds at one moment. All sizes are bytes.
type MemoryInfo struct {
	Limit   int64 // the most that Used and Kept may be together
	Used    int64 // of the runs under way: arenas, outputs that they make, copies, scratch memory
	Kept    int64 // of arenas that wait for a run
	Peak    int64 // the largest sum of Used and Kept so far
	Running int   // runs under way
	Waiting int   // runs that wait for memory or their turn
	// Arenas has the figures of the pool that arenas come from; arenas that are
	// kept count as used there.
	Arenas pool.Info
}

// Info tells what the memory holds now.
func (y *Memory) Info() MemoryInfo {
	y.mu.Lock()
	defer y.mu.Unlock()
	return MemoryInfo{
		Limit: y.limit(), Used: y.used, Kept: y.kept, Peak: y.peak,
		Running: y.running, Waiting: len(y.queue),
		Arenas: y.blocks().Info(),
	}
}
