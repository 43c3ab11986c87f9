package norm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/norm"
)

// at finds element i of row r.
func at(s norm.Space, r, i int) int { return (r/s.Inner*s.N+i)*s.Inner + r%s.Inner }

func row(s norm.Space, x []float32, r int) []float64 {
	v := make([]float64, s.N)
	for i := range v {
		v[i] = float64(x[at(s, r, i)])
	}
	return v
}

// maps are the norms, and what they are in float64.
var maps = map[string]struct {
	run  func(x *norm.Scratch, l isa.Level, s norm.Space, lo, hi int, dst, src []float32, a norm.Affine)
	want func(v []float64, a norm.Affine) []float64
}{
	"softmax": {
		func(x *norm.Scratch, l isa.Level, s norm.Space, lo, hi int, dst, src []float32, _ norm.Affine) {
			x.Softmax(l, s, lo, hi, dst, src)
		},
		func(v []float64, _ norm.Affine) []float64 {
			top, total := slices.Max(v), 0.0
			for i := range v {
				v[i] = math.Exp(v[i] - top)
				total += v[i]
			}
			for i := range v {
				v[i] /= total
			}
			return v
		},
	},
	"log_softmax": {
		func(x *norm.Scratch, l isa.Level, s norm.Space, lo, hi int, dst, src []float32, _ norm.Affine) {
			x.LogSoftmax(l, s, lo, hi, dst, src)
		},
		func(v []float64, _ norm.Affine) []float64 {
			top, total := slices.Max(v), 0.0
			for _, w := range v {
				total += math.Exp(w - top)
			}
			for i := range v {
				v[i] -= top + math.Log(total)
			}
			return v
		},
	},
	"l2_normalize": {
		func(x *norm.Scratch, l isa.Level, s norm.Space, lo, hi int, dst, src []float32, _ norm.Affine) {
			x.L2Normalize(l, s, lo, hi, dst, src, 1e-12)
		},
		func(v []float64, _ norm.Affine) []float64 {
			total := 0.0
			for _, w := range v {
				total += w * w
			}
			for i := range v {
				v[i] /= max(math.Sqrt(total), 1e-12)
			}
			return v
		},
	},
	"layernorm": {
		func(x *norm.Scratch, l isa.Level, s norm.Space, lo, hi int, dst, src []float32, a norm.Affine) {
			x.LayerNorm(l, s, lo, hi, dst, src, a, 1e-5)
		},
		func(v []float64, a norm.Affine) []float64 {
			mean, squares := 0.0, 0.0
			for _, w := range v {
				mean += w / float64(len(v))
			}
			for i := range v {
				v[i] -= mean
				squares += v[i] * v[i]
			}
			return affine(v, math.Sqrt(squares/float64(len(v))+1e-5), a)
		},
	},
	"rmsnorm": {
		func(x *norm.Scratch, l isa.Level, s norm.Space, lo, hi int, dst, src []float32, a norm.Affine) {
			x.RMSNorm(l, s, lo, hi, dst, src, a, 1e-6)
		},
		func(v []float64, a norm.Affine) []float64 {
			squares := 0.0
			for _, w := range v {
				squares += w * w
			}
			return affine(v, math.Sqrt(squares/float64(len(v))+1e-6), a)
		},
	},
}

func affine(v []float64, root float64, a norm.Affine) []float64 {
	for i := range v {
		v[i] /= root
		if a.Weight != nil {
			v[i] *= float64(a.Weight[i])
		}
		if a.Bias != nil {
			v[i] += float64(a.Bias[i])
		}
	}
	return v
}

// spaces have rows of all kinds: in one piece, short, side by side, one only.
var spaces = func() (list []norm.Space) {
	for n := 1; n < 70; n++ {
		list = append(list, norm.Space{Outer: 3, N: n, Inner: 1}, norm.Space{Outer: 2, N: n % 9, Inner: n})
	}
	return append(list,
		norm.Space{Outer: 1, N: 1000, Inner: 1}, norm.Space{Outer: 200, N: 7, Inner: 1}, norm.Space{Outer: 129, N: 23, Inner: 1},
		norm.Space{Outer: 1, N: 3, Inner: 3000}, norm.Space{Outer: 1, N: 2000, Inner: 35}, norm.Space{Outer: 2, N: 300, Inner: 2}, norm.Space{Outer: 1, N: 90, Inner: 7}, norm.Space{Outer: 0, N: 4, Inner: 3}, norm.Space{Outer: 4, N: 0, Inner: 3})
}()

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64()*3 + 1)
	}
	return v
}

// TestMaps compares the norms with float64, in place and apart, by ranges of units and
// as a whole, and the levels with each other.
func TestMaps(t *testing.T) {
	var x norm.Scratch
	for name, m := range maps {
		for _, s := range spaces {
			r := rand.New(rand.NewPCG(uint64(s.N), uint64(s.Inner)))
			src := random(r, s.Size())
			a := norm.Affine{Weight: random(r, s.N), Bias: random(r, s.N)}
			if s.N%3 == 1 {
				a.Bias = nil
			}
			if s.N%4 == 1 {
				a.Weight = nil
			}
			if name == "rmsnorm" {
				a.Bias = nil
			}
			var first []float32
			for _, level := range norm.Levels() {
				dst := make([]float32, len(src))
				m.run(&x, level, s, 0, s.Units(), dst, src, a)
				check(t, fmt.Sprint(name, " ", level), s, src, dst, a, m.want)
				parts := slices.Clone(src)
				for u := s.Units() - 1; u >= 0; u-- {
					m.run(&x, level, s, u, u+1, parts, parts, a)
				}
				if !slices.Equal(parts, dst) {
					t.Fatalf("%s %v of %v: in place and by units the bits differ", name, level, s)
				}
				if level == isa.Portable || name == "softmax" || name == "log_softmax" {
					continue // exp differs there
				}
				if first == nil {
					first = dst
				}
				if !slices.Equal(first, dst) {
					t.Fatalf("%s of %v: %v gives other bits", name, s, level)
				}
			}
		}
	}
}

func check(t *testing.T, name string, s norm.Space, src, dst []float32, a norm.Affine, want func([]float64, norm.Affine) []float64) {
	t.Helper()
	for r := range s.Rows() {
		if s.N == 0 {
			return
		}
		for i, w := range want(row(s, src, r), a) {
			got := float64(dst[at(s, r, i)])
			most := 5e-7 * math.Abs(w)
			if a.Bias != nil {
				most = max(most, 5e-7*math.Abs(float64(a.Bias[i])))
			}
			if name[0] == 'l' {
				most = max(most, 3e-7) // differences of larger numbers
			}
			if math.Abs(got-w) > most {
				t.Fatalf("%s of %v: element %d of row %d is %v, want %v", name, s, i, r, got, w)
			}
		}
	}
}

// TestSoftmaxSubnormal: what is subnormal in the end has all its bits.
func TestSoftmaxSubnormal(t *testing.T) {
	var x norm.Scratch
	src := make([]float32, 40)
	for i := range src {
		src[i] = -float32(i) * 2.75
	}
	for _, level := range norm.Levels() {
		dst := make([]float32, len(src))
		x.Softmax(level, norm.Space{Outer: 1, N: 40, Inner: 1}, 0, 1, dst, src)
		total := 0.0
		for _, v := range src {
			total += math.Exp(float64(v))
		}
		for i, v := range dst {
			want := math.Exp(float64(src[i])) / total
			if math.Abs(float64(v)-want) > max(5e-7*want, 0x1p-149) {
				t.Errorf("%v: softmax(%v) is %v, want %v", level, src[i], v, want)
			}
		}
	}
}
