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
			b.sums = address(&sums[at-p.b.first])
			b.all(p.bunching, width)
			b.add = 1
		}
	}
}

const (
	floatBytes = 4
	lineBytes  = 64
)

// A bunching is some places, in order, and the bunches that they go by.
type bunching struct {
	lies  []int // bytes from the first place of the block to each
	runs  []bunchRun
	count int // of bunches
}

// A bunchRun is bunches of as many places each, one behind the other.
type bunchRun struct {
	kernel        func(*bunches)
	places, count int
}

// bunchingOf parts places into bunches: of neighbours, if that takes no more steps than
// bunches of places that lie anywhere, where sums don't wait for each other.
func bunchingOf(lies []int, fast *kernels) bunching {
	b := bunching{lies: lies}
	if len(fast.places) == 0 || len(lies) == 0 {
		return b
	}
	anywhere := bunchSizes(len(lies), len(fast.places)-1)
	kernels, sizes := fast.places, anywhere
	if most := len(fast.neighbours) - 1; most > 0 {
		var near []int
		for _, n := range stretches(lies) {
			near = append(near, bunchSizes(n, most)...)
		}
		if bunchSteps(near) <= bunchSteps(anywhere) {
			kernels, sizes = fast.neighbours, near
		}
	}
	b.count = len(sizes)
	for _, n := range sizes {
		if last := len(b.runs) - 1; last >= 0 && b.runs[last].places == n {
			b.runs[last].count++
			continue
		}
		b.runs = append(b.runs, bunchRun{kernels[n], n, 1})
	}
	return b
}

// bunches is about how many bunches rows of places have.
func (k *kernels) bunches(rows, cols int) int {
	most := len(k.places) - 1
	count := (rows*cols + most - 1) / most
	if near := len(k.neighbours) - 1; near > 0 {
		count = min(count, rows*((cols+near-1)/near))
	}
	return count
}

// stretches are how many of the places are neighbours, one stretch after the other.
func stretches(lies []int) (list []int) {
	for i, at := range lies {
		if i == 0 || at != lies[i-1]+floatBytes {
			list = append(list, 0)
		}
		list[len(list)-1]++
	}
	return list
}

// bunchSizes are those of the bunches of n places, of so many at most. They differ by one
// place at most, so that none is much smaller than the rest.
func bunchSizes(n, most int) []int {
	count := (n + most - 1) / most
	sizes := make([]int, count)
	for i := range sizes {
		if sizes[i] = n / count; i < n%count {
			sizes[i]++
		}
	}
	return sizes
}

// bunchSteps is what bunches take for each k, in places.
func bunchSteps(sizes []int) (steps int) {
	for _, n := range sizes {
		steps += max(n, fewest)
	}
	return steps
}

// all goes through the places with kernels for width filters. All bunches together ask for
// the filters of as many steps, which follow in memory and are next.
func (b *bunches) all(of *bunching, width int) {
	b.lies = address(&of.lies[0])
	b.next = b.filters + uintptr(b.k*width*floatBytes)
	b.hop = (4*width*floatBytes + of.count - 1) / of.count
	for i := range of.runs {
		b.some(&of.runs[i])
	}
}

// some goes through the bunches of a run, not too many at a time: the garbage collector
// waits meanwhile.
func (b *bunches) some(r *bunchRun) {
	const atOnce = 1 << 18 // steps of k of a place: some hundred microseconds
	n := r.count
	for each := max(1, atOnce/(b.k*r.places)); n > 0; n -= each {
		b.count = min(n, each)
		r.kernel(b)
	}
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
