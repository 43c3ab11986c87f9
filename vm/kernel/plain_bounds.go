package kernel

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/ir"
)

// Loops of functions that hold numbers within bounds, of signs, and of tests. They are
// those of the reference.

// sameLoop copies: rounding an integer, and what is not below 0 of one without a sign.
func sameLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	copy(elements[E](d, n), elements[E](in[0], n))
}

func notLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[E](d, n), elements[E](in[0], n)
	for i, v := range a {
		to[i] = ^v
	}
}

func reluLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[E](d, n), elements[E](in[0], n)
	for i, v := range a {
		to[i] = max(v, 0)
	}
}

func relu6Loop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[E](d, n), elements[E](in[0], n)
	for i, v := range a {
		to[i] = min(max(v, 0), 6)
	}
}

func signLoop[E anyInt](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[E](d, n), elements[E](in[0], n)
	for i, v := range a {
		to[i] = E(truthOf(v > 0)) - E(truthOf(v < 0))
	}
}

// preluLoop has slopes for a second argument.
func preluLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, slope := pairOf[E](d, in, n)
	for i, v := range a {
		if v < 0 {
			v *= slope[i]
		}
		to[i] = v
	}
}

// clipLoop has the bounds that there are: the upper one where they cross, and NaN of a
// bound. Any of the arguments may lie where the result does.
func clipLoop[E anyNumber](d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[E](d, n), elements[E](in[0], n)
	switch {
	case in[1] == nil:
		copy(to, a)
	case in[2] == nil:
		for i, l := range elements[E](in[1], n) {
			to[i] = atLeast(a[i], l)
		}
	default:
		lo := elements[E](in[1], n)
		for i, h := range elements[E](in[2], n) {
			v := atLeast(a[i], lo[i])
			if v > h || h != h {
				v = h
			}
			to[i] = v
		}
	}
}

func atLeast[E anyNumber](v, lo E) E {
	if v < lo || lo != lo {
		return lo
	}
	return v
}

// boundLoops are the loops above of an integer type.
func boundLoops[E anyInt]() map[string]plainLoop {
	return map[string]plainLoop{
		"floor": sameLoop[E], "ceil": sameLoop[E], "round": sameLoop[E], "trunc": sameLoop[E],
		"bit_not": notLoop[E], "sign": signLoop[E], "relu": reluLoop[E], "relu6": relu6Loop[E],
	}
}

func signFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		switch { // 0 of -0 too
		case v > 0:
			v = 1
		case v < 0:
			v = -1
		case v == 0:
			v = 0
		}
		to[i] = v
	}
}

// held is x between lo and hi, hi if they cross.
func held(x, lo, hi float64) float64 {
	if x < lo {
		x = lo
	}
	if x > hi {
		x = hi
	}
	return x
}

func relu6Floats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = held(v, 0, 6)
	}
}

func hardswishFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = v * held(v+3, 0, 6) / 6
	}
}

func softsignFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := oneOf(d, in, n)
	for i, v := range a {
		to[i] = v / (1 + math.Abs(v))
	}
}

func copysignFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a, b := pairOf[float64](d, in, n)
	for i, v := range a {
		to[i] = math.Copysign(v, b[i])
	}
}

func nanFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[uint8](d, n), elements[float64](in[0], n)
	for i, v := range a {
		to[i] = truthOf(v != v)
	}
}

func infFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[uint8](d, n), elements[float64](in[0], n)
	for i, v := range a {
		to[i] = truthOf(math.Abs(v) > math.MaxFloat64)
	}
}

func finiteFloats(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
	to, a := elements[uint8](d, n), elements[float64](in[0], n)
	for i, v := range a {
		to[i] = truthOf(math.Abs(v) <= math.MaxFloat64)
	}
}

// boundFloats are the loops above of floats of eight bytes.
var boundFloats = map[string]plainLoop{
	"sign": signFloats, "relu6": relu6Floats, "hardswish": hardswishFloats, "softsign": softsignFloats, "copysign": copysignFloats,
	"is_nan": nanFloats, "is_inf": infFloats, "is_finite": finiteFloats,
}

// attributed makes loops of floats of eight bytes from the attributes of a call.
var attributed = map[string]func(c *ir.Call) plainLoop{
	"leaky_relu":  leakyLoop,
	"hardtanh":    hardtanhLoop,
	"hardsigmoid": hardsigmoidLoop,
	"threshold":   thresholdLoop,
}

func leakyLoop(c *ir.Call) plainLoop {
	factors := [2]uint64{math.Float64bits(1), math.Float64bits(c.Float("slope"))}
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		to, a := oneOf(d, in, n)
		for i, v := range a { // a jump would be foretold wrongly half of the time
			to[i] = v * math.Float64frombits(factors[truthOf(v < 0)])
		}
	}
}

func hardtanhLoop(c *ir.Call) plainLoop {
	lo, hi := c.Float("lo"), c.Float("hi")
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		to, a := oneOf(d, in, n)
		for i, v := range a {
			to[i] = held(v, lo, hi)
		}
	}
}

func hardsigmoidLoop(c *ir.Call) plainLoop {
	alpha, beta := c.Float("alpha"), c.Float("beta")
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		to, a := oneOf(d, in, n)
		for i, v := range a {
			to[i] = held(float64(alpha*v)+beta, 0, 1)
		}
	}
}

func thresholdLoop(c *ir.Call) plainLoop {
	t, below := c.Float("t"), c.Float("v")
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		to, a := oneOf(d, in, n)
		for i, v := range a {
			if v <= t {
				v = below
			}
			to[i] = v
		}
	}
}
