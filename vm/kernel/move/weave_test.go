package move_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/move"
)

// woven are blocks of columns of some elements each in rows, from a row on, and the dense
// tensors that they come from.
func woven(rows, columns, width, before int) (to, from []move.Block) {
	all := move.Dense([]int{before + rows, columns * width})
	for i := range columns {
		to = append(to, all.Part(0, before, rows).Part(1, i*width, width))
		from = append(from, move.Dense([]int{rows, width}))
	}
	return to, from
}

// TestWeave makes groups of all sizes, in parts, near the caches and around them.
func TestWeave(t *testing.T) {
	for _, level := range isa.Levels() {
		r := rand.New(rand.NewPCG(1, uint64(level)))
		for _, large := range []int{1 << 30, 1} {
			restore := move.Small(large)
			for _, size := range elementSizes {
				for columns := 2; columns <= 4; columns++ {
					for _, rows := range []int{2, 15, 16, 17, 63, 64, 65, 1000, 9001} {
						testWeave(t, r, level, size, rows, columns, 1)
					}
					testWeave(t, r, level, size, 777, columns, 16/size)
				}
			}
			restore()
		}
	}
}

func testWeave(t *testing.T, r *rand.Rand, level isa.Level, size, rows, columns, width int) {
	t.Helper()
	before := r.IntN(3)
	to, from := woven(rows, columns, width, before)
	w := move.NewWeave(level, size, to, from)
	if w == nil {
		if level != isa.Portable && level != isa.NEON {
			t.Errorf("%v: %d columns of %d elements of %d bytes are no groups", level, columns, width, size)
		}
		return
	}
	got, gotAll := guarded((before+rows)*columns*width*size, 0)
	want, wantAll := guarded(len(got), 0)
	src := make([][]byte, columns)
	for i := range src {
		src[i], _ = guarded(rows*width*size, size*r.IntN(3))
		fill(r, src[i])
		slow(want, src[i], size, to[i], from[i])
	}
	room := make([]byte, w.Room())
	for first := 0; first < w.Groups(); {
		end := min(w.Groups(), first+1+r.IntN(5000))
		w.Run(got, src, room, first, end)
		first = end
	}
	if !bytes.Equal(gotAll, wantAll) {
		t.Fatalf("%v: %d rows of %d columns of %d elements of %d bytes", level, rows, columns, width, size)
	}
}

// TestNoWeave has what are no elements by turns.
func TestNoWeave(t *testing.T) {
	to, from := woven(100, 3, 1, 0)
	for name, blocks := range map[string][2][]move.Block{
		"one":           {to[:1], from[:1]},
		"a gap":         {to[:2], from[:2]},
		"another order": {{to[1], to[0], to[2]}, from},
		"fewer rows":    {{to[0], to[1], to[2].Part(0, 0, 99)}, {from[0], from[1], from[2].Part(0, 0, 99)}},
		"steps":         {to, {from[0], from[1], {Shape: []int{100, 1}, Strides: []int{2, 1}}}},
		"one element":   {to, {from[0], from[1], {Shape: []int{100, 1}, Strides: []int{0, 0}}}},
	} {
		if w := move.NewWeave(isa.Best(), 4, blocks[0], blocks[1]); w != nil {
			t.Errorf("%s: %d groups", name, w.Groups())
		}
	}
}
