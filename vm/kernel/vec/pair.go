package vec

import "unsafe"

// Pair gives the code that computes two codes in turn, and whether there is one. Its
// operands are those of the first, then those of the second.
func Pair(first, second Code) (Code, bool) {
	p, ok := pairs[[2]Code{first, second}]
	return p, ok
}

// pairs has the codes for two codes. They are for long chains of cheap codes, where jumping from one to the next costs as
// much as computing.
var pairs = map[[2]Code]Code{
	{Add, Add}:         AddAdd,
	{Add, Sub}:         AddSub,
	{Add, SubFrom}:     AddSubFrom,
	{Add, Mul}:         AddMul,
	{Sub, Add}:         SubAdd,
	{Sub, Sub}:         SubSub,
	{Sub, SubFrom}:     SubSubFrom,
	{Sub, Mul}:         SubMul,
	{SubFrom, Add}:     SubFromAdd,
	{SubFrom, Sub}:     SubFromSub,
	{SubFrom, SubFrom}: SubFromSubFrom,
	{SubFrom, Mul}:     SubFromMul,
	{Mul, Add}:         MulAdd,
	{Mul, Sub}:         MulSub,
	{Mul, SubFrom}:     MulSubFrom,
	{Mul, Mul}:         MulMul,
	{Add, Relu}:        AddRelu,
	{Add, Neg}:         AddNeg,
	{Sub, Relu}:        SubRelu,
	{Sub, Neg}:         SubNeg,
	{SubFrom, Relu}:    SubFromRelu,
	{SubFrom, Neg}:     SubFromNeg,
	{Mul, Relu}:        MulRelu,
	{Mul, Neg}:         MulNeg,
	{Relu, Add}:        ReluAdd,
	{Relu, Sub}:        ReluSub,
	{Relu, SubFrom}:    ReluSubFrom,
	{Relu, Mul}:        ReluMul,
	{Neg, Add}:         NegAdd,
	{Neg, Sub}:         NegSub,
	{Neg, SubFrom}:     NegSubFrom,
	{Neg, Mul}:         NegMul,
}

func init() {
	for of, code := range pairs {
		rows[code] = pairRow(of[0], of[1])
	}
}

// pairRow is the portable form of a pair.
func pairRow(first, second Code) row {
	f, s := rows[first], rows[second]
	return row{name: f.name + ", " + s.name, args: f.args + s.args, run: func(acc *Block, a, b unsafe.Pointer) {
		f.run(acc, a, nil)
		if f.args > 0 {
			a = b
		}
		s.run(acc, a, nil)
	}}
}
