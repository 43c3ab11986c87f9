package main

// The codes that are a few instructions.

func f1(code string, make func(g *graph, x *node) *node) function {
	return function{code: code, make: func(g *graph, x, _, _ *node) *node { return make(g, x) }}
}

func f2(code string, make func(g *graph, x, a *node) *node) function {
	return function{code: code, args: 1, make: func(g *graph, x, a, _ *node) *node { return make(g, x, a) }}
}

func f3(code string, make func(g *graph, x, a, b *node) *node) function {
	return function{code: code, args: 2, make: make}
}

func test(how int) func(g *graph, x, a *node) *node {
	return func(g *graph, x, a *node) *node { return g.lanesOf(g.cmp(how, x, a)) }
}

func plain(o op) func(g *graph, x, a *node) *node {
	return func(g *graph, x, a *node) *node { return g.op(o, x, a) }
}

// turned is plain with the arguments in the other order.
func turned(o op) func(g *graph, x, a *node) *node {
	return func(g *graph, x, a *node) *node { return g.op(o, a, x) }
}

func rounded(how int) func(g *graph, x *node) *node {
	return func(g *graph, x *node) *node { return g.round(x, how) }
}

func (g *graph) not(a *node) *node { return g.xor(a, g.ones()) }

// below0 is a where x is less than 0, which -0 and NaN are not, else x.
func below0(g *graph, x, a *node) *node { return g.pick(g.cmp(lt, x, g.f(0)), a, x) }

// ordered is the larger or smaller of two, of which a NaN wins, and the zeros have an
// order: what the instruction does not do.
func ordered(o, zeros op) func(g *graph, x, a *node) *node {
	return func(g *graph, x, a *node) *node {
		m := g.op(o, a, x)                                // x if they are equal, or one is NaN
		m = g.pick(g.cmp(eq, x, a), g.op(zeros, x, a), m) // equal: the zeros by their signs
		return g.pick(g.cmp(un, a, a), a, m)
	}
}

// few are codes of few instructions.
var few = []function{
	f1("Abs", func(g *graph, x *node) *node { return g.abs(x) }),
	f1("Neg", func(g *graph, x *node) *node { return g.neg(x) }),
	f1("Sign", func(g *graph, x *node) *node {
		s := g.pick(g.cmp(eq, x, g.f(0)), g.f(0), g.or(g.signOf(x), g.f(1)))
		return g.pick(g.cmp(un, x, x), x, s)
	}),
	f1("Ceil", rounded(ceil)),
	f1("Floor", rounded(floor)),
	f1("Round", rounded(nearest)),
	f1("Trunc", rounded(trunc)),
	f1("Sqrt", func(g *graph, x *node) *node { return g.sqrt(x) }),
	f1("Rsqrt", func(g *graph, x *node) *node { return g.div(g.f(1), g.sqrt(x)) }),
	f1("Reciprocal", func(g *graph, x *node) *node { return g.div(g.f(1), x) }),
	f1("Square", func(g *graph, x *node) *node { return g.square(x) }),
	f1("Relu", func(g *graph, x *node) *node { return g.op(most, g.f(0), x) }),
	f1("Relu6", func(g *graph, x *node) *node { return g.atMost(g.op(most, g.f(0), x), 6) }),
	f1("Softsign", func(g *graph, x *node) *node { return g.div(x, g.addOf(g.f(1), g.abs(x))) }),
	f1("HardSwish", func(g *graph, x *node) *node {
		h := g.atMost(g.atLeast(g.addOf(x, g.f(3)), 0), 6)
		return g.mul(x, g.div(h, g.f(6)))
	}),

	f2("Add", plain(add)),
	f2("Sub", plain(sub)),
	f2("SubFrom", turned(sub)),
	f2("Mul", plain(mul)),
	f2("Div", plain(div)),
	f2("DivInto", turned(div)),
	f2("Max", ordered(most, and)),
	f2("Min", ordered(least, or)),
	f2("MaxPlain", turned(most)),
	f2("MinPlain", turned(least)),
	f2("CopySign", func(g *graph, x, a *node) *node { return g.or(g.abs(x), g.signOf(a)) }),
	f2("Leaky", func(g *graph, x, a *node) *node { return below0(g, x, g.mul(x, a)) }),
	f2("ClipLo", func(g *graph, x, a *node) *node { return g.pick(g.either(g.cmp(lt, x, a), g.cmp(un, a, a)), a, x) }),
	f2("ClipHi", func(g *graph, x, a *node) *node { return g.pick(g.either(g.cmp(gt, x, a), g.cmp(un, a, a)), a, x) }),
	f3("HardSigmoid", func(g *graph, x, a, b *node) *node {
		return g.atMost(g.atLeast(g.fma(x, a, b), 0), 1)
	}),
	f3("Threshold", func(g *graph, x, a, b *node) *node { return g.pick(g.cmp(le, x, a), b, x) }),

	f1("IsNaN", func(g *graph, x *node) *node { return g.lanesOf(g.cmp(un, x, x)) }),
	f1("IsInf", func(g *graph, x *node) *node { return g.lanesOf(g.cmp(eq, g.abs(x), g.bits(0x7f800000))) }),
	f1("IsFinite", func(g *graph, x *node) *node { return g.lanesOf(g.cmp(lt, g.abs(x), g.bits(0x7f800000))) }),
	f2("Equal", test(eq)),
	f2("NotEqual", test(ne)),
	f2("Less", test(lt)),
	f2("LessEqual", test(le)),
	f2("Greater", test(gt)),
	f2("GreaterEqual", test(ge)),

	f2("And", plain(and)),
	f2("Or", plain(or)),
	f2("Xor", plain(xor)),
	f3("Where", func(g *graph, x, a, b *node) *node { return g.pick(g.maskOf(x), a, b) }),
	f3("WhereA", func(g *graph, x, a, b *node) *node { return g.pick(g.maskOf(a), x, b) }),
	f3("WhereB", func(g *graph, x, a, b *node) *node { return g.pick(g.maskOf(a), b, x) }),

	f1("RoundF16", func(g *graph, x *node) *node { return g.op(half, x) }),
	f1("RoundBF16", roundBF16),
	f1("Truth", func(g *graph, x *node) *node { return g.lanesOf(g.cmp(ne, x, g.f(0))) }),
	f1("Float", func(g *graph, x *node) *node { return g.and(x, g.f(1)) }),
	f1("Int", func(g *graph, x *node) *node { return g.and(x, g.bits(1)) }),
	f1("ToInt", toInt32),
	f1("FromInt", func(g *graph, x *node) *node { return g.op(toFloat, x) }),

	f1("WrapI8", func(g *graph, x *node) *node { return g.sar(g.shl(x, 24), 24) }),
	f1("WrapU8", func(g *graph, x *node) *node { return g.and(x, g.bits(0xff)) }),

	f1("AbsInt", func(g *graph, x *node) *node {
		s := g.sar(x, 31)
		return g.subInt(g.xor(x, s), s)
	}),
	f1("NegInt", func(g *graph, x *node) *node { return g.subInt(g.bits(0), x) }),
	f1("SignInt", func(g *graph, x *node) *node {
		return g.op(leastInt, g.op(mostInt, x, g.ones()), g.bits(1))
	}),
	f1("SquareInt", func(g *graph, x *node) *node { return g.op(mulInt, x, x) }),
	f1("ReluInt", func(g *graph, x *node) *node { return g.op(mostInt, x, g.bits(0)) }),
	f2("AddInt", plain(addInt)),
	f2("SubInt", plain(subInt)),
	f2("SubFromInt", turned(subInt)),
	f2("MulInt", plain(mulInt)),
	f2("MaxInt", plain(mostInt)),
	f2("MinInt", plain(leastInt)),
	f2("LeakyInt", func(g *graph, x, a *node) *node { return g.pick(g.negative(x), g.op(mulInt, x, a), x) }),
	f2("EqualInt", func(g *graph, x, a *node) *node { return g.lanesOf(g.cmpInt(eq, x, a)) }),
	f2("NotEqualInt", func(g *graph, x, a *node) *node { return g.not(g.lanesOf(g.cmpInt(eq, x, a))) }),
	f2("LessInt", func(g *graph, x, a *node) *node { return g.lanesOf(g.cmpInt(gt, a, x)) }),
	f2("LessEqualInt", func(g *graph, x, a *node) *node { return g.not(g.lanesOf(g.cmpInt(gt, x, a))) }),
	f2("GreaterInt", func(g *graph, x, a *node) *node { return g.lanesOf(g.cmpInt(gt, x, a)) }),
	f2("GreaterEqualInt", func(g *graph, x, a *node) *node { return g.not(g.lanesOf(g.cmpInt(gt, a, x))) }),
}

// roundBF16 keeps the upper sixteen bits, rounded to nearest even; a NaN stays one.
func roundBF16(g *graph, x *node) *node { return g.and(upperBF16(g, x), g.bits(0xffff0000)) }

// upperBF16 leaves anything below the upper sixteen bits.
func upperBF16(g *graph, x *node) *node {
	odd := g.and(g.shr(x, 16), g.bits(1))
	r := g.addInt(g.addInt(x, g.bits(0x7fff)), odd)
	return g.pick(g.cmp(un, x, x), g.or(x, g.bits(0x400000)), r)
}

// toInt32: the instruction gives the smallest integer for what does not fit; lanes from
// 2^31 on become the largest by turning all bits over, and NaN becomes 0.
func toInt32(g *graph, x *node) *node {
	i := g.op(toInt, x)
	if !g.bySign { // masks choose, and to make lanes of them costs more
		i = g.pick(g.cmp(ge, x, g.f(1<<31)), g.bits(1<<31-1), i)
		return g.pick(g.cmp(un, x, x), g.bits(0), i)
	}
	i = g.xor(i, g.lanesOf(g.cmp(ge, x, g.f(1<<31))))
	return g.and(i, g.lanesOf(g.cmp(eq, x, x)))
}

// Codes that come in pairs with each other.
var (
	pairedTwo = []string{"Add", "Sub", "SubFrom", "Mul"}
	pairedOne = []string{"Relu", "Neg"}
)

// pairs are two codes in one.
func pairs() (list []function) {
	add := func(first, second string) {
		list = append(list, pairOf(codeOf(first), codeOf(second)))
	}
	for _, a := range pairedTwo {
		for _, b := range pairedTwo {
			add(a, b)
		}
		for _, u := range pairedOne {
			add(a, u)
			add(u, a)
		}
	}
	return list
}

func codeOf(name string) function {
	for _, f := range few {
		if f.code == name {
			return f
		}
	}
	panic("there is no code " + name)
}

// pairOf computes two codes in turn; the operand of the second is b if the first has one.
func pairOf(first, second function) function {
	then := second
	if first.args > 0 {
		then.args = first.args + second.args
		then.make = func(g *graph, x, _, b *node) *node { return second.make(g, x, b, nil) }
	}
	return function{code: first.code + second.code, args: first.args + second.args, steps: []function{first, then}}
}
