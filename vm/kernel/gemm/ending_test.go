package gemm

import (
	"math"
	"math/rand"
	"testing"
)

// TestScale: sums that become floats have the bits of the same steps one by one, in all
// blocks, with and without each of the numbers.
func TestScale(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	some := func(n int) []float32 {
		if rnd.Intn(3) == 0 {
			return nil
		}
		s := guarded(n, rnd.Intn(3))
		for i := range s {
			s[i] = float32(rnd.NormFloat64())
			if rnd.Intn(20) == 0 {
				s[i] = []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), math.MaxFloat32, 1e-40}[rnd.Intn(5)]
			}
		}
		return s
	}
	for _, f := range everyFormat(Int8) {
		for range 60 {
			l := newLow(rnd, f, 1+rnd.Intn(30), 1+rnd.Intn(150), rnd.Intn(80))
			p := l.product(t)
			blocks := Blocks{Rows: 1 + rnd.Intn(30), Deep: 8 + rnd.Intn(40), Cols: 1 + rnd.Intn(90), Tall: 1 + rnd.Intn(50), Copied: rnd.Intn(4000)}
			sums := l.multiply(t, rnd, p, blocks)
			p.Scale = &Scale{some(l.m), some(l.n), some(l.n)}
			for at, got := range l.multiply(t, rnd, p, blocks) {
				want := float32(int32(math.Float32bits(sums[at])))
				if s := p.Scale.Rows; s != nil {
					want = float32(want * s[at/l.n])
				}
				if s := p.Scale.Cols; s != nil {
					want = float32(want * s[at%l.n])
				}
				if s := p.Scale.Bias; s != nil {
					want = float32(want + s[at%l.n])
				}
				if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
					t.Fatalf("%s, %dx%dx%d: element %d is %g, not %g", f.name, l.m, l.n, l.k, at, got, want)
				}
			}
		}
	}
}

// TestScaleSteady: finishing sums allocates nothing.
func TestScaleSteady(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, f := range everyFormat(Int8) {
		l := newLow(rnd, f, 20, 70, 90)
		p := l.product(t)
		p.C, p.Ldc = make([]float32, 20*70), 70
		p.Scale = &Scale{Rows: make([]float32, 20), Cols: make([]float32, 70)}
		var x Scratch
		if n := testing.AllocsPerRun(10, func() { _ = x.Mul(f.level, &p, Range{0, 20}, Range{0, 70}) }); n > 0 {
			t.Errorf("%s: %v allocations", f.name, n)
		}
	}
}
