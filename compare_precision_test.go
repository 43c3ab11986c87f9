package npu

import (
	"math"
	"testing"
)

// TestErrorOf measures small vectors, with what is no number among them.
func TestErrorOf(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want                   []float64
		most, relative, mean, angle float64
	}{
		{nil, nil, 0, 0, 0, 0},
		{[]float64{0, 0}, []float64{0, 0}, 0, 0, 0, 0},
		{[]float64{1, 2}, []float64{1, 2}, 0, 0, 0, 0},
		{[]float64{1, 3}, []float64{1, -4}, 7, 1.75, 3.5, 1 + 11/math.Sqrt(170)},
		{[]float64{0, 2}, []float64{0, 1}, 1, 1, 0.5, 0},
		{[]float64{1, 0}, []float64{0, 1}, 1, 1, 1, 1},
		{[]float64{nan, inf, 4}, []float64{nan, inf, 5}, 1, 0.2, 1.0 / 3, 0},
		{[]float64{nan, 1}, []float64{1, 1}, inf, inf, inf, 0},
		{[]float64{inf, 1}, []float64{-inf, 1}, inf, inf, inf, 0},
	} {
		e := errorOf(c.got, c.want)
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-12 }
		if !near(e.Max, c.most) || !near(e.Relative, c.relative) || !near(e.Mean, c.mean) || !near(e.Cosine, c.angle) {
			t.Errorf("%v for %v: %+v, want %+v", c.got, c.want, e, c)
		}
	}
}

// TestComparePrecisions: the side with longer operands is what is right, whichever is
// named first, and a limit makes a difference of what is above it.
func TestComparePrecisions(t *testing.T) {
	side := func(p Precision) Side {
		return Side{Script("s.npu", "param w: f32[40, 6]\ngraph main(x: f32[B, 40]) -> (y: f32[B, 6], n: i64[]) { return x @ w, 3 }"), Options{Precision: p, RandomWeights: true, Dims: map[string]int64{"B": 5}}}
	}
	last := 0.0
	for _, p := range []Precision{PrecisionF16, PrecisionBF16, PrecisionInt8} {
		c, err := Compare(side(""), side(p), TrialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		turned, err := Compare(side(p), side(PrecisionF32), TrialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Errors) != 2 || c.Differs != nil || c.Errors[0] != turned.Errors[0] || c.Errors[1].Max != 0 {
			t.Errorf("%s: %+v and %+v", p, c, turned)
		}
		if e := c.Errors[0]; e.Name != "y" || !(e.Relative > last) || e.Relative > 0.02 || !(e.Cosine > 0) {
			t.Errorf("%s: %+v", p, e)
		}
		last = c.Errors[0].Relative
	}
	c, err := Compare(side(PrecisionBF16), side(PrecisionInt8), TrialOptions{Tolerance: 1e-9})
	if err != nil || c.Differs == nil || c.Differs.Name != "y" {
		t.Errorf("%+v, %v", c, err)
	}
}
