package passes

import (
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Casts in a row.
//
//	%0 = cast %x {dtype=f32} : f32[4]         %2 = cast %x {dtype=bf16} : bf16[4]
//	%1 = cast %0 {dtype=f64} : f64[4]    =>   (x: f16[4])
//	%2 = cast %1 {dtype=bf16} : bf16[4]
//
// The first of two casts may go if it loses nothing, so that the second sees the
// same number without it. That is not quite enough: of an integer that became a
// float, the second cast saturates where a cast from the integer wraps. Between
// integers the first may also lose what the second would lose anyway.
//
// So f16 -> f32 -> f16 goes, and f32 -> f16 -> f32 stays, as do i32 -> f32 -> i32
// (f32 has 24 digits), f64 -> f32 -> f16 (rounded twice) and f32 -> i32 -> i8.
// bitcast changes no bit, so that any two are one.
var castRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		anyOf("drop-cast", "a cast to the dtype that is there is none", []string{"cast", "bitcast"}, dropCast),
		guarded(built("merge-casts", "a cast that loses nothing before another one is left out", mergeCasts, "cast(cast(x, d), e)"), passing),
		rewrite.Own("merge-bitcasts", "of two bitcasts one is left",
			`bitcast(bitcast(x, d), e)  =>  bitcast(x, e)`),
	}
})

func dropCast(_ *rewrite.Builder, m *rewrite.Match) *ir.Value {
	if x := m.Root.Args[0]; x.Type.DType == m.Root.Type.DType {
		return x
	}
	return nil
}

func passing(m *rewrite.Match) bool {
	return passesThrough(m.Value("x").Type.DType, m.Inside[1].Type.DType, m.Root.Type.DType)
}

func mergeCasts(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	x := m.Value("x")
	if x.Type.DType == m.Root.Type.DType {
		return x
	}
	return b.With(ir.Cast, []*ir.Value{x}, m.Root.Attrs)
}

// passesThrough reports whether a cast from one dtype to another is the same by
// way of a third.
func passesThrough(from, by, to tensor.DType) bool {
	switch {
	case from.IsInt() && by.IsInt() && to.IsInt() && to.Size() <= by.Size():
		return true // both forms leave the low bits
	case !contains(by, from):
		return false
	case from.IsInt() && by.IsFloat() && to.IsInt():
		return contains(to, from)
	}
	return true
}

// A spread is what numbers a dtype holds: a sign or not, how many binary digits,
// and how far the exponent of a float goes (for integers the digits say it).
type spread struct {
	sign     bool
	digits   int
	exponent int // of the largest number; that of the smallest follows it
}

var spreads = map[tensor.DType]spread{
	tensor.Bool: {false, 1, 1},
	tensor.U8:   {false, 8, 8}, tensor.U16: {false, 16, 16}, tensor.U32: {false, 32, 32}, tensor.U64: {false, 64, 64},
	tensor.I8: {true, 7, 7}, tensor.I16: {true, 15, 15}, tensor.I32: {true, 31, 31}, tensor.I64: {true, 63, 63},
	tensor.F16: {true, 11, 16}, tensor.BF16: {true, 8, 128}, tensor.F32: {true, 24, 128}, tensor.F64: {true, 53, 1024},
}

// contains reports whether a dtype holds every number of another. The smallest
// integer of a signed dtype is a power of two, for which no digit is missing.
func contains(wide, narrow tensor.DType) bool {
	w, n := spreads[wide], spreads[narrow]
	if narrow.IsFloat() && !wide.IsFloat() {
		return false
	}
	return (w.sign || !n.sign) && w.digits >= n.digits && w.exponent >= n.exponent
}
