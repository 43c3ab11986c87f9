package norm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// specials are what loops have to take as Go does.
var specials = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-40, math.MaxFloat32, -math.MaxFloat32, 0x1p-126,
}

// A bed is memory for slices that begin at any place, with guards around them.
type bed struct {
	r     *rand.Rand
	odd   float64 // how many of the elements are specials
	f32   [][]float32
	f64   [][]float64
	i32   [][]int32
	check []func() bool
}

const guard = 17

// laid puts n elements behind off others.
func laid[E comparable](b *bed, n int, fill func() E) []E {
	off := 1 + b.r.IntN(guard-1)
	all := make([]E, off+n+guard)
	for i := range all {
		all[i] = fill()
	}
	before := append([]E{}, all...)
	b.check = append(b.check, func() bool {
		for i := range all {
			if (i < off || i >= off+n) && all[i] != before[i] && all[i] == all[i] {
				return false
			}
		}
		return true
	})
	return all[off : off+n : off+n]
}

func (b *bed) floats(n int) []float32 {
	s := laid(b, n, func() float32 {
		if b.r.Float64() < b.odd {
			return specials[b.r.IntN(len(specials))]
		}
		return float32(b.r.NormFloat64() * 10)
	})
	b.f32 = append(b.f32, s)
	return s
}

func (b *bed) doubles(n int) []float64 {
	s := laid(b, n, func() float64 { return b.r.NormFloat64() })
	b.f64 = append(b.f64, s)
	return s
}

func (b *bed) ints(n int) []int32 {
	s := laid(b, n, func() int32 { return b.r.Int32() })
	b.i32 = append(b.i32, s)
	return s
}

// trials runs each primitive on n elements and returns what it gives besides what it
// writes.
var trials = map[string]func(l *loops, b *bed, n int) []float64{
	"sum":       func(l *loops, b *bed, n int) []float64 { return []float64{l.sum(b.floats(n))} },
	"sumSquare": func(l *loops, b *bed, n int) []float64 { return []float64{l.sumSquare(b.floats(n))} },
	"sumAbs":    func(l *loops, b *bed, n int) []float64 { return []float64{l.sumAbs(b.floats(n))} },
	"moments": func(l *loops, b *bed, n int) []float64 {
		x, pivot := b.floats(n), float32(2)
		if n > 0 {
			pivot = x[0]
		}
		d, dd := l.moments(x, pivot)
		return []float64{d, dd}
	},
	"top": func(l *loops, b *bed, n int) []float64 {
		// A zero may have any sign.
		return []float64{float64(l.top(b.floats(n))) + 0}
	},
	"most":  func(l *loops, b *bed, n int) []float64 { return []float64{float64(l.most(b.floats(n)))} },
	"least": func(l *loops, b *bed, n int) []float64 { return []float64{float64(l.least(b.floats(n)))} },
	"find": func(l *loops, b *bed, n int) []float64 {
		x := b.floats(n)
		v := float32(3)
		if n > 0 && b.r.IntN(4) > 0 {
			v = x[b.r.IntN(n)]
		}
		return []float64{float64(l.find(x, v))}
	},
	"count": func(l *loops, b *bed, n int) []float64 { return []float64{float64(l.count(b.floats(n)))} },

	"sumColumns":       onColumns(func(l *loops) func([]float64, []float32) { return l.sumColumns }),
	"sumSquareColumns": onColumns(func(l *loops) func([]float64, []float32) { return l.sumSquareColumns }),
	"sumAbsColumns":    onColumns(func(l *loops) func([]float64, []float32) { return l.sumAbsColumns }),
	"prodColumns":      onColumns(func(l *loops) func([]float64, []float32) { return l.prodColumns }),
	"momentsColumns": func(l *loops, b *bed, n int) []float64 {
		l.momentsColumns(b.doubles(n), b.doubles(n), b.floats(n), b.floats(n))
		return nil
	},
	"mostColumns":  func(l *loops, b *bed, n int) []float64 { l.mostColumns(b.floats(n), b.floats(n)); return nil },
	"leastColumns": func(l *loops, b *bed, n int) []float64 { l.leastColumns(b.floats(n), b.floats(n)); return nil },
	"mostPlaces": func(l *loops, b *bed, n int) []float64 {
		l.mostPlaces(b.floats(n), b.ints(n), b.floats(n), 7)
		return nil
	},
	"leastPlaces": func(l *loops, b *bed, n int) []float64 {
		l.leastPlaces(b.floats(n), b.ints(n), b.floats(n), 7)
		return nil
	},
	"scale": func(l *loops, b *bed, n int) []float64 { l.scale(b.floats(n), b.floats(n), b.floats(1)[0]); return nil },
	"scaleColumns": func(l *loops, b *bed, n int) []float64 {
		l.scaleColumns(b.floats(n), b.floats(n), b.floats(n))
		return nil
	},
	"lower": func(l *loops, b *bed, n int) []float64 {
		l.lower(b.floats(n), b.floats(n), b.doubles(1)[0])
		return nil
	},
	"stretch": func(l *loops, b *bed, n int) []float64 {
		l.stretch(b.floats(n), b.floats(n), b.doubles(1)[0])
		return nil
	},
	"lowerColumns": func(l *loops, b *bed, n int) []float64 {
		l.lowerColumns(b.floats(n), b.floats(n), b.doubles(n))
		return nil
	},
	"stretchColumns": func(l *loops, b *bed, n int) []float64 {
		l.stretchColumns(b.floats(n), b.floats(n), b.doubles(n))
		return nil
	},
	"normalWeight": func(l *loops, b *bed, n int) []float64 {
		s := b.floats(3)
		l.normalWeight(b.floats(n), b.floats(n), b.floats(n), s[0], s[1], s[2])
		return nil
	},
	"normalBias": func(l *loops, b *bed, n int) []float64 {
		s := b.floats(3)
		l.normalBias(b.floats(n), b.floats(n), b.floats(n), s[0], s[1], s[2])
		return nil
	},
	"normalAffine": func(l *loops, b *bed, n int) []float64 {
		s := b.floats(3)
		l.normalAffine(b.floats(n), b.floats(n), b.floats(n), b.floats(n), s[0], s[1], s[2])
		return nil
	},
	"normalChannel": func(l *loops, b *bed, n int) []float64 {
		s := b.floats(5)
		l.normalChannel(b.floats(n), b.floats(n), s[0], s[1], s[2], s[3], s[4])
		return nil
	},
	"normalColumns": func(l *loops, b *bed, n int) []float64 {
		s := b.floats(2)
		l.normalColumns(b.floats(n), b.floats(n), b.floats(n), b.floats(n), b.floats(n), s[0], s[1])
		return nil
	},
	"normalEach": func(l *loops, b *bed, n int) []float64 {
		l.normalEach(b.floats(n), b.floats(n), b.floats(n), b.floats(n), b.floats(n), b.floats(n))
		return nil
	},
	"turn": func(l *loops, b *bed, n int) []float64 {
		rows, cols := n%19, n%23
		srcStep, dstStep := cols+b.r.IntN(3), rows+b.r.IntN(3)
		l.turn(b.floats(max(cols*dstStep, 0)), dstStep, b.floats(rows*srcStep), srcStep, rows, cols)
		return nil
	},
}

func onColumns(f func(l *loops) func([]float64, []float32)) func(*loops, *bed, int) []float64 {
	return func(l *loops, b *bed, n int) []float64 {
		f(l)(b.doubles(n), b.floats(n))
		return nil
	}
}

// outcome runs a trial and lists all that it gives and leaves, any NaN as the same.
func outcome(t *testing.T, name string, l *loops, seed uint64, odd float64, n int) (all []uint64) {
	t.Helper()
	b := &bed{r: rand.New(rand.NewPCG(seed, uint64(n))), odd: odd}
	got := trials[name](l, b, n)
	for i, ok := range b.check {
		if !ok() {
			t.Fatalf("%s of %d elements writes beyond operand %d", name, n, i)
		}
	}
	add := func(v float64) {
		if v != v {
			v = math.NaN()
		}
		all = append(all, math.Float64bits(v))
	}
	for _, s := range append(b.f64, got) {
		for _, v := range s {
			add(v)
		}
	}
	for _, s := range b.f32 {
		for _, v := range s {
			add(float64(v))
		}
	}
	for _, s := range b.i32 {
		for _, v := range s {
			add(float64(v))
		}
	}
	return all
}

// TestLoops compares the primitives of every level with those in Go, bit for bit.
func TestLoops(t *testing.T) {
	for _, level := range Levels() {
		for name := range trials {
			for n := range 140 {
				for seed, odd := range []float64{0, 0.02, 0.3, 1} {
					got := outcome(t, name, levels[level], uint64(seed), odd, n)
					want := outcome(t, name, &portable, uint64(seed), odd, n)
					if !slices.Equal(got, want) {
						t.Fatalf("%s of %d elements on %v (seed %d):\n%x\nwant\n%x", name, n, level, seed, got, want)
					}
				}
			}
		}
	}
}

// TestLoopsAll sees to it that each primitive of the table is tried.
func TestLoopsAll(t *testing.T) {
	exps := 3 + 2 // TestExp, topColumns in TestTop, and pieces, of which TestHalt tells
	if fields := int(unsafe.Sizeof(loops{}) / unsafe.Sizeof(func() {})); len(trials)+exps != fields {
		t.Errorf("%d primitives, %d of them tried", fields, len(trials)+exps)
	}
}

// TestTop: topColumns keeps the sums of a column from NaN, whatever the sign of zeros.
func TestTop(t *testing.T) {
	for _, level := range Levels() {
		for n := range 70 {
			b := &bed{r: rand.New(rand.NewPCG(5, uint64(n))), odd: 0.5}
			acc, x := b.floats(n), b.floats(n)
			want := make([]float32, n)
			for i, v := range x {
				if acc[i] != acc[i] {
					acc[i] = float32(math.Inf(-1))
				}
				want[i] = topOf(v, acc[i])
			}
			levels[level].topColumns(acc, x)
			for i, v := range acc {
				if v != want[i] || !b.check[0]() {
					t.Fatalf("%v: column %d of %d is %v, want %v", level, i, n, v, want[i])
				}
			}
		}
	}
}

// ulps is how many steps of float32 a lies from b.
func ulps(a float32, b float64) float64 {
	if float64(a) == b || a != a && b != b {
		return 0
	}
	near := float32(b)
	step := math.Max(float64(math.Nextafter32(float32(math.Abs(float64(near))), float32(math.Inf(1)))-float32(math.Abs(float64(near)))), math.SmallestNonzeroFloat32)
	return math.Abs(float64(a)-b) / step
}

// TestExp compares the exponentials with float64, and the levels with each other.
func TestExp(t *testing.T) {
	for _, level := range Levels() {
		l := at(level)
		worst := 0.0
		for n := range 300 {
			b := &bed{r: rand.New(rand.NewPCG(6, uint64(n)))}
			x, dst := b.floats(n), b.floats(n)
			for i := range x {
				x[i] *= float32(math.Exp(b.r.Float64()*6 - 4))
			}
			top := l.top(x)
			sum := l.exp(dst, x, top, unscaled.magic, unscaled.cut)
			total := 0.0
			for i, v := range x {
				want := math.Exp(float64(v) - float64(top))
				if v-top < unscaled.cut {
					want = 0
				}
				worst = max(worst, ulps(dst[i], want))
				total += float64(dst[i])
			}
			if math.Abs(sum-total) > 0x1p-22*total {
				t.Errorf("%v: %d exponentials add up to %v, want %v", level, n, sum, total)
			}
			if again := l.expSum(x, top, unscaled.magic, unscaled.cut); again != sum {
				t.Errorf("%v: without results the sum is %v, not %v", level, again, sum)
			}
			columns, sums := b.floats(n), make([]float64, n)
			tops := make([]float32, n)
			for i := range tops {
				tops[i] = top
			}
			l.expColumns(columns, sums, x, tops, unscaled.magic, unscaled.cut)
			for i, v := range columns {
				if v != dst[i] || sums[i] != float64(v) {
					t.Fatalf("%v: column %d of %d is %v and adds %v, want %v", level, i, n, v, sums[i], dst[i])
				}
			}
			for i, ok := range b.check {
				if !ok() {
					t.Fatalf("%v: operand %d of %d elements: written beyond", level, i, n)
				}
			}
		}
		if worst > 1.5 {
			t.Errorf("%v: exp is %.2f ulp off", level, worst)
		}
		t.Logf("%v: at most %.3f ulp", level, worst)
	}
}

// TestExpSpecial: what is no number, or infinite, or at the ends of the range.
func TestExpSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	odd := math.Float32frombits(0x7fc00101) // a NaN with bits at its end
	for _, level := range Levels() {
		l := at(level)
		for _, c := range []struct{ x, top, want float32 }{
			{0, 0, 1}, {-inf, 0, 0}, {-inf, -inf, nan}, {inf, inf, nan}, {1, inf, 0}, {nan, 0, nan}, {odd, 3, nan},
			{-math.MaxFloat32, math.MaxFloat32, 0}, {-200, 0, 0}, {1e30, 1e30, 1}, {math.SmallestNonzeroFloat32, 0, 1},
		} {
			for n := 1; n < 40; n++ {
				x, dst := make([]float32, n), make([]float32, n)
				for i := range x {
					x[i] = c.x
				}
				l.exp(dst, x, c.top, raised.magic, raised.cut)
				for _, v := range dst {
					if v /= 0x1p64; v != c.want && (v == v || c.want == c.want) {
						t.Fatalf("%v: exp(%v - %v) is %v, want %v", level, c.x, c.top, v, c.want)
					}
				}
			}
		}
	}
}
