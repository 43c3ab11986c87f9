package kernel

import (
	"maps"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
)

// A plainLoop computes n elements of d from as many of each argument, which lie
// behind each other. d may be one of the arguments.
type plainLoop func(d unsafe.Pointer, in [3]unsafe.Pointer, n int)

// elements shows n elements at p.
func elements[E any](p unsafe.Pointer, n int) []E { return unsafe.Slice((*E)(p), n) }

type anyInt interface {
	int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8
}

type anyNumber interface {
	anyInt | float64 | float32
}

// pairOf shows the first two arguments, as long as d.
func pairOf[E any](d unsafe.Pointer, in [3]unsafe.Pointer, n int) (to, a, b []E) {
	return elements[E](d, n), elements[E](in[0], n), elements[E](in[1], n)
}

// Arithmetic wraps, as the reference does that computes wider and drops what is
// above.

func addLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] + b[i]
	}
}

func subLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] - b[i]
	}
}

func mulLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] * b[i]
	}
}

func maxLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = max(a[i], b[i])
	}
}

func minLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = min(a[i], b[i])
	}
}

// divLoop is for floats; quotientLoop is for integers.
func divLoop[E float64 | float32](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] / b[i]
	}
}

func andLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] & b[i]
	}
}

func orLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] | b[i]
	}
}

func xorLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[E](d, in, n)
	for i := range to {
		to[i] = a[i] ^ b[i]
	}
}

func negLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, _ := pairOf[E](d, [3]unsafe.Pointer{in[0], in[0]}, n)
	for i := range to {
		to[i] = -a[i]
	}
}

// absLoop is for integers, the smallest of which stays what it is.
func absLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, _ := pairOf[E](d, [3]unsafe.Pointer{in[0], in[0]}, n)
	for i, v := range a {
		if v < 0 {
			v = -v
		}
		to[i] = v
	}
}

func squareLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, _ := pairOf[E](d, [3]unsafe.Pointer{in[0], in[0]}, n)
	for i := range to {
		to[i] = a[i] * a[i]
	}
}

// truthOf is 1 or 0, without a jump.
func truthOf(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

func equalLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := elements[uint8](d, n), elements[E](in[0], n), elements[E](in[1], n)
	for i := range to {
		to[i] = truthOf(a[i] == b[i])
	}
}

func notEqualLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := elements[uint8](d, n), elements[E](in[0], n), elements[E](in[1], n)
	for i := range to {
		to[i] = truthOf(a[i] != b[i])
	}
}

func lessLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := elements[uint8](d, n), elements[E](in[0], n), elements[E](in[1], n)
	for i := range to {
		to[i] = truthOf(a[i] < b[i])
	}
}

func lessEqualLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := elements[uint8](d, n), elements[E](in[0], n), elements[E](in[1], n)
	for i := range to {
		to[i] = truthOf(a[i] <= b[i])
	}
}

// swapped lets the arguments change places: a > b is b < a, of NaN too.
func swapped(f plainLoop) plainLoop {
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) { f(d, [3]unsafe.Pointer{in[1], in[0]}, n) }
}

// whereLoop chooses by bytes that are 0 or 1, bit for bit.
func whereLoop[E uint64 | uint32 | uint16 | uint8](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, c, a, b := elements[E](d, n), elements[uint8](in[0], n), elements[E](in[1], n), elements[E](in[2], n)
	for i := range to {
		mask := -E(c[i])
		to[i] = a[i]&mask | b[i]&^mask
	}
}

// Casts by the rules of tensor.Cast.

// castLoop is Go's conversion, where that is the rule: among integers, which wrap,
// and to floats, which are rounded once.
func castLoop[A, B anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[B](d, n), elements[A](in[0], n)
	for i := range to {
		to[i] = B(a[i])
	}
}

// saturateLoop truncates floats toward zero within the range of an integer; NaN is
// 0.
func saturateLoop[A float64 | float32, B anyInt](lo, hi B) plainLoop {
	low, high := float64(lo), float64(hi) // see tensor.Saturate
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		to, a := elements[B](d, n), elements[A](in[0], n)
		for i := range to {
			switch v := float64(a[i]); {
			case v > low && v < high:
				to[i] = B(v)
			case v >= high:
				to[i] = hi
			case v <= low:
				to[i] = lo
			default:
				to[i] = 0
			}
		}
	}
}

// boolLoop tells what is not 0; NaN is not.
func boolLoop[A anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[uint8](d, n), elements[A](in[0], n)
	for i := range to {
		to[i] = truthOf(a[i] != 0)
	}
}

// fromBoolLoop makes 0 and 1 of bytes.
func fromBoolLoop[B anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[B](d, n), elements[uint8](in[0], n)
	for i := range to {
		to[i] = B(truthOf(a[i] != 0))
	}
}

// intCasts are the casts from an integer dtype.
func intCasts[A anyInt]() map[tensor.DType]plainLoop {
	return map[tensor.DType]plainLoop{
		tensor.F64: castLoop[A, float64], tensor.F32: castLoop[A, float32],
		tensor.I64: castLoop[A, int64], tensor.I32: castLoop[A, int32], tensor.I16: castLoop[A, int16], tensor.I8: castLoop[A, int8],
		tensor.U64: castLoop[A, uint64], tensor.U32: castLoop[A, uint32], tensor.U16: castLoop[A, uint16], tensor.U8: castLoop[A, uint8],
		tensor.Bool: boolLoop[A],
	}
}

// floatCasts are the casts from a float dtype.
func floatCasts[A float64 | float32]() map[tensor.DType]plainLoop {
	return map[tensor.DType]plainLoop{
		tensor.F64: castLoop[A, float64], tensor.F32: castLoop[A, float32],
		tensor.I64: saturateFor[A, int64](tensor.I64), tensor.I32: saturateFor[A, int32](tensor.I32),
		tensor.I16: saturateFor[A, int16](tensor.I16), tensor.I8: saturateFor[A, int8](tensor.I8),
		tensor.U64: saturateFor[A, uint64](tensor.U64), tensor.U32: saturateFor[A, uint32](tensor.U32),
		tensor.U16: saturateFor[A, uint16](tensor.U16), tensor.U8: saturateFor[A, uint8](tensor.U8),
		tensor.Bool: boolLoop[A],
	}
}

// clampLoop is saturateLoop for integers whose bounds floats of eight bytes hold
// exactly: without jumps that depend on the values, but for NaN.
func clampLoop[A float64 | float32, B anyInt](lo, hi B) plainLoop {
	low, high := float64(lo), float64(hi)
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		to, a := elements[B](d, n), elements[A](in[0], n)
		for i := range to {
			v := float64(a[i])
			if v != v {
				v = 0
			}
			to[i] = B(int64(min(max(v, low), high)))
		}
	}
}

func saturateFor[A float64 | float32, B anyInt](d tensor.DType) plainLoop {
	if d.Size() <= 4 {
		return clampLoop[A](B(tensor.MinInt(d)), B(tensor.MaxInt(d)))
	}
	return saturateLoop[A](B(tensor.MinInt(d)), B(tensor.MaxInt(d)))
}

// plainCasts are all casts, by the dtypes from and to.
var plainCasts = map[tensor.DType]map[tensor.DType]plainLoop{
	tensor.F64: floatCasts[float64](), tensor.F32: floatCasts[float32](),
	tensor.I64: intCasts[int64](), tensor.I32: intCasts[int32](), tensor.I16: intCasts[int16](), tensor.I8: intCasts[int8](),
	tensor.U64: intCasts[uint64](), tensor.U32: intCasts[uint32](), tensor.U16: intCasts[uint16](), tensor.U8: intCasts[uint8](),
	tensor.Bool: {
		tensor.F64: fromBoolLoop[float64], tensor.F32: fromBoolLoop[float32],
		tensor.I64: fromBoolLoop[int64], tensor.I32: fromBoolLoop[int32], tensor.I16: fromBoolLoop[int16], tensor.I8: fromBoolLoop[int8],
		tensor.U64: fromBoolLoop[uint64], tensor.U32: fromBoolLoop[uint32], tensor.U16: fromBoolLoop[uint16], tensor.U8: fromBoolLoop[uint8],
		tensor.Bool: fromBoolLoop[uint8],
	},
}

// numberLoops are the loops of one dtype that every number has.
func numberLoops[E anyNumber]() map[string]plainLoop {
	return map[string]plainLoop{
		"add": addLoop[E], "sub": subLoop[E], "mul": mulLoop[E], "maximum": maxLoop[E], "minimum": minLoop[E],
		"neg": negLoop[E], "square": squareLoop[E],
		"equal": equalLoop[E], "not_equal": notEqualLoop[E], "less": lessLoop[E], "less_equal": lessEqualLoop[E],
		"greater": swapped(lessLoop[E]), "greater_equal": swapped(lessEqualLoop[E]),
		"prelu": preluLoop[E], "clip": clipLoop[E], "bias_add": addLoop[E],
	}
}

func intLoops[E anyInt]() map[string]plainLoop {
	loops := numberLoops[E]()
	loops["bit_and"], loops["bit_or"], loops["bit_xor"], loops["abs"] = andLoop[E], orLoop[E], xorLoop[E], absLoop[E]
	maps.Copy(loops, boundLoops[E]())
	maps.Copy(loops, guardedLoops[E]())
	return loops
}

// wideLoops are the loops of floats of eight bytes.
func wideLoops() map[string]plainLoop {
	loops := numberLoops[float64]()
	loops["div"] = divLoop[float64]
	maps.Copy(loops, floatFunctions)
	maps.Copy(loops, boundFloats)
	return loops
}

// plainLoops are the loops by dtype of the arguments and operator. Floats of four
// bytes are computed by strips.
var plainLoops = map[tensor.DType]map[string]plainLoop{
	tensor.F64: wideLoops(),
	tensor.I64: intLoops[int64](), tensor.I32: intLoops[int32](), tensor.I16: intLoops[int16](), tensor.I8: intLoops[int8](),
	tensor.U64: intLoops[uint64](), tensor.U32: intLoops[uint32](), tensor.U16: intLoops[uint16](), tensor.U8: intLoops[uint8](),
}

// plainWheres are the loops of where, by the size of the elements.
var plainWheres = map[int]plainLoop{1: whereLoop[uint8], 2: whereLoop[uint16], 4: whereLoop[uint32], 8: whereLoop[uint64]}
