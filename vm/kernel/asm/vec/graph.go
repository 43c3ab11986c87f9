package main

import "math"

// A graph is a function of one lane: nodes in the order in which they are computed.
// The same graph is written for every instruction set, so that all give the same
// bits. A wide graph computes with floats of eight bytes and rounds at its end.
type graph struct {
	wide   bool
	scaled bool // the instruction set has a multiplication by a power of two
	bySign bool // choosing looks at the sign of a lane
	nodes  []*node
	consts map[uint64]*node
}

// A node is one operation on the results of others.
type node struct {
	op   op
	args []*node
	bits uint64 // of a constant
	imm  int    // of a comparison, a rounding or a shift: which, how far
	mask bool   // it is true or false
	uses int    // readers that are still to come
	reg  int    // its register; none
	slot int    // where it is put aside in memory, from 1 on; 0
	last []int  // the places in the graph that read it, while it is written
}

type op uint8

const (
	input op = iota // the accumulator, then the operands a and b; imm says which
	constant
	add
	sub
	mul
	div
	sqrt
	fma  // args 0*1 + 2
	fnma // 2 - args 0*1
	least
	most
	and
	or
	xor
	andn // args 1 without the bits of 0
	shl
	shr
	sar
	addInt
	subInt
	mulInt
	leastInt
	mostInt
	compare
	compareInt
	both   // of two masks
	either // of two masks
	choose // args 0 ? 1 : 2
	negative
	round
	toInt
	toFloat
	scale   // args 0 * 2^1
	lanes   // a mask as lanes of ones and zeros
	ofLanes // lanes of ones and zeros as a mask
	half    // rounded to a half float
)

// Comparisons: the immediates of VCMPPS, and of our own for integers.
const (
	eq = 0x00
	lt = 0x11
	le = 0x12
	ne = 0x04 // true with a NaN
	nl = 0x15 // not less: true with a NaN
	ge = 0x1d
	gt = 0x1e
	un = 0x03 // one is NaN
)

// Roundings: the immediates of VROUNDPS.
const (
	nearest = 0x8
	floor   = 0x9
	ceil    = 0xa
	trunc   = 0xb
)

func newGraph(wide bool) *graph { return &graph{wide: wide, consts: map[uint64]*node{}} }

func (g *graph) add(n node) *node {
	n.reg = none
	for _, a := range n.args {
		a.uses++
	}
	g.nodes = append(g.nodes, &n)
	return g.nodes[len(g.nodes)-1]
}

func (g *graph) op(o op, args ...*node) *node { return g.add(node{op: o, args: args}) }

func (g *graph) in(i int) *node { return g.add(node{op: input, imm: i}) }

// Constants, as floats of the graph's width, or as bits.
func (g *graph) f(v float64) *node {
	if g.wide {
		return g.bits(math.Float64bits(v))
	}
	return g.bits(uint64(math.Float32bits(float32(v))))
}

func (g *graph) bits(b uint64) *node {
	if g.consts[b] == nil {
		g.consts[b] = g.add(node{op: constant, bits: b})
	}
	return g.consts[b]
}

func (g *graph) addOf(a, b *node) *node   { return g.op(add, a, b) }
func (g *graph) sub(a, b *node) *node     { return g.op(sub, a, b) }
func (g *graph) mul(a, b *node) *node     { return g.op(mul, a, b) }
func (g *graph) div(a, b *node) *node     { return g.op(div, a, b) }
func (g *graph) sqrt(a *node) *node       { return g.op(sqrt, a) }
func (g *graph) fma(a, b, c *node) *node  { return g.op(fma, a, b, c) }
func (g *graph) fnma(a, b, c *node) *node { return g.op(fnma, a, b, c) }
func (g *graph) and(a, b *node) *node     { return g.op(and, a, b) }
func (g *graph) or(a, b *node) *node      { return g.op(or, a, b) }
func (g *graph) xor(a, b *node) *node     { return g.op(xor, a, b) }
func (g *graph) pick(m, a, b *node) *node { return g.op(choose, m, a, b) }
func (g *graph) shl(a *node, n int) *node { return g.add(node{op: shl, args: []*node{a}, imm: n}) }
func (g *graph) shr(a *node, n int) *node { return g.add(node{op: shr, args: []*node{a}, imm: n}) }
func (g *graph) sar(a *node, n int) *node { return g.add(node{op: sar, args: []*node{a}, imm: n}) }
func (g *graph) addInt(a, b *node) *node  { return g.op(addInt, a, b) }
func (g *graph) subInt(a, b *node) *node  { return g.op(subInt, a, b) }
func (g *graph) round(a *node, how int) *node {
	return g.add(node{op: round, args: []*node{a}, imm: how})
}

// atMost and atLeast hold x by a bound; NaN stays.
func (g *graph) atMost(x *node, bound float64) *node  { return g.op(least, g.f(bound), x) }
func (g *graph) atLeast(x *node, bound float64) *node { return g.op(most, g.f(bound), x) }

func (g *graph) cmp(how int, a, b *node) *node {
	return g.add(node{op: compare, args: []*node{a, b}, imm: how, mask: true})
}

func (g *graph) cmpInt(how int, a, b *node) *node {
	return g.add(node{op: compareInt, args: []*node{a, b}, imm: how, mask: true})
}

func (g *graph) both(a, b *node) *node { return g.add(node{op: both, args: []*node{a, b}, mask: true}) }
func (g *graph) either(a, b *node) *node {
	return g.add(node{op: either, args: []*node{a, b}, mask: true})
}

// negative is whether the sign bit is set.
func (g *graph) negative(a *node) *node {
	return g.add(node{op: negative, args: []*node{a}, mask: true})
}

func (g *graph) lanesOf(m *node) *node { return g.op(lanes, m) }
func (g *graph) maskOf(a *node) *node  { return g.add(node{op: ofLanes, args: []*node{a}, mask: true}) }

func (g *graph) sign() *node {
	if g.wide {
		return g.bits(1 << 63)
	}
	return g.bits(1 << 31)
}

func (g *graph) abs(a *node) *node    { return g.op(andn, g.sign(), a) }
func (g *graph) neg(a *node) *node    { return g.xor(a, g.sign()) }
func (g *graph) signOf(a *node) *node { return g.and(a, g.sign()) }
func (g *graph) ones() *node          { return g.bits(1<<32 - 1) }
func (g *graph) square(a *node) *node { return g.mul(a, a) }
func (g *graph) poly(x *node, c []float64) *node {
	p := g.f(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		p = g.fma(p, x, g.f(c[i]))
	}
	return p
}

// byPairs is poly of x, whose square is xx, two terms at a time: half as many steps that
// wait for each other, and that round.
func (g *graph) byPairs(x, xx *node, c []float64) *node {
	pair := func(i int) *node {
		if i+1 == len(c) {
			return g.f(c[i])
		}
		return g.fma(g.f(c[i+1]), x, g.f(c[i]))
	}
	last := (len(c) - 1) / 2 * 2
	p := pair(last)
	for i := last - 2; i >= 0; i -= 2 {
		p = g.fma(p, xx, pair(i))
	}
	return p
}

// keep drops the nodes that the result does not need.
func (g *graph) keep(result *node) {
	result.uses++
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		if n.uses > 0 {
			continue
		}
		for _, a := range n.args {
			a.uses--
		}
		g.nodes = append(g.nodes[:i], g.nodes[i+1:]...)
	}
}
