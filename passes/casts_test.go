package passes

import (
	"math"
	"testing"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Two casts are one where passesThrough says so: every number of a narrow
// dtype, and many of a wide one, come out the same.
func TestPassesThrough(t *testing.T) {
	for _, from := range tensor.DTypes {
		x, _ := numbers(from)
		for _, by := range tensor.DTypes {
			over := cast(x, by)
			for _, to := range tensor.DTypes {
				if !passesThrough(from, by, to) {
					continue
				}
				if d := rewrite.Differ(cast(over, to), cast(x, to), 0); d != nil {
					t.Errorf("%s by way of %s to %s is not the same: %v", from, by, to, d)
				}
			}
		}
	}
}

func cast(x *tensor.T, d tensor.DType) *tensor.T {
	out := tensor.New(d, x.Shape...)
	tensor.CastInto(out, x)
	return out
}

// contains is about the ends of a dtype, too.
func TestContains(t *testing.T) {
	for _, c := range []struct {
		wide, narrow tensor.DType
		want         bool
	}{
		{tensor.F32, tensor.F16, true}, {tensor.F32, tensor.BF16, true}, {tensor.BF16, tensor.F16, false}, {tensor.F16, tensor.BF16, false},
		{tensor.F32, tensor.I16, true}, {tensor.F32, tensor.I32, false}, {tensor.F64, tensor.U32, true}, {tensor.F64, tensor.I64, false},
		{tensor.F16, tensor.U8, true}, {tensor.BF16, tensor.U8, true}, {tensor.F16, tensor.I16, false},
		{tensor.I16, tensor.U8, true}, {tensor.I8, tensor.U8, false}, {tensor.U64, tensor.I8, false}, {tensor.I32, tensor.F16, false},
	} {
		if contains(c.wide, c.narrow) != c.want {
			t.Errorf("%s holds every %s: %v", c.wide, c.narrow, !c.want)
		}
	}
	for d, s := range spreads {
		if d.IsFloat() && !holds(d, math.Ldexp(1, s.exponent-1)) || d.IsFloat() && holds(d, math.Ldexp(1, s.exponent)) {
			t.Errorf("the exponents of %s do not end at %d", d, s.exponent)
		}
	}
}
