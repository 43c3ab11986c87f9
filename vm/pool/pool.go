package pool

import (
	"fmt"
	"math"
	"sync"

	"github.com/npulang/npu/ir/diag"
)

// Options say how a Pool takes and keeps memory. The zero value is the default.
type Options struct {
	// Align is what every block's address is a multiple of, in bytes: a power of
	// two up to 1 MiB; 0 means 64. Sizes are rounded up to multiples of it.
	Align int64
	// Limit bounds the bytes that are held from the system; 0 means no limit.
	Limit int64
	// Threshold is the largest block, in bytes, that is carved from a chunk and
	// kept for others. Larger ones come from the system one by one and go back to
	// it when they are freed. 0 means a quarter of Chunk.
	Threshold int64
	// Chunk is how many bytes are taken from the system at a time, as far as
	// Limit allows; 0 means 8 MiB.
	Chunk int64

	NoPool  bool // no chunks: each block is taken from the system by itself
	NoReuse bool // no memory is given out twice
	NoAlign bool // blocks begin at multiples of 8, whatever Align says

	// Poison fills blocks with bytes of 0xff, a NaN in every float dtype, when
	// they are given out and when they are freed. It finds readers of memory that
	// was not written.
	Poison bool
}

const (
	defaultAlign = 64      // a cache line
	maxAlign     = 1 << 20 // more than any device row asks for
	leastAlign   = 8       // of the widest element
	defaultChunk = 8 << 20 // some hundred tensors of a small model
	maxBlock     = 1 << 40 // as ir.MaxBytes; sums of sizes stay far from overflow
	poison       = 0xff
)

// A Pool is memory that is taken from the system in large pieces and given out
// in blocks.
type Pool struct {
	opts  Options
	grain int64 // what sizes and places are multiples of

	mu     sync.Mutex
	chunks []*chunk
	newest *chunk // the last one that was taken to be carved, if it is still there
	bins   bins
	spare  *span // records without memory, for later spans; linked by after
	info   Info  // all counts but FreeBytes, Fragmentation
	closed bool
}

// New makes a pool that holds nothing yet. An error is a *diag.Diagnostic of code
// wrong-arguments.
func New(opts Options) (*Pool, error) {
	if opts.Align == 0 {
		opts.Align = defaultAlign
	}
	if a := opts.Align; a < 1 || a > maxAlign || a&(a-1) != 0 {
		return nil, fault("wrong-arguments", "the alignment is %d, must be a power of two from 1 to %d", a, maxAlign)
	}
	if opts.Chunk == 0 {
		opts.Chunk = defaultChunk
	}
	if opts.Threshold == 0 {
		opts.Threshold = opts.Chunk / 4
	}
	for _, n := range []struct {
		what  string
		bytes int64
	}{{"limit", opts.Limit}, {"threshold", opts.Threshold}, {"size of chunks", opts.Chunk}} {
		if n.bytes < 0 {
			return nil, fault("wrong-arguments", "the %s is %d bytes, must not be negative", n.what, n.bytes)
		}
	}
	p := &Pool{opts: opts, grain: max(opts.Align, leastAlign)}
	if opts.NoAlign {
		p.grain = leastAlign
	}
	p.info.Limit = opts.Limit
	return p, nil
}

func fault(code, format string, args ...any) *diag.Diagnostic {
	return &diag.Diagnostic{Code: code, Subject: "memory pool", Message: fmt.Sprintf(format, args...)}
}

// A Block is memory that was given out. Copies of a Block are the same block:
// it is freed once.
type Block struct {
	Data []byte // as many bytes as were asked for; cap ends where the block does
	span *span
	use  uint64 // which use of the span this is
}

// Allocate gives out a block of size bytes, 0 or more. Its memory is not
// cleared: it may hold what blocks before it held. The error is a
// *diag.Diagnostic: of code limit where the block does not fit beside those that
// are given out, of use-after-free when the pool is closed, of wrong-arguments for
// a negative size.
func (p *Pool) Allocate(size int64) (Block, error) {
	if size < 0 {
		return Block{}, fault("wrong-arguments", "a block of %d bytes", size)
	}
	if size > min(maxBlock, math.MaxInt-maxAlign) {
		return Block{}, fault("limit", "a block of %d bytes is more than a pool gives out", size)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return Block{}, fault("use-after-free", "the pool is closed")
	}
	want := p.round(size)
	s, err := p.find(want)
	if err != nil {
		return Block{}, err
	}
	p.giveOut(s, want, size)
	b := Block{Data: s.chunk.data[s.at : s.at+size : s.at+s.size], span: s, use: s.use}
	p.poison(b.Data)
	return b, nil
}

// Free takes a block back. Nothing may use its memory afterwards. The error is a
// *diag.Diagnostic: of code use-after-free for a block that was freed already,
// of wrong-arguments for one of another pool or of none. A block may be freed when
// the pool is closed.
func (p *Pool) Free(b Block) error {
	s := b.span
	switch {
	case s == nil:
		return fault("wrong-arguments", "the block to free was never given out")
	case s.pool != p:
		return fault("wrong-arguments", "the block of %d bytes to free belongs to another pool", len(b.Data))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.use != b.use || s.state != used {
		return fault("use-after-free", "the block of %d bytes is freed twice", len(b.Data))
	}
	p.poison(s.chunk.data[s.at : s.at+s.size])
	p.takeBack(s)
	return nil
}

func (p *Pool) poison(data []byte) {
	if !p.opts.Poison || len(data) == 0 {
		return
	}
	data[0] = poison
	for n := 1; n < len(data); n *= 2 {
		copy(data[n:], data[:n])
	}
}

// round is what a block of size bytes takes. One of none takes a place too, so
// that it has an address.
func (p *Pool) round(size int64) int64 {
	return max(size+p.grain-1, p.grain) / p.grain * p.grain
}

// Trim gives all chunks and kept blocks back to the system in which nothing is
// given out.
func (p *Pool) Trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trim()
}

// Close trims the pool and lets it give out nothing more. Blocks that are given
// out stay valid until they are freed, and then go to the system. Close may be
// called twice.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.trim()
}
