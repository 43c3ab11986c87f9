package conv_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/isa"
)

// odd is a float, seldom one of those that behave differently.
func odd(r *rand.Rand) float32 {
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0, 1e-40, math.MaxFloat32, -math.MaxFloat32}
	if n := r.IntN(30); n < len(special) {
		return special[n]
	}
	return float32(r.NormFloat64())
}

// most and mean are the definitions, and what a mean may be off.
func most(axes []conv.Axis, x []float32, places int) []float64 {
	y := make([]float64, places)
	for p := range y {
		y[p] = math.Inf(-1)
		for t := range size(axes) {
			if at := seen(axes, p, t); at >= 0 {
				y[p] = max(y[p], float64(x[at]))
			}
		}
	}
	return y
}

func mean(axes []conv.Axis, x []float32, places int) (y, within []float64) {
	y, within = make([]float64, places), make([]float64, places)
	for p := range y {
		n := 0.0
		for t := range size(axes) {
			if at := seen(axes, p, t); at >= 0 {
				n++
				y[p] += float64(x[at])
				within[p] += math.Abs(float64(x[at]))
			}
		}
		y[p] /= n
		within[p] = within[p]*0x1p-23*float64(size(axes))/n + 0x1p-149
	}
	return y, within
}

func size(axes []conv.Axis) int {
	n := 1
	for _, a := range axes {
		n *= a.Size
	}
	return n
}

func pool(t *testing.T, p *conv.Pool, parts, planes, places int, x []float32) []float32 {
	t.Helper()
	y, intact := guarded(planes * places)
	p.Divide(parts)
	room, check := guarded(p.Room())
	w := conv.Work{Room: room}
	for u := range p.Units() {
		p.Compute(&w, u, x, y)
	}
	check(t)
	intact(t)
	return y
}

func same(a float32, b float64) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(b) || math.IsNaN(float64(a)) && math.IsNaN(b)
}

func TestPool(t *testing.T) {
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		planes := 1 + r.IntN(7)
		var axes []conv.Axis
		var counts [][]int
		most := [...]int{0, 3000, 40, 8, 4}
		in, places := 1, 1
		n := 1 + r.IntN(4)
		for range n {
			a := randomAxis(r, most[n])
			axes, counts = append(axes, a), append(counts, a.Counts(false))
			in, places = in*a.In, places*a.Out
		}
		x := make([]float32, planes*in)
		for i := range x {
			x[i] = odd(r)
		}
		testPools(t, axes, counts, planes, in, places, x)
	}
}

// TestPoolWindows is of windows that are read where they lie. What lies around x can't be read
// where the system can say so.
func TestPoolWindows(t *testing.T) {
	for seed := range seeds(200) {
		r := rand.New(rand.NewPCG(seed, 29))
		planes, size := 1+r.IntN(5), 2+r.IntN(2)
		var axes []conv.Axis
		var counts [][]int
		for len(axes) < 2 {
			a := axis(1+r.IntN([]int{8, 20, 70}[r.IntN(3)]), size, 2, 1, r.IntN(size+1), r.IntN(size+1))
			if len(axes) == 1 && r.IntN(10) == 0 {
				a = axis(4097+r.IntN(3000), size, 2, 1, r.IntN(size), r.IntN(size)) // rows are cut
			}
			if a.In+a.Before+a.Behind >= size && a.Out > 0 {
				axes, counts = append(axes, a), append(counts, a.Counts(false))
			}
		}
		in := axes[0].In * axes[1].In
		x := make([]float32, planes*in)
		for i := range x {
			x[i] = odd(r)
		}
		testPools(t, axes, counts, planes, in, axes[0].Out*axes[1].Out, atEnd(t, x))
	}
}

func testPools(t *testing.T, axes []conv.Axis, counts [][]int, planes, in, places int, x []float32) {
	t.Helper()
	var first []float32
	for _, level := range isa.Levels() {
		for _, parts := range []int{1, 3} {
			y := pool(t, conv.NewMaxPool(level, planes, axes), parts, planes, places, x)
			means := pool(t, conv.NewMeanPool(level, planes, axes, counts), parts, planes, places, x)
			if first == nil {
				first = means
			}
			for c := range planes {
				want := most(axes, x[c*in:], places)
				sum, within := mean(axes, x[c*in:], places)
				for p := range places {
					i := c*places + p
					if !same(y[i], want[p]) {
						t.Fatalf("%v %v: largest at %d is %g, not %g", level, axes, i, y[i], want[p])
					}
					if m := float64(means[i]); !(math.Abs(m-sum[p]) <= within[p]) && !same(means[i], sum[p]) {
						t.Fatalf("%v %v: mean at %d is %g, not %g within %g", level, axes, i, m, sum[p], within[p])
					}
					if math.Float32bits(means[i]) != math.Float32bits(first[i]) && means[i] == means[i] {
						t.Fatalf("%v %v: mean at %d differs: %g, %g", level, axes, i, means[i], first[i])
					}
				}
			}
		}
	}
}

func TestWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	var lanes [16]float32
	for n := range 2100 {
		if n > 70 && n%61 != 0 {
			continue
		}
		x := floats(r, n)
		var sum, size float64
		most := math.Inf(-1)
		for _, v := range x {
			sum, size, most = sum+float64(v), size+math.Abs(float64(v)), max(most, float64(v))
		}
		for _, level := range isa.Levels() {
			if got := conv.SumOf(level, &lanes, x); !(math.Abs(got-sum) <= 0.5e-5*size) || got != conv.SumOf(isa.Portable, &lanes, x) {
				t.Errorf("%v: the sum of %d is %g, not %g", level, n, got, sum)
			}
			if got := conv.MostOf(level, &lanes, x); !same(got, most) {
				t.Errorf("%v: the largest of %d is %g, not %g", level, n, got, most)
			}
			if n > 1 {
				y := append([]float32{}, x...)
				y[0], y[n-1] = math.MaxFloat32, math.MaxFloat32
				if got := conv.SumOf(level, &lanes, y); !(math.Abs(got-2*math.MaxFloat32) < 1e-5*math.MaxFloat32) {
					t.Errorf("%v: the sum of %d with large ones is %g", level, n, got)
				}
			}
			if n > 0 {
				y := append([]float32{}, x...)
				y[r.IntN(n)] = float32(math.NaN())
				if got := conv.MostOf(level, &lanes, y); got == got {
					t.Errorf("%v: the largest of %d with NaN is %g", level, n, got)
				}
			}
		}
	}
}

// TestMeans: planes together have the means of their sums, also if these leave the range of
// floats on the way.
func TestMeans(t *testing.T) {
	var lanes [16]float32
	for _, level := range isa.Levels() {
		for _, size := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 49, 64, 196, 1023, 1024, 1025} {
			r := rand.New(rand.NewPCG(uint64(size), 17))
			x := atEnd(t, floats(r, 5*size+1)[:5*size])
			if size > 1 {
				x[0], x[1], x[size] = math.MaxFloat32, math.MaxFloat32, float32(math.NaN())
			}
			y, intact := guarded(5)
			conv.MeansOf(level, &lanes, y, x, size)
			intact(t)
			for i, got := range y {
				want := float32(conv.SumOf(level, &lanes, x[i*size:(i+1)*size]) / float64(size))
				if got != want && (got == got || want == want) {
					t.Errorf("%v: plane %d of %d has the mean %g, not %g", level, i, size, got, want)
				}
			}
		}
	}
}
