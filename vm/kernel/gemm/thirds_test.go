package gemm

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestThirds: blocks in tiles of a panel and a half have the bits of those in other
// tiles, for all numbers of columns around some threes of panels, every length, from zero
// or C, with a bias and without.
func TestThirds(t *testing.T) {
	rnd := rand.New(rand.NewSource(10))
	for _, level := range isa.Levels() {
		k := at(level)
		if k.thirds == nil {
			continue
		}
		others := *k
		others.thirds = nil
		for deep := range 35 {
			m := []int{28, 32, 44}[deep%3]
			for n := 2 * k.width; n < 8*k.width; n++ {
				ldc := n + 3
				a := Matrix{Data: fill(rnd, 1, m*(deep+1)-1).Data, Row: deep + 1, Col: 1}
				b := fill(rnd, 1, ceil(n, k.width)*k.width*deep)
				if !k.inThirds(m, a) {
					t.Fatalf("%d rows do not go in thirds", m)
				}
				var bias []float32
				if n%2 == 0 {
					bias = fill(rnd, 1, n).Data
				}
				var got [2][]float32
				for i, by := range []*kernels{&others, k} {
					c := guarded(m*ldc, 1)
					for j := range c {
						c[j] = float32(j % 9)
					}
					x := &Scratch{}
					x.run(by, &Block{M: m, N: n, K: deep, C: c, Ldc: ldc, A: a, B: PackedPanels(level, b.Data, deep), Add: n%3 == 0, Bias: bias})
					whole(t, "C", c)
					got[i] = c
				}
				if !slices.Equal(got[0], got[1]) {
					t.Fatalf("%v: %d rows, %d columns, %d products differ", level, m, n, deep)
				}
			}
		}
	}
}

// TestInThirds: which rows go so.
func TestInThirds(t *testing.T) {
	if !isa.Has(isa.AVX2) {
		t.Skip("the processor has no AVX2")
	}
	k := at(isa.AVX2)
	var rows []int
	for m := range 80 {
		if k.inThirds(m, Matrix{Row: 100, Col: 1}) {
			rows = append(rows, m)
		}
	}
	if want := []int{28, 32, 40, 44, 56, 68}; !slices.Equal(rows, want) {
		t.Errorf("%v rows, not %v", rows, want)
	}
	for _, a := range []Matrix{{Row: 1, Col: 100}, {Row: 1024, Col: 1}} {
		if k.inThirds(32, a) {
			t.Errorf("rows at %d, columns at %d", a.Row, a.Col)
		}
	}
}
