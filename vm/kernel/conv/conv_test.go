package conv_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// plain is the definition: sums of float64 and of magnitudes, place by place.
func plain(s conv.Shape, x, w []float32) (sums, sizes []float64) {
	in, out, size := 1, 1, 1
	for _, a := range s.Axes {
		in, out, size = in*a.In, out*a.Out, size*a.Size
	}
	for i := range s.Images {
		for f := range s.Groups * s.Filters {
			g := f / s.Filters
			for p := range out {
				var sum, mag float64
				for c := range s.Channels {
					channel := x[((i*s.Groups+g)*s.Channels+c)*in:][:in]
					for t := range size {
						v := 0.0
						if at := seen(s.Axes, p, t); at >= 0 {
							v = float64(channel[at])
						}
						v *= float64(w[(f*s.Channels+c)*size+t])
						sum, mag = sum+v, mag+math.Abs(v)
					}
				}
				sums, sizes = append(sums, sum), append(sizes, mag)
			}
		}
	}
	return sums, sizes
}

// seen is which element of a channel place p sees by tap t, -1 for padding.
func seen(axes []conv.Axis, p, t int) int {
	at, stride := 0, 1
	for i := len(axes) - 1; i >= 0; i-- {
		a := axes[i]
		q := p%a.Out*a.Step + t%a.Size*a.Spread - a.Before
		if q < 0 || q >= a.In {
			return -1
		}
		at, stride = at+q*stride, stride*a.In
		p, t = p/a.Out, t/a.Size
	}
	return at
}

func axis(in, size, step, spread, before, behind int) conv.Axis {
	return conv.Axis{In: in, Out: (in+before+behind-(size-1)*spread-1)/step + 1, Size: size, Step: step, Spread: spread, Before: before, Behind: behind}
}

// randomAxis is an axis on which the window has a place.
func randomAxis(r *rand.Rand, most int) conv.Axis {
	for {
		a := axis(1+r.IntN(most), 1+r.IntN(4), 1+r.IntN(3), 1+r.IntN(2), r.IntN(4), r.IntN(4))
		if r.IntN(3) == 0 {
			a = axis(a.In, a.Size, 1, 1, 0, 0)
		}
		if a.In+a.Before+a.Behind >= (a.Size-1)*a.Spread+1 && a.Out > 0 {
			return a
		}
	}
}

func randomShape(r *rand.Rand, filters, channels int) conv.Shape {
	s := conv.Shape{Images: 1 + r.IntN(2), Groups: 1 + r.IntN(3), Channels: 1 + r.IntN(channels), Filters: 1 + r.IntN(filters)}
	most := [...]int{0, 900, 30, 8, 4}
	n := 1 + r.IntN(4)
	for range n {
		s.Axes = append(s.Axes, randomAxis(r, most[n]))
	}
	return s
}

func count(s conv.Shape) (x, w, channel int) {
	in, size, out := 1, 1, 1
	for _, a := range s.Axes {
		in, size, out = in*a.In, size*a.Size, out*a.Out
	}
	return s.Images * s.Groups * s.Channels * in, s.Groups * s.Filters * s.Channels * size, out
}

func floats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// guarded is n floats with others around them that must stay.
func guarded(n int) (x []float32, check func(*testing.T)) {
	const around = 32
	all := make([]float32, n+2*around)
	for i := range all {
		all[i] = -12345
	}
	return all[around : around+n : around+n], func(t *testing.T) {
		t.Helper()
		for i, v := range all {
			if (i < around || i >= around+n) && v != -12345 {
				t.Fatalf("element %d of %d was written", i-around, n)
			}
		}
	}
}

// A kernel is what Dense and Thin have in common.
type kernel interface {
	Divide(parts int) int
	Units() int
	Room() int
	Compute(w *conv.Work, u int, x, filters []float32) conv.Tile
}

func dense(level isa.Level, s conv.Shape, w []float32) (kernel, []float32) {
	d := conv.NewDense(level, s, true)
	packed := make([]float32, d.Packed())
	d.Pack(packed, w)
	return d, packed
}

// turned stands turned on every level, also where upright would be better.
func turned(level isa.Level, s conv.Shape, w []float32) (kernel, []float32) {
	d := conv.NewDense(level, s, true)
	d.Stand(true)
	packed := make([]float32, d.Packed())
	d.Pack(packed, w)
	return d, packed
}

func inPlace(level isa.Level, s conv.Shape, w []float32) (kernel, []float32) {
	return conv.NewDense(level, s, false), w
}

func thin(level isa.Level, s conv.Shape, w []float32) (kernel, []float32) {
	return conv.NewThin(level, s), w
}

// asIs leaves sums as they are.
var asIs = conv.NewEnding(nil, float32(math.Inf(-1)), float32(math.Inf(1)))

func compute(t *testing.T, level isa.Level, d kernel, s conv.Shape, parts int, x, packed, w []float32) []float32 {
	t.Helper()
	parts = d.Divide(parts)
	_, _, size := count(s)
	y, intact := guarded(s.Images * s.Groups * s.Filters * size)
	for i := range y {
		y[i] = float32(math.NaN())
	}
	for part := range parts {
		room, check := guarded(d.Room())
		work := conv.Work{Room: room, Gemm: new(gemm.Scratch), Plain: w}
		for u := range d.Units() {
			if u%parts != part {
				continue
			}
			tile := d.Compute(&work, u, x, packed)
			tile.Store(&work, level, asIs, y, nil, s.Groups*s.Filters, size)
		}
		check(t)
	}
	intact(t)
	return y
}

func TestDense(t *testing.T) { testKernel(t, dense, 90, 5) }

func TestDenseTurned(t *testing.T) { testKernel(t, turned, 40, 5) }

// TestDenseSingle: planes of one place, by windows of all that there is.
func TestDenseSingle(t *testing.T) { testShapes(t, turned, randomSingle) }

func randomSingle(r *rand.Rand) conv.Shape {
	a := axis(1+r.IntN(3), 1, 1, 1, 0, 0)
	a.Size, a.Out = a.In, 1
	return conv.Shape{Images: 1 + r.IntN(2), Groups: 1 + r.IntN(2), Channels: 1 + r.IntN(90), Filters: 3 + r.IntN(90), Axes: []conv.Axis{a, a}}
}

// TestDenseRows: rows of all lengths that bunches of neighbours are made of.
func TestDenseRows(t *testing.T) {
	length := 0
	testShapes(t, turned, func(r *rand.Rand) conv.Shape {
		length = length%30 + 1
		size := 1 + r.IntN(3)
		rows, cols := axis(1+r.IntN(3), 1, 1, 1, 0, 0), axis(length+size-1, size, 1, 1, 0, 0)
		return conv.Shape{Images: 1, Groups: 1, Channels: 1 + r.IntN(30), Filters: 1 + r.IntN(70), Axes: []conv.Axis{rows, cols}}
	})
}

func TestDenseInPlace(t *testing.T) { testKernel(t, inPlace, 40, 3) }

func TestThin(t *testing.T) { testKernel(t, thin, 3, 2) }

func testKernel(t *testing.T, make func(isa.Level, conv.Shape, []float32) (kernel, []float32), filters, channels int) {
	t.Helper()
	testShapes(t, make, func(r *rand.Rand) conv.Shape { return randomShape(r, filters, channels) })
}

// testShapes compares with the definition, and levels and parts with each other.
func testShapes(t *testing.T, make func(isa.Level, conv.Shape, []float32) (kernel, []float32), random func(*rand.Rand) conv.Shape) {
	t.Helper()
	for seed := range seeds(150) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := random(r)
		nx, nw, _ := count(s)
		x, w := floats(r, nx), floats(r, nw)
		sums, sizes := plain(s, x, w)
		var first []float32
		for _, level := range isa.Levels() {
			k, packed := make(level, s, w)
			for _, parts := range []int{1, 2, 5} {
				y := compute(t, level, k, s, parts, x, packed, w)
				for i, v := range y {
					if !(math.Abs(float64(v)-sums[i]) <= 0x1p-23*sizes[i]*float64(nw)) {
						t.Fatalf("%v, %v in %d parts: element %d is %g, not %g", s, level, parts, i, v, sums[i])
					}
				}
				if level == isa.Portable {
					continue
				}
				if first == nil {
					first = y
				}
				for i := range y {
					if math.Float32bits(y[i]) != math.Float32bits(first[i]) {
						t.Fatalf("%v, %v in %d parts: element %d is %x, not %x", s, level, parts, i, y[i], first[i])
					}
				}
			}
		}
	}
}

// seeds is how many random cases there are.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 10
	}
	return n
}

// TestFused: levels but Portable round a sum once for each product. The square of
// 1+2^-12 has a bit that a float does not hold.
func TestFused(t *testing.T) {
	const a = 1 + 0x1p-12
	square := a * a
	for _, level := range isa.Levels() {
		for _, make := range []func(isa.Level, conv.Shape, []float32) (kernel, []float32){dense, inPlace, thin} {
			s := conv.Shape{Images: 1, Groups: 1, Channels: 2, Filters: 1, Axes: []conv.Axis{axis(9, 1, 1, 1, 0, 0)}}
			x := slices.Concat(slices.Repeat([]float32{-float32(square)}, 9), slices.Repeat([]float32{a}, 9))
			k, packed := make(level, s, []float32{1, a})
			for i, v := range compute(t, level, k, s, 1, x, packed, nil) {
				if want := float32(square - float64(float32(square))); level != isa.Portable && v != want || level == isa.Portable && v != 0 {
					t.Errorf("%v: element %d is %g, not %g", level, i, v, want)
				}
			}
		}
	}
}
