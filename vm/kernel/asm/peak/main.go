// Command peak writes the loops of package peak.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("peak", gen.File{Name: "loops", Build: loops})
}

// Chains is how many products are under way: twice the eight that two units with
// a latency of four cycles need, less what the registers of AVX2 don't have.
const chains = 12

func loops(c *Context) {
	loop(c, "fmaAVX2", "VFMADD231PS of eight floats", func() reg.VecVirtual { return c.YMM() },
		func(r reg.VecVirtual) { c.VXORPS(r, r, r) })
	loop(c, "fmaAVX512", "VFMADD231PS of sixteen floats", func() reg.VecVirtual { return c.ZMM() },
		func(r reg.VecVirtual) { c.VPXORD(r, r, r) })
}

// loop writes a function that runs rounds of one product in each chain.
func loop(c *Context, name, what string, register func() reg.VecVirtual, clear func(reg.VecVirtual)) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(rounds int)")
	c.Doc(name + " runs rounds of twelve independent " + what + " in registers.")
	n := c.Load(c.Param("rounds"), c.GP64())
	a := register()
	clear(a)
	var sums [chains]reg.VecVirtual
	for i := range sums {
		sums[i] = register()
		clear(sums[i])
	}
	c.Label("round")
	c.DECQ(n)
	c.JLT(LabelRef("done"))
	for _, s := range sums {
		c.VFMADD231PS(a, a, s)
	}
	c.JMP(LabelRef("round"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
