package vec

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/narrow"
)

// rows is the table of codes. Its portable forms define what a code computes.
var rows = [Codes]row{
	End: {name: "end", run: func(*Block, unsafe.Pointer, unsafe.Pointer) {}},

	Load:            {name: "load", args: 1, run: load},
	LoadAhead:       {name: "load ahead", args: 1, run: load},
	LoadAheadSecond: {name: "load ahead into the second cache", args: 1, run: load},
	Save:            {name: "save", args: 1, run: save},
	Stream:          {name: "stream", args: 1, run: save},
	// The portable machine loads by the program's first instruction.
	SaveLoad:            {name: "save and load", args: 2, run: save},
	SaveLoadTwo:         {name: "save and load of two", args: 2, run: save},
	StreamLoad:          {name: "stream and load", args: 2, run: save},
	StreamLoadTwo:       {name: "stream and load of two", args: 2, run: save},
	StreamLoadSecond:    {name: "stream and load by the second cache", args: 2, run: save},
	StreamLoadSecondTwo: {name: "stream and load of two by the second cache", args: 2, run: save},

	LoadBool: {name: "load bool", args: 1, run: loadBool},
	SaveBool: {name: "save bool", args: 1, run: saveBool},
	LoadF16:  {name: "load f16", args: 1, run: loadF16},
	SaveF16:  {name: "save f16", args: 1, run: saveF16},
	LoadBF16: {name: "load bf16", args: 1, run: loadBF16},
	SaveBF16: {name: "save bf16", args: 1, run: saveBF16},
	LoadI8:   {name: "load i8", args: 1, run: loadI8},
	LoadU8:   {name: "load u8", args: 1, run: loadU8},
	SaveByte: {name: "save byte", args: 1, run: saveByte},

	Abs:        bits1("abs", func(x uint32) uint32 { return x &^ signBit }),
	Neg:        bits1("neg", func(x uint32) uint32 { return x ^ signBit }),
	Sign:       float1("sign", sign),
	Ceil:       double1("ceil", math.Ceil),
	Floor:      double1("floor", math.Floor),
	Round:      double1("round", math.RoundToEven),
	Trunc:      double1("trunc", math.Trunc),
	Sqrt:       double1("sqrt", math.Sqrt),
	Rsqrt:      double1("rsqrt", func(x float64) float64 { return 1 / math.Sqrt(x) }),
	Cbrt:       double1("cbrt", math.Cbrt),
	Reciprocal: float1("reciprocal", func(x float32) float32 { return 1 / x }),
	Square:     float1("square", func(x float32) float32 { return x * x }),
	Exp:        double1("exp", math.Exp),
	Exp2:       double1("exp2", math.Exp2),
	Expm1:      double1("expm1", math.Expm1),
	Log:        double1("log", math.Log),
	Log2:       double1("log2", log2),
	Log10:      double1("log10", func(x float64) float64 { return math.Log(x) * (1 / math.Ln10) }),
	Log1p:      double1("log1p", math.Log1p),
	Sin:        double1("sin", math.Sin),
	Cos:        double1("cos", math.Cos),
	Tan:        double1("tan", math.Tan),
	Asin:       double1("asin", func(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }),
	Acos:       double1("acos", func(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }),
	Atan:       double1("atan", math.Atan),
	Sinh:       double1("sinh", math.Sinh),
	Cosh:       double1("cosh", math.Cosh),
	Tanh:       double1("tanh", math.Tanh),
	Asinh:      double1("asinh", math.Asinh),
	Acosh:      double1("acosh", math.Acosh),
	Atanh:      double1("atanh", math.Atanh),
	Erf:        double1("erf", math.Erf),
	Relu: float1("relu", func(x float32) float32 {
		if x < 0 {
			return 0
		}
		return x
	}),
	Relu6:      float1("relu6", func(x float32) float32 { return clipHi(clipLo(x, 0), 6) }),
	Selu:       double1("selu", selu),
	Gelu:       double1("gelu", gelu),
	GeluTanh:   double1("gelu tanh", geluTanh),
	Silu:       double1("silu", func(x float64) float64 { return x * sigmoid(x) }),
	Sigmoid:    double1("sigmoid", sigmoid),
	LogSigmoid: double1("log sigmoid", func(x float64) float64 { return -softplus(-x) }),
	Softplus:   double1("softplus", softplus),
	Softsign:   double1("softsign", func(x float64) float64 { return x / (1 + math.Abs(x)) }),
	Mish:       double1("mish", func(x float64) float64 { return x * math.Tanh(softplus(x)) }),
	HardSwish:  double1("hardswish", func(x float64) float64 { return x * hold(x+3, 0, 6) / 6 }),

	Add:         float2("add", func(x, a float32) float32 { return x + a }),
	Sub:         float2("sub", func(x, a float32) float32 { return x - a }),
	SubFrom:     float2("sub from", func(x, a float32) float32 { return a - x }),
	Mul:         float2("mul", func(x, a float32) float32 { return x * a }),
	Div:         float2("div", func(x, a float32) float32 { return x / a }),
	DivInto:     float2("div into", func(x, a float32) float32 { return a / x }),
	Max:         float2("max", func(x, a float32) float32 { return max(x, a) }),
	Min:         float2("min", func(x, a float32) float32 { return min(x, a) }),
	MaxPlain:    float2("max plain", maxPlain),
	MinPlain:    float2("min plain", minPlain),
	Rem:         double2("rem", math.Mod),
	Pow:         double2("pow", math.Pow),
	Atan2:       double2("atan2", math.Atan2),
	Hypot:       double2("hypot", math.Hypot),
	LogAddExp:   double2("logaddexp", logAddExp),
	CopySign:    double2("copysign", math.Copysign),
	Leaky:       float2("leaky", leaky),
	Elu:         double2("elu", elu),
	Celu:        double2("celu", celu),
	ClipLo:      float2("clip lo", clipLo),
	ClipHi:      float2("clip hi", clipHi),
	HardSigmoid: double3("hardsigmoid", func(x, a, b float64) float64 { return hold(float64(a*x)+b, 0, 1) }),
	Threshold:   double3("threshold", threshold),

	IsNaN:        test1("is_nan", func(x float32) bool { return x != x }),
	IsInf:        test1("is_inf", func(x float32) bool { return x > math.MaxFloat32 || x < -math.MaxFloat32 }),
	IsFinite:     test1("is_finite", func(x float32) bool { return x-x == 0 }),
	Equal:        test2("equal", func(x, a float32) bool { return x == a }),
	NotEqual:     test2("not_equal", func(x, a float32) bool { return x != a }),
	Less:         test2("less", func(x, a float32) bool { return x < a }),
	LessEqual:    test2("less_equal", func(x, a float32) bool { return x <= a }),
	Greater:      test2("greater", func(x, a float32) bool { return x > a }),
	GreaterEqual: test2("greater_equal", func(x, a float32) bool { return x >= a }),

	And:    bits2("and", func(x, a uint32) uint32 { return x & a }),
	Or:     bits2("or", func(x, a uint32) uint32 { return x | a }),
	Xor:    bits2("xor", func(x, a uint32) uint32 { return x ^ a }),
	Where:  bits3("where", func(x, a, b uint32) uint32 { return x&a | b&^x }),
	WhereA: bits3("where a", func(x, a, b uint32) uint32 { return a&x | b&^a }),
	WhereB: bits3("where b", func(x, a, b uint32) uint32 { return a&b | x&^a }),

	RoundF16:  float1("round f16", func(x float32) float32 { return narrow.F16(narrow.F16Of(x)) }),
	RoundBF16: float1("round bf16", func(x float32) float32 { return narrow.BF16(narrow.BF16Of(x)) }),
	Truth:     bits1("truth", func(x uint32) uint32 { return truth(x&^signBit != 0) }),
	Float:     bits1("float", func(x uint32) uint32 { return x & 0x3f800000 }),
	Int:       bits1("int", func(x uint32) uint32 { return x & 1 }),
	ToInt:     bits1("to int", func(x uint32) uint32 { return uint32(toInt(math.Float32frombits(x))) }),
	FromInt: bits1("from int", func(x uint32) uint32 {
		return math.Float32bits(float32(int32(x)))
	}),

	WrapI8: int1("wrap i8", func(x int32) int32 { return int32(int8(x)) }),
	WrapU8: int1("wrap u8", func(x int32) int32 { return int32(uint8(x)) }),

	AbsInt:          int1("abs int", func(x int32) int32 { return max(x, -x) }),
	NegInt:          int1("neg int", func(x int32) int32 { return -x }),
	SignInt:         int1("sign int", func(x int32) int32 { return min(max(x, -1), 1) }),
	SquareInt:       int1("square int", func(x int32) int32 { return x * x }),
	ReluInt:         int1("relu int", func(x int32) int32 { return max(x, 0) }),
	AddInt:          int2("add int", func(x, a int32) int32 { return x + a }),
	SubInt:          int2("sub int", func(x, a int32) int32 { return x - a }),
	SubFromInt:      int2("sub from int", func(x, a int32) int32 { return a - x }),
	MulInt:          int2("mul int", func(x, a int32) int32 { return x * a }),
	MaxInt:          int2("max int", func(x, a int32) int32 { return max(x, a) }),
	MinInt:          int2("min int", func(x, a int32) int32 { return min(x, a) }),
	LeakyInt:        int2("leaky int", leakyInt),
	EqualInt:        bits2("equal int", func(x, a uint32) uint32 { return truth(x == a) }),
	NotEqualInt:     bits2("not equal int", func(x, a uint32) uint32 { return truth(x != a) }),
	LessInt:         bits2("less int", func(x, a uint32) uint32 { return truth(int32(x) < int32(a)) }),
	LessEqualInt:    bits2("less equal int", func(x, a uint32) uint32 { return truth(int32(x) <= int32(a)) }),
	GreaterInt:      bits2("greater int", func(x, a uint32) uint32 { return truth(int32(x) > int32(a)) }),
	GreaterEqualInt: bits2("greater equal int", func(x, a uint32) uint32 { return truth(int32(x) >= int32(a)) }),
}

// inexact are the codes whose results are off from the nearest float to the true one: by
// so many units in the last place, over every 13th float, for functions of one, and many
// pairs and triples (go test -every 13). Below a size results may be off by as much, see floors
// in the tests.
var inexact = map[Code]float64{
	Rsqrt: 1, Cbrt: 1, Exp: 1, Exp2: 1, Expm1: 2, Log: 1, Log2: 1, Log10: 1, Log1p: 1, Sin: 1, Cos: 1, Tan: 1,
	Asin: 1, Acos: 1, Atan: 1, Sinh: 1, Cosh: 1, Tanh: 3, Asinh: 1, Acosh: 1, Atanh: 1, Erf: 2,
	Selu: 3, Gelu: 5, GeluTanh: 6, Silu: 3, Sigmoid: 3, LogSigmoid: 4, Softplus: 4, Softsign: 1, Mish: 5, HardSwish: 2,
	Pow: 1, Atan2: 1, Hypot: 1, LogAddExp: 1, Elu: 3, Celu: 1, HardSigmoid: 1,
}

// spared are the lanes that assembly leaves to the portable form: angles too large to reduce,
// and quotients too large for rem, or with no number to divide. The conditions are those of
// the generator.
var spared = map[Code]func(x, a float32) bool{
	Sin: far, Cos: far, Tan: far,
	Rem: func(x, a float32) bool { return !(abs(x) < abs(a)*(1<<28)) },
}

func far(x, _ float32) bool { return abs(x) >= 1<<28 }

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ signBit) }

func init() {
	for c, ulp := range inexact {
		rows[c].within = ulp * 0x1p-23
	}
	for c, spares := range spared {
		rows[c].spares = spares
	}
}

const signBit = 1 << 31

// The forms of rows: a loop over the lanes for functions of one to three of them.

func float1(name string, f func(x float32) float32) row {
	return row{name: name, run: func(acc *Block, _, _ unsafe.Pointer) {
		for i, x := range acc {
			acc[i] = f(x)
		}
	}}
}

func float2(name string, f func(x, a float32) float32) row {
	return row{name: name, args: 1, run: func(acc *Block, a, _ unsafe.Pointer) {
		as := (*Block)(a)
		for i, x := range acc {
			acc[i] = f(x, as[i])
		}
	}}
}

func double1(name string, f func(x float64) float64) row {
	return float1(name, func(x float32) float32 { return float32(f(float64(x))) })
}

func double2(name string, f func(x, a float64) float64) row {
	return float2(name, func(x, a float32) float32 { return float32(f(float64(x), float64(a))) })
}

func double3(name string, f func(x, a, b float64) float64) row {
	return row{name: name, args: 2, run: func(acc *Block, a, b unsafe.Pointer) {
		as, bs := (*Block)(a), (*Block)(b)
		for i, x := range acc {
			acc[i] = float32(f(float64(x), float64(as[i]), float64(bs[i])))
		}
	}}
}

func bits1(name string, f func(x uint32) uint32) row {
	return row{name: name, run: func(acc *Block, _, _ unsafe.Pointer) {
		xs := acc.bits()
		for i, x := range xs {
			xs[i] = f(x)
		}
	}}
}

func bits2(name string, f func(x, a uint32) uint32) row {
	return row{name: name, args: 1, run: func(acc *Block, a, _ unsafe.Pointer) {
		xs, as := acc.bits(), (*Block)(a).bits()
		for i, x := range xs {
			xs[i] = f(x, as[i])
		}
	}}
}

func bits3(name string, f func(x, a, b uint32) uint32) row {
	return row{name: name, args: 2, run: func(acc *Block, a, b unsafe.Pointer) {
		xs, as, bs := acc.bits(), (*Block)(a).bits(), (*Block)(b).bits()
		for i, x := range xs {
			xs[i] = f(x, as[i], bs[i])
		}
	}}
}

func test1(name string, f func(x float32) bool) row {
	return float1(name, func(x float32) float32 { return math.Float32frombits(truth(f(x))) })
}

func test2(name string, f func(x, a float32) bool) row {
	return row{name: name, args: 1, run: func(acc *Block, a, _ unsafe.Pointer) {
		xs, as := acc.bits(), (*Block)(a)
		for i, x := range acc {
			xs[i] = truth(f(x, as[i]))
		}
	}}
}

func int1(name string, f func(x int32) int32) row {
	return bits1(name, func(x uint32) uint32 { return uint32(f(int32(x))) })
}

func int2(name string, f func(x, a int32) int32) row {
	return bits2(name, func(x, a uint32) uint32 { return uint32(f(int32(x), int32(a))) })
}

// truth is the lane of a bool.
func truth(b bool) uint32 {
	if b {
		return Ones
	}
	return 0
}
