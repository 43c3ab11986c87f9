package conv

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// Bunches are a few places each, whose sums with a panel of filters are in registers at
// a time. What the places see is read where it lies. It is the argument of a kernel,
// which goes through all bunches. Distances are in bytes; the generator of the kernels
// knows the offsets of the fields.
//
// Places in memory are numbers, not pointers, since what is asked for ahead may lie
// behind what there is; the pass keeps the memory alive.
type bunches struct {
	src     uintptr // what the first place of the block sees
	lies    uintptr // a list: from src to each place; it goes on
	offsets uintptr // by k: from a place to what it sees
	filters uintptr // a panel
	sums    uintptr // of one place after another; it goes on
	ld      int     // from one place's sums to the next
	k       int
	add     int     // 0: begin with zero; 1: with the sums
	next    uintptr // what is asked for, into the second cache, ahead of its use; it goes on
	hop     int     // how many bytes that goes on every four k
	count   int     // bunches; it goes down to 0
}

// fewest is the number of places from which bunches hide the latency of products.
const fewest = 4

// bunchDepth is k of a panel at most, where places go by bunches: 72 KB of filters for
// sixteen, which pass through the first-level cache.
const bunchDepth = 1152

// bunched reports whether so many places of a turned product go by bunches.
func (d *Dense) bunched(places int) bool {
	return d.turned && d.fast.places != nil && places >= fewest
}

// inBunches goes through the panels of filters, and in each through k in steps of some
// depth, for all places.
func (p *pass) inBunches(sums []float32) {
	width, ld := gemm.Width(p.level), p.turnedLd()
	packed := p.packed[p.b.group*p.packedGroup():][:p.packedGroup()]
	panels := gemm.PackedPanels(p.level, packed, p.depth)
	b := &p.w.bunches
	*b = bunches{src: address(p.src), ld: ld * floatBytes}
	for at := p.b.first; at < p.b.last; at += width {
		b.add = 0
		for k := 0; k < p.depth; k += p.deep {
			b.k = min(p.deep, p.depth-k)
			b.filters, b.offsets = address(&panels.From(at/width, k).Data[0]), address(&p.offsets[k])
			b.sums, b.lies = address(&sums[at-p.b.first]), address(&p.lies[0])
			b.all(p.fast, len(p.lies), width)
			b.add = 1
		}
	}
}

const (
	floatBytes = 4
	lineBytes  = 64
)

// all goes through n places with kernels for width filters. Bunches differ by one place at
// most, so that none is much smaller than the rest. All of them together ask for the
// filters of as many steps, which follow in memory and are next.
func (b *bunches) all(fast *kernels, n, width int) {
	most := len(fast.places) - 1
	count := (n + most - 1) / most
	low, high := n/count, n%count
	b.next = b.filters + uintptr(b.k*width*floatBytes)
	b.hop = (4*width*floatBytes + count - 1) / count
	b.some(fast, low+1, high)
	b.some(fast, low, count-high)
}

// some goes through n bunches of so many places, not too many at a time: the garbage
// collector waits meanwhile.
func (b *bunches) some(fast *kernels, places, n int) {
	const atOnce = 1 << 18 // steps of k of a place: some hundred microseconds
	for each := max(1, atOnce/(b.k*places)); n > 0; n -= each {
		b.count = min(n, each)
		fast.places[places](b)
	}
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
