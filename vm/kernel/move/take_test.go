package move_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/move"
)

// blockSizes are those with a loop of their own and others.
var blockSizes = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65}

func indicesBelow(r *rand.Rand, n, below int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = r.Int64N(int64(below))
	}
	return list
}

func TestTakeAndPut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range blockSizes {
		for _, n := range []int{0, 1, 5, 100} {
			const blocks = 30
			index := indicesBelow(r, n, blocks)
			many, _ := guarded(blocks*size, size)
			few, _ := guarded(n*size, size)
			fill(r, many)
			fill(r, few)

			got, gotAll := guarded(n*size, size)
			want, wantAll := guarded(n*size, size)
			move.Take(got, many, size, index)
			for i, at := range index {
				copy(want[i*size:(i+1)*size], many[int(at)*size:])
			}
			if !bytes.Equal(gotAll, wantAll) {
				t.Errorf("Take of %d blocks of %d bytes", n, size)
			}

			got, gotAll = guarded(blocks*size, size)
			want, wantAll = guarded(blocks*size, size)
			move.Put(got, few, size, index)
			for i, at := range index {
				copy(want[int(at)*size:(int(at)+1)*size], few[i*size:])
			}
			if !bytes.Equal(gotAll, wantAll) {
				t.Errorf("Put of %d blocks of %d bytes", n, size)
			}
		}
	}
}

func TestSet(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, size := range elementSizes {
		for _, n := range []int{0, 1, 50} {
			const blocks = 30
			index, pattern := indicesBelow(r, n, blocks), make([]byte, size)
			fill(r, pattern)
			got, gotAll := guarded(blocks*size, size)
			want, wantAll := guarded(blocks*size, size)
			move.Set(got, pattern, index)
			for _, at := range index {
				copy(want[int(at)*size:], pattern)
			}
			if !bytes.Equal(gotAll, wantAll) {
				t.Errorf("%d blocks of %d bytes", n, size)
			}
		}
	}
}

func TestPick(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, size := range []int{1, 2, 4, 8} {
		for _, step := range []int{1, 3} {
			const n, lines = 20, 50
			index := indicesBelow(r, n, lines)
			src := make([]byte, lines*step*size)
			fill(r, src)
			last := ((n-1)*step + 1) * size
			got, gotAll := guarded(last, size)
			want, wantAll := guarded(last, size)
			move.Pick(got, src, size, step, index)
			for i, at := range index {
				copy(want[i*step*size:][:size], src[int(at)*step*size:])
			}
			if !bytes.Equal(gotAll, wantAll) {
				t.Errorf("elements of %d bytes, %d apart", size, step)
			}
		}
	}
}

func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, size := range elementSizes {
		for _, n := range []int{0, 1, 2, 7, 300, 5000} {
			for _, zero := range []bool{false, true} {
				pattern := make([]byte, size)
				if !zero {
					fill(r, pattern)
				}
				got, gotAll := guarded(n*size, size)
				want, wantAll := guarded(n*size, size)
				move.Fill(got, pattern)
				copy(want, bytes.Repeat(pattern, n))
				if !bytes.Equal(gotAll, wantAll) {
					t.Errorf("%d times %d bytes, zero %v", n, size, zero)
				}
			}
		}
	}
}

// TestList shares copies of very different sizes among parts: each item is of one
// part, and parts have about the same number of bytes.
func TestList(t *testing.T) {
	var l move.List
	for _, n := range []int{100_000, 0, 3, 500_000, 1, 40_000} {
		l.Add(move.NewCopy(isa.Best(), 4, move.Dense([]int{n}), move.Dense([]int{n})))
	}
	if l.Len() != 5 || l.Bytes() != 4*640_004 {
		t.Fatalf("%d copies of %d bytes", l.Len(), l.Bytes())
	}
	if n := l.Parts(1000); n < 20 || n > 1000 {
		t.Errorf("at most %d parts", n)
	}
	for _, parts := range []int{1, 2, 3, 7} {
		bytesOf := make([]int, parts)
		for i := range l.Len() {
			next := 0
			for part := range parts {
				c, first, end := l.Share(i, part, parts, 0, 1)
				if first > end || first < next {
					t.Fatalf("part %d of %d begins copy %d at item %d, the one before ends at %d", part, parts, i, first, next)
				}
				if first < end && first != next {
					t.Fatalf("items %d to %d of copy %d are of no part", next, first, i)
				}
				if next = max(next, end); first < end {
					bytesOf[part] += c.Bytes() * (end - first) / c.Count()
				}
			}
			if c, _, _ := l.Share(i, 0, 1, 0, 1); next != c.Count() {
				t.Errorf("%d of the %d items of copy %d are of some part", next, c.Count(), i)
			}
		}
		for part, n := range bytesOf {
			if share := l.Bytes() / parts; n < share*3/4 || n > share*5/4 {
				t.Errorf("part %d of %d has %d of %d bytes", part, parts, n, l.Bytes())
			}
		}
	}
}

// TestTurns joins large columns, which take turns, in some parts.
func TestTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const rows, size = 70_001, 4
	widths := []int{4, 1, 3}
	var l move.List
	var sources [][]byte
	want, all := make([]byte, rows*8*size), move.Dense([]int{rows, 8})
	for at, i := 0, 0; i < len(widths); at, i = at+widths[i], i+1 {
		to, from := all.Part(1, at, widths[i]), move.Dense([]int{rows, widths[i]})
		src := make([]byte, rows*widths[i]*size)
		fill(r, src)
		slow(want, src, size, to, from)
		l.Add(move.NewCopy(isa.Best(), size, to, from))
		sources = append(sources, src)
	}
	for parts := range 5 {
		parts++
		turns, got := l.Turns(parts), make([]byte, len(want))
		if parts <= 2 && turns < 2 {
			t.Errorf("%d parts have one turn", parts)
		}
		for part := range parts {
			for turn := range turns {
				for i, src := range sources {
					c, first, end := l.Share(i, part, parts, turn, turns)
					c.Items(got, src, make([]byte, c.Room()), first, end)
				}
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d parts, %d turns", parts, turns)
		}
	}
}
