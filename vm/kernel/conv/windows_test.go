package conv_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/isa"
)

// randomWindows is a shape whose planes have filters of their own, by square windows.
func randomWindows(r *rand.Rand) conv.Shape {
	s := conv.Shape{Images: 1 + r.IntN(2), Groups: 1 + r.IntN(9), Channels: 1, Filters: 1}
	size, step := 3+2*r.IntN(3), 1+r.IntN(2)
	for len(s.Axes) < 2 {
		a := axis(1+r.IntN([]int{8, 20, 70}[r.IntN(3)]), size, step, 1, r.IntN(size+1), r.IntN(size+1))
		if len(s.Axes) == 1 && r.IntN(10) == 0 {
			a = axis(2049+r.IntN(3000), size, step, 1, r.IntN(3), r.IntN(3)) // rows are cut
		}
		if a.In+a.Before+a.Behind >= size && a.Out > 0 {
			s.Axes = append(s.Axes, a)
		}
	}
	return s
}

// TestWindows compares with the definition, and with a product of panels by its bits. What
// lies around x is NaN, and nothing lies behind it where the system can say so.
func TestWindows(t *testing.T) {
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 15))
		s := randomWindows(r)
		nx, nw, _ := count(s)
		x, w := atEnd(t, floats(r, nx)), floats(r, nw)
		sums, sizes := plain(s, x, w)
		for _, level := range isa.Levels() {
			other, packed := inPlace(level, s, w)
			want := compute(t, level, other, s, 1, x, packed, w)
			for _, parts := range []int{1, 2, 5} {
				k, filters := thin(level, s, w)
				y := compute(t, level, k, s, parts, x, filters, w)
				sameFloats(t, y, want)
				for i, v := range y {
					if !(math.Abs(float64(v)-sums[i]) <= 0x1p-23*sizes[i]*float64(nw)) {
						t.Fatalf("%v, %v in %d parts: element %d is %g, not %g", s, level, parts, i, v, sums[i])
					}
				}
			}
		}
	}
}

// TestThinEnds: sums go through endings to y, in place of a residual too, and to tiles, as
// those of other convolutions do.
func TestThinEnds(t *testing.T) {
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 23))
		s := randomWindows(r)
		if seed%4 == 0 {
			s = randomShape(r, 2, 3)
		}
		nx, nw, size := count(s)
		x, w := atEnd(t, spiced(r, nx)), floats(r, nw)
		e := randomEnding(r, s.Groups*s.Filters)
		var rest []float32
		if r.IntN(4) == 0 {
			rest = spiced(r, s.Images*s.Groups*s.Filters*size)
		}
		for _, level := range isa.Levels() {
			if level == isa.Portable || level == isa.NEON {
				continue
			}
			other, plain := inPlace(level, s, w)
			want := store(t, level, other, s, e, x, plain, nil, rest)
			for _, parts := range []int{1, 3} {
				k := conv.NewThin(level, s)
				k.Divide(parts)
				sameFloats(t, through(t, k, s, e, x, w, nil, rest), want)
				if rest != nil {
					sameFloats(t, through(t, k, s, e, x, w, append([]float32(nil), rest...), nil), want)
					continue
				}
				sameFloats(t, byTiles(t, k, s, e, x, w), want)
			}
		}
	}
}

// byTiles computes all units by way of tiles.
func byTiles(t *testing.T, k storer, s conv.Shape, e *conv.Ending, x, w []float32) []float32 {
	t.Helper()
	_, _, size := count(s)
	out := make([]float32, s.Images*s.Groups*s.Filters*size)
	room, check := guarded(k.Room())
	work := conv.Work{Room: room}
	for u := range k.Units() {
		tile := k.Ended(&work, u, x, w, e)
		tile.Copy(out, s.Groups*s.Filters, size)
	}
	check(t)
	return out
}

// TestWindowsSpecial: padding counts as zeros, of which products with infinity are NaN, and
// what is not finite stays in the windows that see it.
func TestWindowsSpecial(t *testing.T) {
	inf := float32(math.Inf(1))
	for seed := range seeds(100) {
		r := rand.New(rand.NewPCG(seed, 16))
		s := randomWindows(r)
		nx, nw, _ := count(s)
		x, w := floats(r, nx), floats(r, nw)
		for range 3 {
			x[r.IntN(nx)] = []float32{inf, -inf, float32(math.NaN()), float32(math.Copysign(0, -1)), 1e-42}[r.IntN(5)]
		}
		if r.IntN(2) == 0 {
			w[r.IntN(nw)] = inf
		}
		for _, level := range isa.Levels() {
			other, packed := inPlace(level, s, w)
			k, filters := thin(level, s, w)
			sameFloats(t, compute(t, level, k, s, 1, x, filters, w), compute(t, level, other, s, 1, x, packed, w))
		}
	}
}
