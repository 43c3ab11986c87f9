package npu

import (
	"fmt"
	"math"
)

// A ResultError is how far a result of one program is off from that of another: the
// one with the longer operands in products.
type ResultError struct {
	Name string
	// Max and Mean are the largest and the mean magnitude of the differences; Relative
	// is Max by the largest magnitude that the result should have.
	Max, Relative, Mean float64
	// Cosine is 1 less the cosine of the angle between the two results, taken as vectors.
	Cosine float64
}

// precisionRanks order precisions by the length of operands; f64 is longer than f32.
var precisionRanks = map[Precision]int{PrecisionF32: 1, PrecisionBF16: 2, PrecisionF16: 2, PrecisionInt8: 3}

// precisionsDiffer reports whether two sides compute products in different dtypes.
func precisionsDiffer(a, b *Options) bool {
	return a.Precision != b.Precision || (a.Scales == nil) != (b.Scales == nil)
}

// comparePrecisions holds the results of the side with shorter operands against the
// other's.
func comparePrecisions(sides [2]*compared, opts *TrialOptions) (*Comparison, error) {
	if precisionRanks[sides[0].opts.Precision] > precisionRanks[sides[1].opts.Precision] {
		sides[0], sides[1] = sides[1], sides[0]
	}
	return sides[0].errorsOf(sides[1], opts)
}

// errorsOf measures how far the results of d are off from those of c. Where a limit is
// given, the first that is further off differs.
func (c *compared) errorsOf(d *compared, opts *TrialOptions) (*Comparison, error) {
	if len(c.results) != len(d.results) {
		return nil, Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf("the two programs have %d and %d results", len(c.results), len(d.results))}}
	}
	out := &Comparison{Results: len(c.results)}
	for i, want := range c.results {
		got := d.results[i]
		if !TypeOf(want).Equal(TypeOf(got)) {
			return nil, Diagnostics{{Code: "wrong-arguments", Subject: c.fn.ResultName(i), Message: fmt.Sprintf("the result is %s in one program and %s in the other", TypeOf(want), TypeOf(got))}}
		}
		e := errorOf(got.Floats(), want.Floats())
		e.Name = c.fn.ResultName(i)
		out.Errors = append(out.Errors, e)
		limit := opts.within(0)
		if (opts.Exact || limit > 0) && !(e.Relative <= limit) && out.Differs == nil {
			out.Differs = &ValueDifference{Name: e.Name, Result: true, Difference: fmt.Sprintf("off by %.2g of the largest element, and the limit is %v", e.Relative, limit)}
		}
	}
	return out, nil
}

// errorOf measures how far got is off. What is no number on one side only, or not the
// same infinity, is infinitely far off.
func errorOf(got, want []float64) (e ResultError) {
	var largest, sum, dot, a, b float64
	for i, w := range want {
		g := got[i]
		off := math.Abs(g - w)
		if g == w || g != g && w != w {
			off = 0
		} else if off != off {
			off = math.Inf(1)
		}
		e.Max, sum = max(e.Max, off), sum+off
		if math.IsInf(g*w, 0) || g*w != g*w {
			continue // it has no direction
		}
		largest = max(largest, math.Abs(w))
		dot, a, b = dot+g*w, a+g*g, b+w*w
	}
	if len(want) > 0 {
		e.Mean = sum / float64(len(want))
	}
	if e.Max > 0 {
		e.Relative = e.Max / largest
	}
	if a != b || a != dot {
		e.Cosine = max(1-dot/(math.Sqrt(a)*math.Sqrt(b)), 0)
	}
	return e
}

// ErrorTable is a table of the errors of all results.
func (c *Comparison) ErrorTable() string {
	return align("lrrrr", func(row func(...string)) {
		row("result", "largest error", "of the largest", "mean error", "1 - cosine")
		for _, e := range c.Errors {
			row(e.Name, digits(e.Max), digits(e.Relative), digits(e.Mean), digits(e.Cosine))
		}
	})
}

func digits(x float64) string { return fmt.Sprintf("%.2g", x) }
