package kernel

import (
	"math"
	"unsafe"
)

// Loops of functions of one float of eight bytes, each written out so that the compiler
// puts the function's instructions into it. They are those of the reference.

// oneOf shows the argument, as long as d.
func oneOf(d unsafe.Pointer, in [3]unsafe.Pointer, n int) (to, a []float64) {
	return elements[float64](d, n), elements[float64](in[0], n)
}

func absFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = math.Abs(v)
	}
}

func sqrtFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = math.Sqrt(v)
	}
}

func rsqrtFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = 1 / math.Sqrt(v)
	}
}

func reciprocalFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = 1 / v
	}
}

func floorFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = math.Floor(v)
	}
}

func ceilFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = math.Ceil(v)
	}
}

func truncFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = math.Trunc(v)
	}
}

func roundFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = math.RoundToEven(v)
	}
}

// reluFloats chooses by bits, which are all ones where a number is below 0: a jump would
// be foretold wrongly half of the time. -0 and NaN stay.
func reluFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[uint64](d, n), elements[float64](in[0], n)
	for i, v := range a {
		to[i] = math.Float64bits(v) &^ -uint64(truthOf(v < 0))
	}
}

// floatFunctions are the loops by operator.
var floatFunctions = map[string]plainLoop{
	"abs": absFloats, "sqrt": sqrtFloats, "rsqrt": rsqrtFloats, "reciprocal": reciprocalFloats, "relu": reluFloats,
	"floor": floorFloats, "ceil": ceilFloats, "trunc": truncFloats, "round": roundFloats,
}
