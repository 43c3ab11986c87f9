package passes

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// A span of values: every element of a tensor lies between two numbers, or is NaN.
//
//	%0 = cast %mask : f32[B,1,1,S]    -9.3e18 to 9.3e18   (%mask : i64)
//	%1 = sub 1.0, %0                  -9.3e18 to 9.3e18
//	%2 = mul %1, -10000.0             -9.3e22 to 9.3e22: never -inf
type values struct{ lo, hi float64 }

// rangeOf follows v back at most so many steps; false: nothing is known.
func rangeOf(v *ir.Value, depth int) (values, bool) {
	if v == nil || depth == 0 {
		return values{}, false
	}
	if v.Op == ir.Const {
		return rangeOfConst(v.Attrs[0].Tensor)
	}
	if t := rewrite.Splat(v); t != nil {
		return rangeOfConst(t)
	}
	rule, known := ranges[v.Op]
	if !known || truncates(v) {
		return ofDType(v.Type.DType)
	}
	args := make([]values, rule.args)
	for i := range args {
		a, ok := rangeOf(v.Args[len(v.Args)-rule.args+i], depth-1)
		if !ok {
			return ofDType(v.Type.DType)
		}
		args[i] = a
	}
	return rounded(v.Type.DType, rule.of(args))
}

// truncates reports whether v is a cast that is not the nearest number: of a float
// to an integer, which makes 0 of NaN besides, or to bool.
func truncates(v *ir.Value) bool {
	to := v.Type.DType
	return v.Op == ir.Cast && (to == tensor.Bool || to.IsInt() && v.Args[0].Type.DType.IsFloat())
}

// ranges holds how the last arguments of an operator bound its result. A bound that
// is NaN says nothing.
var ranges = map[*ir.Op]struct {
	args int
	of   func(a []values) values
}{
	ir.Add:     {2, func(a []values) values { return values{a[0].lo + a[1].lo, a[0].hi + a[1].hi} }},
	ir.Sub:     {2, func(a []values) values { return values{a[0].lo - a[1].hi, a[0].hi - a[1].lo} }},
	ir.Mul:     {2, func(a []values) values { return corners(a[0], a[1]) }},
	ir.Neg:     {1, func(a []values) values { return values{-a[0].hi, -a[0].lo} }},
	ir.Maximum: {2, func(a []values) values { return values{max(a[0].lo, a[1].lo), max(a[0].hi, a[1].hi)} }},
	ir.Minimum: {2, func(a []values) values { return values{min(a[0].lo, a[1].lo), min(a[0].hi, a[1].hi)} }},
	ir.Where:   {2, func(a []values) values { return values{min(a[0].lo, a[1].lo), max(a[0].hi, a[1].hi)} }},
	ir.Relu:    {1, func(a []values) values { return values{max(a[0].lo, 0), max(a[0].hi, 0)} }},
	ir.Cast:    {1, same}, ir.Reshape: {1, same}, ir.Expand: {1, same}, ir.Transpose: {1, same}, ir.Slice: {1, same},
	ir.Unsqueeze: {1, same}, ir.Squeeze: {1, same},
}

func same(a []values) values { return a[0] }

// corners bounds a product: it is largest and smallest where both factors are.
func corners(a, b values) values {
	p, q, r, s := a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi
	return values{min(p, q, r, s), max(p, q, r, s)}
}

// rounded is the range of what a dtype stores of numbers in a range. Integers wrap,
// so that one beyond their bounds, and in float64 perhaps at them, may be any.
func rounded(d tensor.DType, r values) (values, bool) {
	whole, ok := ofDType(d)
	switch {
	case math.IsNaN(r.lo) || math.IsNaN(r.hi):
		return whole, ok
	case d.IsFloat():
		return values{tensor.Round(d, r.lo), tensor.Round(d, r.hi)}, true
	case !ok || r.lo <= whole.lo || r.hi >= whole.hi:
		return whole, ok
	}
	return r, true
}

// ofDType is the range of all numbers of a dtype; of floats nothing is known.
func ofDType(d tensor.DType) (values, bool) {
	switch {
	case d == tensor.Bool:
		return values{0, 1}, true
	case d.IsInt():
		return values{float64(tensor.MinInt(d)), float64(tensor.MaxInt(d))}, true
	}
	return values{}, false
}

func rangeOfConst(t *tensor.T) (values, bool) {
	r := values{math.Inf(1), math.Inf(-1)}
	for i := range t.Len() {
		if x := t.FloatAt(i); !math.IsNaN(x) {
			r = values{min(r.lo, x), max(r.hi, x)}
		}
	}
	return r, true
}
