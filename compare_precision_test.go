package npu

import (
	"math"
	"path/filepath"
	"strings"
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
	for p, differs := range map[Precision]bool{PrecisionBF16: true, PrecisionF32: false} {
		if c, err := Compare(side(""), side(p), TrialOptions{Exact: true}); err != nil || (c.Differs != nil) != differs {
			t.Errorf("to the bit at %s: %+v, %v", p, c, err)
		}
	}
	double := Script("d.npu", "param w: f64[40, 6]\ngraph main(x: f64[5, 40]) -> (y: f64[5, 6]) { return x @ w }")
	c, err = Compare(Side{double, Options{Precision: PrecisionF32}}, Side{double, Options{}}, TrialOptions{})
	if err != nil || len(c.Errors) != 1 || !(c.Errors[0].Max > 0) || c.Errors[0].Relative > 1e-6 {
		t.Errorf("f32 of f64: %+v, %v", c, err)
	}
}

// TestCompareCompiled: a compiled file is compared at the precision that it was built
// with, whether that is asked for or not.
func TestCompareCompiled(t *testing.T) {
	script := Script("s.npu", "param w: f32[40, 6]\ngraph main(x: f32[5, 40]) -> (y: f32[5, 6]) { return x @ w }")
	p, err := Compile(script, Options{RandomWeights: true, Precision: PrecisionInt8})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	path := filepath.Join(t.TempDir(), "s.npuc")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	written, file := Side{script, Options{RandomWeights: true}}, Side{File(path), Options{}}
	for _, sides := range [][2]Side{{written, file}, {file, written}} {
		c, err := Compare(sides[0], sides[1], TrialOptions{})
		if err != nil || len(c.Errors) != 1 || !(c.Errors[0].Max > 0) || c.Errors[0].Relative > 0.02 {
			t.Errorf("%+v, %v", c, err)
		}
	}
	asked := Side{File(path), Options{Precision: PrecisionInt8}}
	_, err = Compare(asked, file, TrialOptions{})
	if err == nil || !strings.Contains(err.Error(), "both programs have their products at precision int8") {
		t.Errorf("the file and itself: %v", err)
	}
	if c, err := Compare(asked, asked, TrialOptions{}); err != nil || c.Errors != nil || c.Differs != nil {
		t.Errorf("the file and itself at one precision: %+v, %v", c, err)
	}
}
