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
	ymm := func() reg.VecVirtual { return c.YMM() }
	zmm := func() reg.VecVirtual { return c.ZMM() }
	clearY := func(r reg.VecVirtual) { c.VXORPS(r, r, r) }
	clearZ := func(r reg.VecVirtual) { c.VPXORD(r, r, r) }
	fma := func(a, sum reg.VecVirtual) { c.VFMADD231PS(a, a, sum) }
	loop(c, "fmaAVX2", "VFMADD231PS of eight floats", ymm, clearY, fma)
	loop(c, "fmaAVX512", "VFMADD231PS of sixteen floats", zmm, clearZ, fma)
	loop(c, "bf16AVX512", "VDPBF16PS of sixteen pairs of bf16", zmm, clearZ,
		func(a, sum reg.VecVirtual) { c.Instruction(gen.Accumulate("VDPBF16PS", a, a, sum)) })
	loop(c, "int8AVX2", "sums of four VPMADDUBSW of eight quads of bytes, by VPADDW, VPMADDWD and VPADDD", ymm, clearY,
		func(a, sum reg.VecVirtual) {
			words, products := c.YMM(), c.YMM()
			c.VPMADDUBSW(a, a, words)
			for range 3 {
				c.VPMADDUBSW(a, a, products)
				c.VPADDW(products, words, words)
			}
			c.VPMADDWD(a, words, words)
			c.VPADDD(words, sum, sum)
		})
	loop(c, "int8AVX512", "VPDPBUSD of sixteen quads of bytes", zmm, clearZ,
		func(a, sum reg.VecVirtual) { c.VPDPBUSD(a, a, sum) })
}

// loop writes a function that runs rounds of one product in each chain.
func loop(c *Context, name, what string, register func() reg.VecVirtual, clear func(reg.VecVirtual), add func(a, sum reg.VecVirtual)) {
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
		add(a, s)
	}
	c.JMP(LabelRef("round"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
