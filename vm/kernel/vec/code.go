package vec

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Code says what an instruction does with the accumulator and its operands a and
// b. Its row in the table has the rest.
type Code uint16

// The codes. Those of floats are named after their operators.
const (
	End Code = iota // the last instruction of every program

	Load            // acc = a; also for int32
	LoadAhead       // Load, and what follows is brought into the first cache
	LoadAheadSecond // LoadAhead, into the second cache
	Save            // a = acc
	Stream          // Save around the caches; a lies at a multiple of Align
	// Save, then End, then the Load of b that the program begins with. Two: no other
	// operand walks.
	SaveLoad
	SaveLoadTwo
	StreamLoad // with Stream and LoadAhead
	StreamLoadTwo
	StreamLoadSecond // with LoadAheadSecond
	StreamLoadSecondTwo
	LoadBool
	SaveBool
	LoadF16
	SaveF16
	LoadBF16
	SaveBF16
	LoadI8 // an int32 of a byte with a sign
	LoadU8
	SaveByte // the lowest byte of an int32

	Abs
	Neg
	Sign
	Ceil
	Floor
	Round
	Trunc
	Sqrt
	Rsqrt
	Cbrt
	Reciprocal
	Square
	Exp
	Exp2
	Expm1
	Log
	Log2
	Log10
	Log1p
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Erf
	Relu
	Relu6
	Selu
	Gelu
	GeluTanh
	Silu
	Sigmoid
	LogSigmoid
	Softplus
	Softsign
	Mish
	HardSwish

	Add
	Sub
	SubFrom // a - acc
	Mul
	Div
	DivInto // a / acc
	Max
	Min
	MaxPlain // a where it is above acc, else acc: Max where a is neither NaN nor 0
	MinPlain
	Rem
	Pow
	Atan2
	Hypot
	LogAddExp
	CopySign
	Leaky  // acc, or a * acc where it is below 0: leaky_relu and prelu
	Elu    // with alpha in a
	Celu   // with alpha in a
	ClipLo // a where acc is below it or a is NaN
	ClipHi // a where acc is above it or a is NaN
	HardSigmoid
	Threshold // b where acc is at most a

	IsNaN
	IsInf
	IsFinite
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual

	And    // of the bits, also of bools
	Or     //
	Xor    //
	Where  // a where acc is true, else b
	WhereA // acc where a is true, else b
	WhereB // b where a is true, else acc

	RoundF16  // to the nearest half float
	RoundBF16 // to the nearest bfloat16
	Truth     // bool of a float: not 0
	Float     // 0 or 1 of a bool
	Int       // 0 or 1 of a bool
	ToInt     // int32 of a float, truncated, saturating, 0 of NaN
	FromInt   // float of an int32
	WrapI8    // the lowest byte of an int32, with its sign
	WrapU8    // without

	AbsInt
	NegInt
	SignInt
	SquareInt
	ReluInt
	AddInt
	SubInt
	SubFromInt
	MulInt
	MaxInt
	MinInt
	LeakyInt
	EqualInt
	NotEqualInt
	LessInt
	LessEqualInt
	GreaterInt
	GreaterEqualInt

	// Two codes in one, with the operand of the first in a if it has one.
	AddAdd
	AddSub
	AddSubFrom
	AddMul
	SubAdd
	SubSub
	SubSubFrom
	SubMul
	SubFromAdd
	SubFromSub
	SubFromSubFrom
	SubFromMul
	MulAdd
	MulSub
	MulSubFrom
	MulMul
	AddRelu
	AddNeg
	SubRelu
	SubNeg
	SubFromRelu
	SubFromNeg
	MulRelu
	MulNeg
	ReluAdd
	ReluSub
	ReluSubFrom
	ReluMul
	NegAdd
	NegSub
	NegSubFrom
	NegMul

	Chains // the first of those that Chain gives

	Codes = Chains + chains // how many there are
)

// Ahead is the load for what is read once: LoadAhead or LoadAheadSecond, as this processor
// has it.
func Ahead() Code {
	if isa.StreamsBySecond() {
		return LoadAheadSecond
	}
	return LoadAhead
}

// A row is a code's name, how many operands it has, and its portable form.
type row struct {
	name string
	args int
	run  func(acc *Block, a, b unsafe.Pointer)

	within float64 // see Within
	// spares finds lanes that assembly leaves to the portable form; nil: it does all.
	spares func(x, a float32) bool
}

// Name is the code's name as messages have it.
func (c Code) Name() string { return rows[c].name }

// Args is how many operands besides the accumulator the code reads.
func (c Code) Args() int { return rows[c].args }

// Moved gives the code that computes the same with the argument at place arg (1 or
// 2) in the accumulator, and the others, in their order, as operands; and whether
// there is one.
func (c Code) Moved(arg int) (Code, bool) {
	to := moved[c][arg]
	return to, to != End
}

var moved = [Codes][3]Code{
	Add: {1: Add}, Sub: {1: SubFrom}, Mul: {1: Mul}, Div: {1: DivInto}, Max: {1: Max}, Min: {1: Min},
	Hypot: {1: Hypot}, LogAddExp: {1: LogAddExp},
	Equal: {1: Equal}, NotEqual: {1: NotEqual},
	Less: {1: Greater}, LessEqual: {1: GreaterEqual}, Greater: {1: Less}, GreaterEqual: {1: LessEqual},
	And: {1: And}, Or: {1: Or}, Xor: {1: Xor}, Where: {1: WhereA, 2: WhereB},
	AddInt: {1: AddInt}, SubInt: {1: SubFromInt}, MulInt: {1: MulInt}, MaxInt: {1: MaxInt}, MinInt: {1: MinInt},
	EqualInt: {1: EqualInt}, NotEqualInt: {1: NotEqualInt},
	LessInt: {1: GreaterInt}, LessEqualInt: {1: GreaterEqualInt}, GreaterInt: {1: LessInt}, GreaterEqualInt: {1: LessEqualInt},
}
