package gemm

import (
	"math/rand"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestBlocksFor: the copy of A and a panel fit caches of all sizes, and 1 MB gives what
// was measured.
func TestBlocksFor(t *testing.T) {
	if b := BlocksFor(1 << 20); b.Rows != 72 || b.Deep != 1024 || b.Packed != 512<<10 || b.Copied != 512<<10 {
		t.Errorf("1 MB: %+v", b)
	}
	for l2 := 128 << 10; l2 <= 8<<20; l2 += 64 << 10 {
		b := BlocksFor(l2)
		if b.Rows < mostRows || b.Rows%mostRows != 0 || b.Deep < 1 || b.Deep%8 != 0 {
			t.Errorf("%d bytes: blocks of %d by %d", l2, b.Rows, b.Deep)
		}
		if a, panel := b.Rows*b.Deep*floatBytes, 32*b.Deep*floatBytes; a+panel > l2*9/16 {
			t.Errorf("%d bytes: %d of A and %d of a panel", l2, a, panel)
		}
	}
	if BlocksFor(0) != BlocksFor(128<<10) {
		t.Error("an unknown size is not the least one")
	}
}

// TestBlocksBits: the bits of a product are those of one in other blocks.
func TestBlocksBits(t *testing.T) {
	rnd := rand.New(rand.NewSource(9))
	a, b := fill(rnd, 151, 700), fill(rnd, 700, 83)
	for _, level := range isa.Levels() {
		bits := func(blocks Blocks) []float32 {
			p := &Product{M: 151, N: 83, K: 700, A: a, Matrix: b, C: make([]float32, 151*83), Ldc: 83, Blocks: blocks}
			var x Scratch
			if err := x.Mul(level, p, Range{0, 151}, Range{0, 83}); err != nil {
				t.Fatal(err)
			}
			return p.C
		}
		want := bits(Default)
		for _, l2 := range []int{128 << 10, 256 << 10, 512 << 10, 2 << 20, 8 << 20} {
			for i, x := range bits(BlocksFor(l2)) {
				if x != want[i] {
					t.Fatalf("%v, %d bytes: element %d is %g, not %g", level, l2, i, x, want[i])
				}
			}
		}
	}
}
