// Command peak writes the loops of package peak.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("peak", gen.File{Name: "loops", Build: loops})
}

// Chains are how many products are under way: two units with a latency of four cycles need
// eight, of AVX-512 with six, as products of bf16 have on some, twelve. Of AVX2 there are no
// more registers.
const (
	chains     = 12
	wideChains = 24
)

func loops(c *Context) {
	ymm := vectors{"twelve", chains, func() reg.VecVirtual { return c.YMM() }, func(r reg.VecVirtual) { c.VXORPS(r, r, r) }}
	zmm := vectors{"twenty-four", wideChains, func() reg.VecVirtual { return c.ZMM() }, func(r reg.VecVirtual) { c.VPXORD(r, r, r) }}
	fma := func(a, sum reg.VecVirtual) { c.VFMADD231PS(a, a, sum) }
	loop(c, "fmaAVX2", "VFMADD231PS of eight floats", ymm, fma)
	loop(c, "fmaAVX512", "VFMADD231PS of sixteen floats", zmm, fma)
	loop(c, "bf16AVX512", "VDPBF16PS of sixteen pairs of bf16", zmm,
		func(a, sum reg.VecVirtual) { c.Instruction(gen.Accumulate("VDPBF16PS", a, a, sum)) })
	loop(c, "int8AVX2", "sums of four VPMADDUBSW of eight quads of bytes, by VPADDW, VPMADDWD and VPADDD", ymm,
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
	loop(c, "quadsAVX2", "VPDPBUSD of eight quads of bytes", ymm,
		func(a, sum reg.VecVirtual) { c.Instruction(gen.Accumulate("VEX.VPDPBUSD", a, a, sum)) })
	loop(c, "int8AVX512", "VPDPBUSD of sixteen quads of bytes", zmm,
		func(a, sum reg.VecVirtual) { c.VPDPBUSD(a, a, sum) })
	read(c, "readAVX2", ymm, 32, func(m Mem, to reg.VecVirtual) { c.VMOVDQU(m, to) })
	read(c, "readAVX512", zmm, 64, func(m Mem, to reg.VecVirtual) { c.VMOVDQU64(m, to) })
}

// vectors are the registers of a level, and how many chains it has.
type vectors struct {
	many   string
	chains int
	alloc  func() reg.VecVirtual
	clear  func(reg.VecVirtual)
}

// loop writes a function that runs rounds of one product in each chain.
func loop(c *Context, name, what string, v vectors, add func(a, sum reg.VecVirtual)) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(rounds int)")
	c.Doc(name + " runs rounds of " + v.many + " independent " + what + " in registers.")
	n := c.Load(c.Param("rounds"), c.GP64())
	a := v.alloc()
	v.clear(a)
	sums := make([]reg.VecVirtual, v.chains)
	for i := range sums {
		sums[i] = v.alloc()
		v.clear(sums[i])
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

// blockBytes is what a round of reading reads.
const blockBytes = 512

// read writes a function that loads memory and does nothing with it.
func read(c *Context, name string, v vectors, size int, load func(m Mem, to reg.VecVirtual)) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(data *byte, blocks int)")
	c.Doc(fmt.Sprintf("%s reads so many blocks of %d bytes.", name, blockBytes))
	data, n := Mem{Base: c.Load(c.Param("data"), c.GP64())}, c.Load(c.Param("blocks"), c.GP64())
	c.Label("block")
	c.DECQ(n)
	c.JLT(LabelRef("done"))
	for at := 0; at < blockBytes; at += size {
		load(data.Offset(at), v.alloc())
	}
	c.ADDQ(U32(blockBytes), data.Base)
	c.JMP(LabelRef("block"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
