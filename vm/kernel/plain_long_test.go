package kernel_test

import (
	"math"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/long"
)

// TestLongPairs has pairs of numbers of eight bytes at the ends of their ranges, and what
// floats hold beside numbers, in the operators that have loops for them.
func TestLongPairs(t *testing.T) {
	const both, tests = "add sub mul neg", "equal not_equal less less_equal greater greater_equal"
	longs := []int64{0, 1, -1, 2, -7, 1 << 31, 1<<31 - 1, -1 << 31, 1 << 32, 1<<32 - 1, -1 << 32, 0x123456789abcdef, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 99, -1e18}
	for _, c := range []struct {
		dtype tensor.DType
		ops   string
		casts []tensor.DType
	}{
		{tensor.I64, both + " " + tests + " maximum minimum abs relu bit_and bit_or bit_xor bit_not", []tensor.DType{tensor.I32, tensor.U32, tensor.Bool, tensor.F32}},
		{tensor.U64, both + " " + tests + " maximum minimum bit_and bit_or bit_xor bit_not", []tensor.DType{tensor.I32, tensor.U32, tensor.Bool}},
		{tensor.F64, both + " " + tests + " div sqrt rsqrt reciprocal square abs relu sign round floor ceil trunc", []tensor.DType{tensor.F32}},
		{tensor.I32, "", []tensor.DType{tensor.I64, tensor.U64, tensor.F64}},
		{tensor.U32, "", []tensor.DType{tensor.I64, tensor.U64}},
		{tensor.F32, "", []tensor.DType{tensor.F64, tensor.I64}},
	} {
		x := tensor.New(c.dtype, 17)
		for i, v := range longs {
			if x.SetInt(i, v); c.dtype.IsFloat() {
				x.SetFloat(i, oddDoubles[i])
			}
		}
		down := &tensor.T{DType: x.DType, Shape: []int{17, 1}, Data: x.Data}
		for _, op := range strings.Fields(c.ops) {
			if len(ir.Lookup(op).Args) == 1 {
				opHolds(t, "plain", op, nil, x)
				continue
			}
			opHolds(t, "plain", op, nil, down, x)
		}
		for _, to := range c.casts {
			opHolds(t, "plain", "cast", []ir.Lit{ir.DTypeLit(to)}, x)
		}
		if c.ops != "" {
			is := tensor.New(tensor.Bool, 1, 17)
			for i := range is.Data {
				is.Data[i] = uint8(i) % 3 & 1
			}
			opHolds(t, "plain", "where", nil, is, down, x)
		}
	}
}

var oddDoubles = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 0.5, 1.5, -2.5, 5e-324, -1e-310, math.MaxFloat64, 1<<52 + 0.5, 1e-40, -3e38, 0x1.000001p0}

// TestLongNames holds the names of loops to those that there are.
func TestLongNames(t *testing.T) {
	for name := range kernel.LongNames() {
		if isa.Has(isa.AVX2) && long.Of(isa.AVX2, name) == nil {
			t.Errorf("there is no loop %s", name)
		}
	}
}
