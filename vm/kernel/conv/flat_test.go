package conv_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// flat goes by Flat where there is one, and else like dense.
func flat(level isa.Level, s conv.Shape, w []float32) (kernel, []float32) {
	if !conv.FlatAt(level, s) {
		return dense(level, s, w)
	}
	f := conv.NewFlat(level, s)
	packed := make([]float32, f.Packed())
	f.Pack(packed, w)
	return f, packed
}

func TestFlat(t *testing.T) {
	testKernel(t, flat, 40, 9)
	testShapes(t, flat, randomFlat)
}

// randomFlat is a shape with windows of one element, or with long rows.
func randomFlat(r *rand.Rand) conv.Shape {
	s := conv.Shape{Images: 1 + r.IntN(2), Groups: 1 + r.IntN(2), Channels: 1 + r.IntN(20), Filters: 1 + r.IntN(40)}
	if r.IntN(2) == 0 {
		s.Axes = []conv.Axis{axis(1+r.IntN(20), 1, 1, 1, 0, 0), axis(1+r.IntN(40), 1, 1, 1, 0, 0)}
		return s
	}
	for len(s.Axes) < 2 {
		a := axis(1+r.IntN(12+100*len(s.Axes)), 1+2*r.IntN(3), 1+r.IntN(2), 1, r.IntN(3), r.IntN(3))
		if a.In+a.Before+a.Behind >= a.Size {
			s.Axes = append(s.Axes, a)
		}
	}
	return s
}

// TestFlatEnds: sums go through endings to y, in place of a residual too, and to tiles, as
// those of other convolutions do. Nothing lies behind x, where the system can say so.
func TestFlatEnds(t *testing.T) {
	for seed := range seeds(200) {
		r := rand.New(rand.NewPCG(seed, 21))
		s := randomFlat(r)
		nx, nw, size := count(s)
		x, w := atEnd(t, spiced(r, nx)), floats(r, nw)
		channels := s.Groups * s.Filters
		e := randomEnding(r, channels)
		var rest []float32
		if r.IntN(2) == 0 {
			rest = spiced(r, s.Images*channels*size)
		}
		for _, level := range isa.Levels() {
			if !conv.FlatAt(level, s) {
				continue
			}
			other, plain := inPlace(level, s, w)
			want := store(t, level, other, s, e, x, plain, nil, rest)
			k, packed := flat(level, s, w)
			f := k.(*conv.Flat)
			for _, parts := range []int{1, 3} {
				f.Divide(parts)
				sameFloats(t, through(t, f, s, e, x, packed, nil, rest), want)
				if rest != nil {
					sameFloats(t, through(t, f, s, e, x, packed, append([]float32(nil), rest...), nil), want)
				}
			}
		}
	}
}

// randomEnding has steps of all kinds, of some, or none.
func randomEnding(r *rand.Rand, channels int) *conv.Ending {
	var steps []conv.Steps
	kind := r.IntN(4)
	for range channels * min(kind, 1) {
		s := conv.Steps(spiced(r, len(conv.NoSteps)))
		switch kind {
		case 1: // a bias
			copy(s[1:], conv.NoSteps[1:])
		case 2: // a norm
			s[0] = conv.NoSteps[0]
		}
		steps = append(steps, s)
	}
	hold := bounds[r.IntN(len(bounds))]
	return conv.NewEnding(steps, hold[0], hold[1])
}

// A storer is a kernel that takes sums through endings itself.
type storer interface {
	kernel
	Store(w *conv.Work, u int, x, filters []float32, e *conv.Ending, y, rest []float32)
	Ended(w *conv.Work, u int, x, filters []float32, e *conv.Ending) conv.Tile
}

// through computes all units of a convolution that ends sums itself. If y is given, it has
// the residual.
func through(t *testing.T, f storer, s conv.Shape, e *conv.Ending, x, packed, y, rest []float32) []float32 {
	t.Helper()
	_, _, size := count(s)
	out, intact := guarded(s.Images * s.Groups * s.Filters * size)
	for i := range out {
		out[i] = float32(math.NaN())
	}
	if y != nil {
		copy(out, y)
		rest = out
	}
	room, check := guarded(f.Room())
	work := conv.Work{Room: room, Gemm: new(gemm.Scratch)}
	for u := range f.Units() {
		f.Store(&work, u, x, packed, e, out, rest)
	}
	check(t)
	intact(t)
	return out
}

// TestFlatScaled: each channel of each image is multiplied by its factor first.
func TestFlatScaled(t *testing.T) {
	for seed := range seeds(60) {
		r := rand.New(rand.NewPCG(seed, 22))
		s := conv.Shape{Images: 1 + r.IntN(3), Groups: 1, Channels: 1 + r.IntN(20), Filters: 3 + r.IntN(40)}
		s.Axes = []conv.Axis{axis(1+r.IntN(20), 1, 1, 1, 0, 0), axis(1+r.IntN(20), 1, 1, 1, 0, 0)}
		nx, nw, size := count(s)
		x, w, factors := floats(r, nx), floats(r, nw), floats(r, s.Images*s.Channels)
		scaled := append([]float32(nil), x...)
		for i := range scaled {
			scaled[i] *= factors[i/size]
		}
		for _, level := range isa.Levels() {
			if !conv.FlatAt(level, s) {
				continue
			}
			k, packed := flat(level, s, w)
			want := compute(t, level, k, s, 1, scaled, packed, w)
			f := k.(*conv.Flat)
			f.Scale()
			f.Divide(1 + r.IntN(3))
			room, check := guarded(f.Room())
			work := conv.Work{Room: room, Gemm: new(gemm.Scratch), Factors: factors}
			out := make([]float32, len(want))
			for u := range f.Units() {
				tile := f.Ended(&work, u, x, packed, asIs)
				tile.Copy(out, s.Filters, size)
			}
			check(t)
			sameFloats(t, out, want)
		}
	}
}
