package main

import (
	"math"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A link is a code that chains are made of: its instruction, and whether the number comes
// first, as it does in those that give the second of two that are equal or of which one
// is NaN.
type link struct {
	code, instruction string
	number            int
}

// links has them in the order of package vec's.
var links = []link{
	{"Mul", "VMULPS", 0}, {"Add", "VADDPS", 0}, {"MaxPlain", "VMAXPS", 1}, {"MinPlain", "VMINPS", 1},
	{"And", "VANDPS", 0}, {"Xor", "VXORPS", 0}, {"Square", "VMULPS", none},
}

// chains are all sequences of links, the short ones first.
func chains() (list [][]link) {
	for _, l := range links {
		list = append(list, []link{l})
	}
	for _, l := range links {
		for _, m := range links {
			list = append(list, []link{l, m})
		}
	}
	return list
}

func chainName(steps []link) string {
	var name strings.Builder
	name.WriteString("Chain")
	for _, s := range steps {
		name.WriteString(strings.TrimSuffix(s.code, "Plain"))
	}
	return name.String()
}

func chainNames() (names []string) {
	for _, steps := range chains() {
		names = append(names, chainName(steps))
	}
	return names
}

// chain writes a chain: the numbers stay in the last registers, and each step is done
// for all of the accumulator, so that no instruction waits for the one before.
func (e *emitter) chain(steps []link, end string) string {
	name := e.function(chainName(steps)+end, "is a chain of "+strings.TrimPrefix(chainName(steps), "Chain")+".")
	for i, s := range steps {
		if s.number != none {
			e.do("VBROADCASTSS", operand.Mem{Base: pc, Disp: instSize + 4*i}, e.number(i))
		}
	}
	products := e.products(steps)
	one := e.number(len(steps))
	if slices.Max(products) > 0 {
		e.do("VMOVUPS", e.words("one", slices.Repeat([]uint32{math.Float32bits(1)}, e.bytes/4)...), one)
	}
	for i, s := range steps {
		for v, x := range e.regs[:e.vectors] {
			y := e.number(i)
			switch {
			case v < products[i]:
				e.do("VFMADD213PS", y, one, x) // x*1 + y
			case s.number == none:
				e.do(s.instruction, x, x, x)
			case s.number == 1:
				e.do(s.instruction, x, y, x)
			default:
				e.do(s.instruction, y, x, x)
			}
		}
	}
	e.after(2)
	return name
}

// adders are the links whose instructions are computed by the units that add: of Zen 4
// these compute the larger and the smaller of two as well, at two a cycle with sums, and
// at more than three with products. Bits are for any unit.
var adders = map[string]bool{"Add": true, "MaxPlain": true, "MinPlain": true}

// products is, by step, for how many vectors a sum is computed as a product with one and
// sum, which gives the same bits: processors that add and multiply in different units
// then have both busy.
func (e *emitter) products(steps []link) []int {
	by := make([]int, len(steps))
	adding, multiplying := 0, 0
	for _, s := range steps {
		switch {
		case adders[s.code]:
			adding += e.vectors
		case s.instruction == "VMULPS":
			multiplying += e.vectors
		}
	}
	for i, s := range steps {
		if s.code == "Add" && adding > multiplying {
			by[i] = min(e.vectors, (adding-multiplying)/2)
			adding, multiplying = adding-by[i], multiplying+by[i]
		}
	}
	return by
}

// number is the register of a chain's number.
func (e *emitter) number(i int) reg.VecPhysical { return e.regs[len(e.regs)-1-i] }
