package conv_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// specials are floats that endings have to treat as they are defined.
var specials = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0, 1e-42, 6, 7,
}

// spiced are random floats with special ones among them.
func spiced(r *rand.Rand, n int) []float32 {
	x := floats(r, n)
	for i := range x {
		if r.IntN(8) == 0 {
			x[i] = specials[r.IntN(len(specials))]
		}
	}
	return x
}

// ended is what an ending makes of a sum.
func ended(v float32, steps *conv.Steps, rest *float32, lo, hi float32) float32 {
	if steps != nil {
		v = float32(float32(v+steps[0]) - steps[1])
		v = float32(float32(v*steps[2])*steps[3]) + steps[4]
	}
	if rest != nil {
		v += *rest
	}
	if v < lo {
		v = lo
	}
	if v > hi {
		v = hi
	}
	return v
}

// alike reports whether two floats are the same, or both NaN.
func alike(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// bounds are some that endings keep sums in.
var bounds = [][2]float32{
	{float32(math.Inf(-1)), float32(math.Inf(1))}, {0, float32(math.Inf(1))}, {0, 6}, {-0.5, 0.25},
}

// TestEndings takes the tiles of random convolutions through random endings, straight
// to y and by way of upright tiles.
func TestEndings(t *testing.T) {
	for seed := range seeds(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := randomShape(r, 60, 4)
		if seed%8 == 0 {
			s = randomSingle(r)
		}
		nx, nw, size := count(s)
		x, w := spiced(r, nx), floats(r, nw)
		channels := s.Groups * s.Filters
		var steps []conv.Steps
		for range channels * r.IntN(2) {
			steps = append(steps, conv.Steps(spiced(r, len(conv.NoSteps))))
		}
		hold := bounds[r.IntN(len(bounds))]
		var rest []float32
		if r.IntN(2) == 0 {
			rest = spiced(r, s.Images*channels*size)
		}
		for _, level := range isa.Levels() {
			for _, makeKernel := range []func(isa.Level, conv.Shape, []float32) (kernel, []float32){dense, inPlace, thin} {
				k, packed := makeKernel(level, s, w)
				sums := compute(t, level, k, s, 1, x, packed, nil)
				check := func(how string, got []float32, rest []float32) {
					t.Helper()
					for i, v := range got {
						var at *conv.Steps
						if steps != nil {
							at = &steps[i/size%channels]
						}
						var more *float32
						lo, hi := bounds[0][0], bounds[0][1]
						if how != "upright" {
							lo, hi = hold[0], hold[1]
						}
						if rest != nil {
							more = &rest[i]
						}
						if want := ended(sums[i], at, more, lo, hi); !alike(v, want) {
							t.Fatalf("seed %d, %v, %v %s: element %d is %g, not %g", seed, s, level, how, i, v, want)
						}
					}
				}
				e := conv.NewEnding(steps, hold[0], hold[1])
				check("apart", store(t, level, k, s, e, x, packed, nil, rest), rest)
				if rest != nil {
					check("in place", store(t, level, k, s, e, x, packed, append([]float32(nil), rest...), nil), rest)
				}
				up := conv.NewEnding(steps, bounds[0][0], bounds[0][1])
				check("upright", upright(t, level, k, s, up, x, packed), nil)
			}
		}
	}
}

// store computes all units with an ending. If y is given, it has the residual.
func store(t *testing.T, level isa.Level, k kernel, s conv.Shape, e *conv.Ending, x, packed, y, rest []float32) []float32 {
	t.Helper()
	_, _, size := count(s)
	out, intact := guarded(s.Images * s.Groups * s.Filters * size)
	if y != nil {
		copy(out, y)
		rest = out
	}
	room, check := guarded(k.Room())
	work := conv.Work{Room: room, Gemm: new(gemm.Scratch)}
	for u := range k.Units() {
		tile := k.Compute(&work, u, x, packed)
		tile.Store(&work, level, e, out, rest, s.Groups*s.Filters, size)
	}
	check(t)
	intact(t)
	return out
}

// upright computes all units by way of upright tiles.
func upright(t *testing.T, level isa.Level, k kernel, s conv.Shape, e *conv.Ending, x, packed []float32) []float32 {
	t.Helper()
	_, _, size := count(s)
	out, intact := guarded(s.Images * s.Groups * s.Filters * size)
	room, check := guarded(k.Room())
	work := conv.Work{Room: room, Gemm: new(gemm.Scratch)}
	for u := range k.Units() {
		tile := k.Compute(&work, u, x, packed)
		tile.Upright(&work, level, e)
		tile.Copy(out, s.Groups*s.Filters, size)
	}
	check(t)
	intact(t)
	return out
}
