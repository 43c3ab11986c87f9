package norm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/norm"
)

// reductions are what rows are brought to in float64. The place of the first of the
// best is counted along the row.
var reductions = map[norm.Reduction]func(v []float64) float64{
	norm.Sum:       func(v []float64) float64 { return total(v, func(x float64) float64 { return x }) },
	norm.Mean:      func(v []float64) float64 { return mean(v) },
	norm.SumSquare: func(v []float64) float64 { return total(v, func(x float64) float64 { return x * x }) },
	norm.Norm1:     func(v []float64) float64 { return total(v, math.Abs) },
	norm.Norm2:     func(v []float64) float64 { return math.Sqrt(total(v, func(x float64) float64 { return x * x })) },
	norm.Prod: func(v []float64) float64 {
		p := 1.0
		for _, x := range v {
			p *= x
		}
		return p
	},
	norm.Max: func(v []float64) float64 { return v[best(v, func(a, b float64) bool { return a > b })] },
	norm.Min: func(v []float64) float64 { return v[best(v, func(a, b float64) bool { return a < b })] },
	norm.Variance: func(v []float64) float64 {
		m := mean(v)
		return total(v, func(x float64) float64 { return (x - m) * (x - m) }) / float64(len(v)-1)
	},
	norm.Std: func(v []float64) float64 {
		m := mean(v)
		return math.Sqrt(total(v, func(x float64) float64 { return (x - m) * (x - m) }) / float64(len(v)-1))
	},
	norm.LogSumExp:    func(v []float64) float64 { return math.Log(total(v, math.Exp)) },
	norm.Any:          func(v []float64) float64 { return min(nonzero(v), 1) },
	norm.All:          func(v []float64) float64 { return math.Floor(nonzero(v) / float64(len(v))) },
	norm.CountNonzero: nonzero,
	norm.ArgMax:       func(v []float64) float64 { return float64(best(v, func(a, b float64) bool { return a > b })) },
	norm.ArgMin:       func(v []float64) float64 { return float64(best(v, func(a, b float64) bool { return a < b })) },
}

func total(v []float64, of func(float64) float64) (sum float64) {
	for _, x := range v {
		sum += of(x)
	}
	return sum
}

func mean(v []float64) float64 {
	return total(v, func(x float64) float64 { return x }) / float64(len(v))
}

func nonzero(v []float64) float64 {
	return total(v, func(x float64) float64 {
		if x != 0 {
			return 1
		}
		return 0
	})
}

func best(v []float64, beats func(a, b float64) bool) (at int) {
	for i, x := range v {
		if beats(x, v[at]) {
			at = i
		}
	}
	return at
}

// TestFolds compares reductions with float64, by units and as a whole, also of rows that
// lie in several stretches.
func TestFolds(t *testing.T) {
	var x norm.Scratch
	for _, s := range spaces {
		if s.Size() == 0 || s.N < 2 {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(s.N), uint64(s.Inner)))
		for times := 1; times <= 3; times += 2 {
			y := norm.Layout{Space: s, Times: times, Apart: s.Size()}
			src := random(r, s.Size()*times)
			for i := range src {
				if r.IntN(9) == 0 {
					src[i] = 0
				}
				if r.IntN(20) == 0 {
					src[i] = 5 // equal ones
				}
			}
			for f, want := range reductions {
				if times > 1 && (f == norm.ArgMax || f == norm.ArgMin) {
					continue
				}
				for _, level := range norm.Levels() {
					got, again := make([]float32, s.Rows()), make([]float32, s.Rows())
					x.Fold(level, f, &y, 0, y.Units(), norm.Results{F32: got}, src, 1)
					for u := y.Units() - 1; u >= 0; u-- {
						x.Fold(level, f, &y, u, u+1, norm.Results{F32: again}, src, 1)
					}
					for i, v := range got {
						var elements []float64
						for k := range times {
							elements = append(elements, row(s, src[k*y.Apart:], i)...)
						}
						w, least := want(elements), 1e-3
						if f == norm.LogSumExp {
							least = 1 // the error is that of the sum
						}
						w = float64(float32(w))
						if v != again[i] || float64(v) != w && !(math.Abs(float64(v)-w) <= 3e-7*max(math.Abs(w), least)) {
							t.Fatalf("reduction %d on %v of row %d of %v, %d times: %v, by units %v, want %v", f, level, i, s, times, v, again[i], w)
						}
					}
				}
			}
		}
	}
}
