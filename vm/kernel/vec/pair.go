package vec

import "unsafe"

// Pair gives the code that computes two codes in turn, and whether there is one. Its
// operands are those of the first, then those of the second. One says that the lanes of
// each operand are equal.
func Pair(first, second Code, one bool) (Code, bool) {
	p, ok := pairs[[2]Code{first, second}]
	if one {
		return p[1], ok
	}
	return p[0], ok
}

// pairs has the codes for two codes: for any operands, and for lanes that are equal.
// They are for long chains of cheap codes, where jumping from one to the next costs as
// much as computing.
var pairs = map[[2]Code][2]Code{
	{Add, Add}:         {AddAdd, AddAddOne},
	{Add, Sub}:         {AddSub, AddSubOne},
	{Add, SubFrom}:     {AddSubFrom, AddSubFromOne},
	{Add, Mul}:         {AddMul, AddMulOne},
	{Sub, Add}:         {SubAdd, SubAddOne},
	{Sub, Sub}:         {SubSub, SubSubOne},
	{Sub, SubFrom}:     {SubSubFrom, SubSubFromOne},
	{Sub, Mul}:         {SubMul, SubMulOne},
	{SubFrom, Add}:     {SubFromAdd, SubFromAddOne},
	{SubFrom, Sub}:     {SubFromSub, SubFromSubOne},
	{SubFrom, SubFrom}: {SubFromSubFrom, SubFromSubFromOne},
	{SubFrom, Mul}:     {SubFromMul, SubFromMulOne},
	{Mul, Add}:         {MulAdd, MulAddOne},
	{Mul, Sub}:         {MulSub, MulSubOne},
	{Mul, SubFrom}:     {MulSubFrom, MulSubFromOne},
	{Mul, Mul}:         {MulMul, MulMulOne},
	{Add, Relu}:        {AddRelu, AddReluOne},
	{Add, Neg}:         {AddNeg, AddNegOne},
	{Sub, Relu}:        {SubRelu, SubReluOne},
	{Sub, Neg}:         {SubNeg, SubNegOne},
	{SubFrom, Relu}:    {SubFromRelu, SubFromReluOne},
	{SubFrom, Neg}:     {SubFromNeg, SubFromNegOne},
	{Mul, Relu}:        {MulRelu, MulReluOne},
	{Mul, Neg}:         {MulNeg, MulNegOne},
	{Relu, Add}:        {ReluAdd, ReluAddOne},
	{Relu, Sub}:        {ReluSub, ReluSubOne},
	{Relu, SubFrom}:    {ReluSubFrom, ReluSubFromOne},
	{Relu, Mul}:        {ReluMul, ReluMulOne},
	{Neg, Add}:         {NegAdd, NegAddOne},
	{Neg, Sub}:         {NegSub, NegSubOne},
	{Neg, SubFrom}:     {NegSubFrom, NegSubFromOne},
	{Neg, Mul}:         {NegMul, NegMulOne},
}

func init() {
	for of, codes := range pairs {
		for i, end := range []string{"", " one"} {
			rows[codes[i]] = pairRow(of[0], of[1], end)
		}
	}
}

// pairRow is the portable form of a pair.
func pairRow(first, second Code, end string) row {
	f, s := rows[first], rows[second]
	return row{name: f.name + ", " + s.name + end, args: f.args + s.args, run: func(acc *Block, a, b unsafe.Pointer) {
		f.run(acc, a, nil)
		if f.args > 0 {
			a = b
		}
		s.run(acc, a, nil)
	}}
}
