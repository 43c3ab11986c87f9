package gemm

import (
	"math"
	"math/rand"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// row makes a row of A of which a part is zeros of either sign.
func row(rnd *rand.Rand, n int, zeros float64) Matrix {
	a := fill(rnd, 1, n)
	for i := range n {
		if rnd.Float64() < zeros {
			a.Data[i*a.Col] = float32(math.Copysign(0, rnd.NormFloat64()))
		}
	}
	return a
}

func yes() bool { return true }

// inPieces computes a product of one row in two calls, of which the second may find what the
// first has listed.
func inPieces(level isa.Level, p Product, cut int) []float32 {
	var x Scratch
	p.C, p.Ldc = make([]float32, p.N), p.N
	x.Mul(level, &p, Range{0, 1}, Range{0, cut})
	p.Again = true
	x.Mul(level, &p, Range{0, 1}, Range{cut, p.N})
	return p.C
}

// TestSparse: a product of a row with zeros has the same bits whether they are left out or
// not, for all shares of zeros, in pieces along k and columns, with a bias, where sums
// become -0 too.
func TestSparse(t *testing.T) {
	rnd := rand.New(rand.NewSource(21))
	tiny := []float32{0x1p-149, -0x1p-149, 0x1p-75, -0x1p-75, 0, 1}
	for _, level := range isa.Levels() {
		w := Width(level)
		lost := 0
		for i := range samples(300) {
			s := sample{m: 1, n: 4*w + rnd.Intn(6*w), k: 1 + rnd.Intn(200)}
			s.a, s.b = row(rnd, s.k, float64(i%11)/10), fill(rnd, s.k, s.n)
			if i%3 == 0 { // products that round to zeros
				for _, m := range []Matrix{s.a, s.b} {
					for i := range m.Data {
						if m.Data[i] != 0 {
							m.Data[i] = tiny[rnd.Intn(len(tiny))]
						}
					}
				}
			}
			blocks := Blocks{Rows: 1, Deep: 1 + rnd.Intn(250), Cols: w * (1 + rnd.Intn(4)), Packed: 4000, Copied: 4000, Tall: 1}
			p := Product{M: 1, N: s.n, K: s.k, A: s.a, Panels: s.packed(level), Blocks: blocks, Backwards: i%2 == 0}
			if i%4 == 0 {
				p.Bias = make([]float32, s.n)
				for j := range p.Bias {
					p.Bias[j] = float32(math.Copysign(0, -1))
				}
			}
			cut := rnd.Intn(s.n/w+1) * w
			want := inPieces(level, p, cut)
			p.Finite = yes
			got := inPieces(level, p, cut)
			for j := range want {
				if math.Float32bits(want[j]) != math.Float32bits(got[j]) {
					t.Fatalf("%v 1x%dx%d in %+v: element %d is %g without zeros, %g with them", level, s.n, s.k, blocks, j, got[j], want[j])
				}
				if want[j] == 0 && math.Signbit(float64(want[j])) {
					lost++
				}
			}
		}
		if lost == 0 && at(level).sparse[1] != nil {
			t.Errorf("%v: no sum became -0", level)
		}
	}
}

// TestSparseReads: rows that meet zeros are left out from one element in eight on, by levels
// that can, and only where somebody says that weights are finite.
func TestSparseReads(t *testing.T) {
	const k = 256
	no := func() bool { return false }
	for _, level := range isa.Levels() {
		n := 4 * Width(level)
		for _, c := range []struct {
			zeros   int
			finite  func() bool
			columns int
			leaves  bool
		}{
			{k / 2, yes, n, true}, {k, yes, n, true}, {k / leastZeros, yes, n, true},
			{k / 64, yes, n, false}, {k / 2, no, n, false}, {k / 2, nil, n, false}, {k / 2, yes, n - Width(level), false},
		} {
			s := sample{m: 1, n: c.columns, k: k, a: Matrix{Data: make([]float32, k), Row: k, Col: 1}}
			s.b = Matrix{Data: make([]float32, k*c.columns), Row: c.columns, Col: 1}
			for i := range k {
				if i%(k/c.zeros) != 0 {
					s.a.Data[i] = 1
					continue
				}
				for j := range c.columns {
					s.b.Data[i*c.columns+j] = float32(math.NaN())
				}
			}
			got := inPieces(level, Product{M: 1, N: c.columns, K: k, A: s.a, Panels: s.packed(level), Finite: c.finite}, c.columns)
			want := c.leaves && at(level).sparse[1] != nil
			for j, x := range got {
				if left := x == x; left != want {
					t.Fatalf("%v, %d zeros of %d, %d columns: element %d is %g", level, c.zeros, k, c.columns, j, x)
				}
			}
		}
	}
}

// TestListing: what is listed is that of the row at hand, not of the one before.
func TestListing(t *testing.T) {
	rnd := rand.New(rand.NewSource(22))
	for _, level := range isa.Levels() {
		s := sample{m: 3, n: 8 * Width(level), k: 96}
		s.b = fill(rnd, s.k, s.n)
		s.a = Matrix{Data: make([]float32, s.m*s.k), Row: s.k, Col: 1}
		c := make([]float32, s.m*s.n)
		p := &Product{M: s.m, N: s.n, K: s.k, A: s.a, Panels: s.packed(level), C: c, Ldc: s.n, Finite: yes}
		var x Scratch
		for range 3 {
			for i := range s.a.Data {
				s.a.Data[i] = float32(max(rnd.NormFloat64(), 0))
			}
			p.Again = false
			for i := range s.m {
				x.Mul(level, p, Range{i, i + 1}, Range{0, s.n})
				p.Again = true
			}
			s.check(t, c, s.n, nil)
		}
	}
}

// TestFinite: one number that is not finite is found wherever it stands.
func TestFinite(t *testing.T) {
	data := []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32, 0x1p-149, 1, -1}
	if !Finite(data) || !Finite(nil) {
		t.Error("finite numbers are not")
	}
	for _, bad := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		for i := range data {
			was := data[i]
			data[i] = float32(bad)
			if Finite(data) {
				t.Errorf("%g at %d is said to be finite", bad, i)
			}
			data[i] = was
		}
	}
}
