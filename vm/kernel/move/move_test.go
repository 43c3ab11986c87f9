package move_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/move"
)

// each calls yield with the index of every element of a shape.
func each(shape []int, yield func(index []int)) {
	index := make([]int, len(shape))
	if slices.Contains(shape, 0) {
		return
	}
	for {
		yield(index)
		a := len(shape) - 1
		for ; a >= 0; a-- {
			if index[a]++; index[a] < shape[a] {
				break
			}
			index[a] = 0
		}
		if a < 0 {
			return
		}
	}
}

// place is where an element of a block lies.
func place(b move.Block, index []int) int {
	p := b.Offset
	for a, i := range index {
		p += i * b.Strides[a]
	}
	return p
}

// slow is what a copy is held against.
func slow(dst, src []byte, size int, to, from move.Block) {
	each(to.Shape, func(index []int) {
		d, s := place(to, index)*size, place(from, index)*size
		copy(dst[d:d+size], src[s:s+size])
	})
}

// permuted is a block with its axes in another order.
func permuted(b move.Block, perm []int) move.Block {
	p := move.Block{Offset: b.Offset}
	for _, a := range perm {
		p.Shape = append(p.Shape, b.Shape[a])
		p.Strides = append(p.Strides, b.Strides[a])
	}
	return p
}

// A pair is a copy for a test: what lies where in tensors of so many elements.
type pair struct {
	to, from         move.Block
	toSize, fromSize int
}

// random makes a pair of rank up to 6: a part of the destination in some order of
// its axes, and a part of the source, forward or backward, in steps or broadcast.
func random(r *rand.Rand, most int) pair {
	rank := r.IntN(7)
	sizes := []int{0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40}
	shape := make([]int, rank)
	total := 1
	for a := range shape {
		shape[a] = sizes[r.IntN(len(sizes))]
		if r.IntN(4) > 0 {
			shape[a] = max(shape[a], 1)
		}
		if total*max(shape[a], 1) > most {
			shape[a] = 1
		}
		total *= max(shape[a], 1)
	}
	p := pair{}
	p.to, p.toSize = part(r, shape, false)
	p.from, p.fromSize = part(r, shape, true)
	return p
}

// part places a block of a shape in a larger tensor with axes in any order.
func part(r *rand.Rand, shape []int, repeats bool) (move.Block, int) {
	perm := r.Perm(len(shape))
	if r.IntN(3) == 0 {
		slices.Sort(perm)
	}
	b := move.Block{Shape: shape, Strides: make([]int, len(shape))}
	n := 1
	for _, a := range perm {
		step, before, behind := 1, 0, 0
		switch r.IntN(8) {
		case 0:
			step = 2 + r.IntN(2)
		case 1:
			before, behind = r.IntN(3), r.IntN(3)
		}
		b.Strides[a] = n * step
		b.Offset += before * n
		if shape[a] > 0 {
			if r.IntN(8) == 0 {
				b.Offset += (shape[a] - 1) * b.Strides[a]
				b.Strides[a] = -b.Strides[a]
			}
		}
		if repeats && r.IntN(8) == 0 {
			b.Strides[a] = 0
		}
		n *= before + behind + step*max(shape[a], 1)
	}
	return b, n
}

var guard = bytes.Repeat([]byte{0x5c}, 64)

// guarded is room for n bytes, with others before and behind; odd moves it off
// its alignment by so many bytes.
func guarded(n, odd int) (room, all []byte) {
	all = bytes.Repeat(guard, 3+n/64)
	return all[64+odd : 64+odd+n : 64+odd+n], all
}

func fill(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// check runs a copy in parts, last one first, and compares all bytes.
func check(t *testing.T, r *rand.Rand, level isa.Level, size int, p pair) {
	t.Helper()
	odd := r.IntN(3) * size
	src, _ := guarded(p.fromSize*size, odd)
	fill(r, src)
	got, gotAll := guarded(p.toSize*size, odd)
	want, wantAll := guarded(p.toSize*size, odd)
	slow(want, src, size, p.to, p.from)
	c := move.NewCopy(level, size, p.to, p.from)
	parts := 1 + r.IntN(5)
	for part := parts - 1; part >= 0; part-- {
		c.Run(got, src, make([]byte, c.Room()), part, parts)
	}
	if !bytes.Equal(gotAll, wantAll) {
		t.Fatalf("%v, %d bytes an element, %s, %d parts:\nto   %+v\nfrom %+v", level, size, c.Kind(), parts, p.to, p.from)
	}
}

var elementSizes = []int{1, 2, 4, 8, 16}

// TestCopy compares random copies of all sizes of elements with a loop over all
// elements.
func TestCopy(t *testing.T) {
	for _, level := range isa.Levels() {
		r := rand.New(rand.NewPCG(1, uint64(level)))
		for range 4000 {
			p := random(r, 3000)
			check(t, r, level, elementSizes[r.IntN(5)], p)
		}
	}
}

// TestLargeCopies does small copies as large ones are done: by pieces, around the caches.
func TestLargeCopies(t *testing.T) {
	for _, bytes := range []int{1, 500} {
		restore := move.Small(bytes)
		TestCopy(t)
		TestTranspose(t)
		restore()
	}
	defer move.Small(1)()
	TestLarge(t)
}

// TestKinds sees to it that random copies go through every loop.
func TestKinds(t *testing.T) {
	r, seen := rand.New(rand.NewPCG(2, 2)), map[string]int{}
	for range 4000 {
		p := random(r, 3000)
		seen[move.NewCopy(isa.Best(), 4, p.to, p.from).Kind()]++
	}
	for _, kind := range []string{"nothing", "runs", "fill", "transpose", "reverse", "spread", "steps"} {
		if seen[kind] < 10 {
			t.Errorf("%d of 4000 random copies are of kind %s", seen[kind], kind)
		}
	}
}

// TestTranspose goes through all remainders of the tiles, in parts and with rows
// that lie apart.
func TestTranspose(t *testing.T) {
	for _, level := range isa.Levels() {
		r := rand.New(rand.NewPCG(3, uint64(level)))
		for _, size := range elementSizes {
			for rows := 1; rows < 50; rows += 1 + r.IntN(2) {
				for cols := 1; cols < 50; cols += 1 + r.IntN(3) {
					to, from := move.Dense([]int{rows, cols}), move.Dense([]int{cols, rows})
					to.Strides[0] += r.IntN(3)
					from.Strides[0] += r.IntN(3)
					check(t, r, level, size, pair{to, permuted(from, []int{1, 0}), rows * to.Strides[0], cols * from.Strides[0]})
				}
			}
		}
	}
}

// TestLarge has copies of many chunks, whose parts run at the same time.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, level := range isa.Levels() {
		for _, c := range []struct{ shape, perm []int }{
			{[]int{700, 301}, []int{1, 0}},
			{[]int{3, 40000}, []int{1, 0}},
			{[]int{40000, 3}, []int{1, 0}},
			{[]int{12, 60, 300}, []int{1, 0, 2}},
			{[]int{60, 12, 7, 40}, []int{3, 1, 0, 2}},
			{[]int{300000}, []int{0}},
			{[]int{2, 150000}, []int{0, 1}},
			{[]int{300, 2048}, []int{1, 0}}, // rows that share places of the cache
			{[]int{310, 512}, []int{1, 0}},
		} {
			for _, size := range elementSizes {
				from := permuted(move.Dense(c.shape), c.perm)
				p := pair{to: move.Dense(from.Shape), from: from}
				src, want, got := make([]byte, from.Len()*size), make([]byte, from.Len()*size), make([]byte, from.Len()*size)
				fill(r, src)
				slow(want, src, size, p.to, p.from)
				plan := move.NewCopy(level, size, p.to, p.from)
				var group sync.WaitGroup
				for part := range 7 {
					group.Go(func() { plan.Run(got, src, make([]byte, plan.Room()), part, 7) })
				}
				group.Wait()
				if !bytes.Equal(got, want) {
					t.Errorf("%v: %v of %v, %d bytes an element", level, c.perm, c.shape, size)
				}
			}
		}
	}
}

// TestRowEnds has long rows of one element whose last chunk has a few elements, for a part
// of its own: nothing is written behind them.
func TestRowEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, level := range isa.Levels() {
		for _, size := range elementSizes {
			for _, more := range []int{1, 3, 11, 16} {
				n := 32<<10/size + more
				for range 2 {
					check(t, r, level, size, pair{move.Dense([]int{n}), move.Block{Shape: []int{n}, Strides: []int{0}}, n, 1})
				}
			}
		}
	}
}

// TestOf composes random blocks with those of reshaped and permuted tensors, and
// looks at each element.
func TestOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	held, refused := 0, 0
	for range 20000 {
		base := random(r, 200).from
		n := base.Len()
		block, size := part(r, random(r, 200).to.Shape, true)
		if r.IntN(2) == 0 { // another shape, which fits
			block, size = move.Dense(reshaped(r, n)), n
		}
		if size > n {
			continue
		}
		got, ok := block.Of(base)
		if !ok {
			refused++
			continue
		}
		held++
		if block.Len() != got.Len() {
			t.Fatalf("%+v of %+v has %d elements", block, base, got.Len())
		}
		var places []int
		each(base.Shape, func(index []int) { places = append(places, place(base, index)) })
		var want []int
		each(block.Shape, func(index []int) { want = append(want, places[place(block, index)]) })
		i := 0
		each(got.Shape, func(index []int) {
			if p := place(got, index); p != want[i] {
				t.Fatalf("%+v of %+v is %+v: element %d lies at %d, not %d", block, base, got, i, p, want[i])
			}
			i++
		})
	}
	if held < 1000 || refused < 1000 {
		t.Errorf("%d held, %d refused", held, refused)
	}
}

// reshaped draws a shape of n elements.
func reshaped(r *rand.Rand, n int) []int {
	var shape []int
	for n > 1 && r.IntN(6) > 0 {
		d := 1 + r.IntN(min(n, 12))
		if n%d == 0 {
			shape = append(shape, d)
			n /= d
		}
	}
	return append(shape, n)
}

// TestSteady holds copies to making no memory.
func TestSteady(t *testing.T) {
	from := permuted(move.Dense([]int{5, 6, 40, 30, 3}), []int{2, 0, 4, 1, 3})
	c := move.NewCopy(isa.Best(), 4, move.Dense(from.Shape), from)
	dst, src, room := make([]byte, 4*from.Len()), make([]byte, 4*from.Len()), make([]byte, c.Room())
	if n := testing.AllocsPerRun(10, func() { c.Run(dst, src, room, 0, 1) }); n > 0 {
		t.Errorf("%v pieces of memory each time", n)
	}
}

// TestShort refuses tensors that are shorter than their blocks.
func TestShort(t *testing.T) {
	c := move.NewCopy(isa.Best(), 4, move.Dense([]int{3}), move.Dense([]int{3}))
	for _, n := range [][2]int{{11, 12}, {12, 11}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v bytes are taken for three elements", n)
				}
			}()
			c.Run(make([]byte, n[0]), make([]byte, n[1]), make([]byte, c.Room()), 0, 1)
		}()
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, c := range []struct {
		shape, perm []int
		size        int
	}{
		{[]int{1 << 20}, []int{0}, 4},
		{[]int{1024, 1024}, []int{1, 0}, 4},
		{[]int{1000, 1003}, []int{1, 0}, 4},
		{[]int{4096, 4096}, []int{1, 0}, 4},
		{[]int{128, 128}, []int{1, 0}, 4},
		{[]int{2048, 2048}, []int{1, 0}, 1},
		{[]int{1024, 2048}, []int{1, 0}, 2},
		{[]int{1024, 1024}, []int{1, 0}, 8},
		{[]int{1024, 1024}, []int{1, 0}, 16},
		{[]int{512, 16, 64}, []int{1, 0, 2}, 4},
		{[]int{512, 16, 64}, []int{1, 2, 0}, 4},
		{[]int{3, 224 * 224}, []int{1, 0}, 4},
		{[]int{224 * 224, 3}, []int{1, 0}, 4},
		{[]int{3, 224 * 224}, []int{1, 0}, 1},
		{[]int{224 * 224, 3}, []int{1, 0}, 1},
		{[]int{64, 112 * 112}, []int{1, 0}, 4},
		{[]int{112 * 112, 64}, []int{1, 0}, 4},
	} {
		b.Run(fmt.Sprintf("%v%v/%d", c.shape, c.perm, c.size), func(b *testing.B) {
			from := permuted(move.Dense(c.shape), c.perm)
			bench(b, c.size, move.Dense(from.Shape), from)
		})
	}
}

func bench(b *testing.B, size int, to, from move.Block) {
	dst, src := make([]byte, size*to.Len()), make([]byte, size*to.Len())
	c := move.NewCopy(isa.Best(), size, to, from)
	room := make([]byte, c.Room())
	benchTurns(b, 2*len(dst), func() { c.Run(dst, src, room, 0, 1) }, func() { copy(dst, src) })
}
