package ir

import (
	"math"

	"github.com/npulang/npu/ir/tensor"
)

var pair = []string{"a", "b"}

// Runners that more than one row has.
var (
	additions  = arith(addRun[float64], addRun[int64], addRun[uint64])
	remainders = arith(perPair(math.Mod), remRun[int64], remRun[uint64])
)

// Binary operators broadcast as NumPy's do. Float ones are IEEE; of two
// integers the result wraps.
var (
	Add       = binary("add", Numbers, Commutative, "a + b", additions)
	Sub       = binary("sub", Numbers, 0, "a - b", arith(subRun[float64], subRun[int64], subRun[uint64]))
	Mul       = binary("mul", Numbers, Commutative, "a * b", arith(mulRun[float64], mulRun[int64], mulRun[uint64]))
	Div       = division("div", "a / b; of integers truncated toward zero, by 0 an error", arith(divRun[float64], divRun[int64], divRun[uint64]))
	Rem       = division("rem", "rest of the truncated division, with the sign of a; by the integer 0 an error", remainders)
	Fmod      = division("fmod", "the same as rem, under its name in C and NumPy", remainders)
	Maximum   = binary("maximum", Numbers, Commutative, "the larger of a and b; NaN if one is, +0 above -0", arith(maxRun[float64], maxRun[int64], maxRun[uint64]))
	Minimum   = binary("minimum", Numbers, Commutative, "the smaller of a and b; NaN if one is, -0 below +0", arith(minRun[float64], minRun[int64], minRun[uint64]))
	Atan2     = binary("atan2", Floats, 0, "angle of the point (b, a) from the first axis, in radians", perFloat2(math.Atan2))
	Hypot     = binary("hypot", Floats, Commutative, "sqrt(a*a + b*b) without overflow", perFloat2(hypot))
	LogAddExp = binary("logaddexp", Floats, Commutative, "log(exp(a) + exp(b)) without overflow", perFloat2(logAddExp))
	CopySign  = binary("copysign", Floats, 0, "the size of a with the sign of b", perFloat2(math.Copysign))
	Pow       = elementwise(Op{
		Name: "pow", Over: Numbers,
		Doc: "a to the power b; integers wrap, and a negative integer exponent is an error",
	}, shaped{
		group: "binary", args: pair, guard: powGuard,
		runs:  arith(perPair(pow), perPair(powInt[int64]), perPair(powInt[uint64])),
		known: func(s *sampler, t Type) *tensor.T { return s.intsIf(t, 0, 9) },
	})

	Equal        = comparison("equal", AnyDType, Commutative, "a == b; NaN equals nothing", tests(eqRun[float64], eqRun[int64], eqRun[uint64]).orBool(eqRun[bool]))
	NotEqual     = comparison("not_equal", AnyDType, Commutative, "a != b; NaN differs from everything", tests(neRun[float64], neRun[int64], neRun[uint64]).orBool(neRun[bool]))
	Less         = comparison("less", Numbers, 0, "a < b; false with a NaN", tests(ltRun[float64], ltRun[int64], ltRun[uint64]))
	LessEqual    = comparison("less_equal", Numbers, 0, "a <= b; false with a NaN", tests(leRun[float64], leRun[int64], leRun[uint64]))
	Greater      = comparison("greater", Numbers, 0, "a > b; false with a NaN", tests(gtRun[float64], gtRun[int64], gtRun[uint64]))
	GreaterEqual = comparison("greater_equal", Numbers, 0, "a >= b; false with a NaN", tests(geRun[float64], geRun[int64], geRun[uint64]))

	LogicalAnd = binary("logical_and", BoolOnly, Commutative, "whether a and b are true", byKind{}.orBool(boolAnd))
	LogicalOr  = binary("logical_or", BoolOnly, Commutative, "whether a or b is true", byKind{}.orBool(boolOr))
	LogicalXor = binary("logical_xor", BoolOnly, Commutative, "whether just one of a and b is true", byKind{}.orBool(neRun[bool]))
	BitAnd     = binary("bit_and", IntsOrBool, Commutative, "a & b; of bool, and", arith(nil, perPair(and[int64]), perPair(and[uint64])).orBool(boolAnd))
	BitOr      = binary("bit_or", IntsOrBool, Commutative, "a | b; of bool, or", arith(nil, perPair(or[int64]), perPair(or[uint64])).orBool(boolOr))
	BitXor     = binary("bit_xor", IntsOrBool, Commutative, "a ^ b; of bool, xor", arith(nil, perPair(xor[int64]), perPair(xor[uint64])).orBool(neRun[bool]))
	ShiftLeft  = shift("shift_left", "a << b; 0 for b at or above the width, an error for b below 0", arith(nil, perPair(shlInt), perPair(shlUint)))
	ShiftRight = shift("shift_right", "a >> b, keeping the sign; b at or above the width leaves only the sign, b below 0 is an error", arith(nil, perPair(shrInt), perPair(shrUint)))
)

func binary(name string, over DTypes, flags Flags, doc string, runs byKind) *Op {
	return elementwise(Op{Name: name, Doc: doc, Over: over, Flags: flags}, shaped{group: "binary", args: pair, runs: runs})
}

func comparison(name string, over DTypes, flags Flags, doc string, runs byKind) *Op {
	return elementwise(Op{Name: name, Doc: doc, Over: over, Flags: flags},
		shaped{group: "binary", args: pair, result: boolResult, runs: runs})
}

func division(name, doc string, runs byKind) *Op {
	return elementwise(Op{Name: name, Doc: doc, Over: Numbers}, shaped{
		group: "binary", args: pair, runs: runs, guard: zeroGuard,
		known: func(s *sampler, t Type) *tensor.T { return s.intsIf(t, 1, 9) },
	})
}

func shift(name, doc string, runs byKind) *Op {
	return elementwise(Op{Name: name, Doc: doc, Over: Ints}, shaped{
		group: "binary", args: pair, runs: runs, guard: shiftGuard,
		known: func(s *sampler, t Type) *tensor.T { return s.intsIf(t, 0, 70) },
	})
}

// intsIf draws values for an argument of an integer dtype; floats may be any.
func (s *sampler) intsIf(t Type, lo, hi int64) *tensor.T {
	if !t.DType.IsInt() {
		return nil
	}
	return s.ints(t, lo, hi)
}

// zeroGuard refuses the integer 0 as divisor.
func zeroGuard(c *Call, in []*tensor.T) error {
	if !in[1].DType.IsInt() {
		return nil
	}
	if at := find(c, in[1], asUints, func(v uint64) bool { return v == 0 }); at >= 0 {
		return Errorf("division-by-zero", "integer division by zero%s", placeOfB(in[1], at))
	}
	return nil
}

func powGuard(c *Call, in []*tensor.T) error {
	if at := negative(c, in[1]); at >= 0 {
		return Errorf("out-of-range", "integer to the negative power %d%s", in[1].IntAt(at), placeOfB(in[1], at)).
			Note("an integer power is defined for exponents from 0 on")
	}
	return nil
}

func shiftGuard(c *Call, in []*tensor.T) error {
	if at := negative(c, in[1]); at >= 0 {
		return Errorf("out-of-range", "shift by the negative count %d%s", in[1].IntAt(at), placeOfB(in[1], at))
	}
	return nil
}

// negative finds the first negative element of a signed integer tensor.
func negative(c *Call, t *tensor.T) int {
	if t.DType.Kind() != tensor.Signed {
		return -1
	}
	return find(c, t, asInts, func(v int64) bool { return v < 0 })
}

// find gives the position in memory of the first element that is bad, or -1.
func find[W any](c *Call, t *tensor.T, w width[W], bad func(W) bool) int {
	buf := room[W](c, chunk)
	for at, n := 0, t.Len(); at < n; at += chunk {
		part := buf[:min(chunk, n-at)]
		w.load(t, part, at)
		for i, v := range part {
			if bad(v) {
				return at + i
			}
		}
	}
	return -1
}

// placeOfB names an element of the second argument in an error.
func placeOfB(t *tensor.T, at int) string {
	if len(t.Shape) == 0 {
		return ""
	}
	return " at " + ShapeString(Dims(tensor.Index(t.Shape, at)...)) + " of b"
}

func logAddExp(a, b float64) float64 {
	if a == b {
		return a + math.Ln2 // equal infinities have no difference
	}
	return max(a, b) + math.Log1p(exp(-math.Abs(a-b)))
}

// powInt squares and multiplies; b is not negative.
func powInt[W int64 | uint64](a, b W) W {
	p := W(1)
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			p *= a
		}
		a *= a
	}
	return p
}

func boolAnd(_ *Call, dst []bool, in [][]bool) {
	for i, v := range in[0] {
		dst[i] = v && in[1][i]
	}
}

func boolOr(_ *Call, dst []bool, in [][]bool) {
	for i, v := range in[0] {
		dst[i] = v || in[1][i]
	}
}

func and[W int64 | uint64](a, b W) W { return a & b }

func or[W int64 | uint64](a, b W) W { return a | b }

func xor[W int64 | uint64](a, b W) W { return a ^ b }

// Counts up to 63 shift the wide type; what leaves the dtype is cut off by the
// store, and Go's own shift gives 0 or the sign beyond. A narrow dtype widened
// to 64 bits shifts right as it would itself.
func shlInt(a, b int64) int64 { return a << uint64(b) }

func shlUint(a, b uint64) uint64 { return a << b }

func shrInt(a, b int64) int64 { return a >> uint64(b) }

func shrUint(a, b uint64) uint64 { return a >> b }
