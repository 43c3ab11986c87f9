package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// loneKeys is how many keys are under way at a time, loneDeep how many of their floats
// are taken in a row: a line of the cache.
const loneKeys, loneDeep = 16, 16

// lone writes the scores of one query without packing the keys: squares of eight by
// eight floats are turned in registers. Sums run along the floats of a key in order, as
// they do in the tiles.
func lone(c *build.Context) {
	c.Function("loneAVX2")
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, q, k *float32, ld, n, deep int)")
	c.Doc("loneAVX2 writes the products of a query of deep floats, a multiple of 16, and each",
		"of n keys, at least 16, which are ld floats apart.")
	arg := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, q, k, ld, left := arg("dst"), arg("q"), arg("k"), arg("ld"), arg("n")
	c.SHLQ(U8(2), ld)
	at, deep := c.GP64(), c.GP64()
	c.MOVQ(k, at)
	near := gen.Eight(c, at, ld)
	far, then := gen.Strided{P: c.GP64(), P4: c.GP64(), By: ld, By3: near.By3}, gen.Strided{P: c.GP64(), P4: c.GP64(), By: ld, By3: near.By3}
	sums := [2]reg.VecVirtual{c.YMM(), c.YMM()}
	c.Label("keys")
	c.MOVQ(k, at)
	c.Load(c.Param("deep"), deep)
	for _, s := range sums {
		c.VXORPS(s, s, s)
	}
	c.Label("floats")
	near.Far(c)
	c.LEAQ(Mem{Base: near.P, Index: ld, Scale: 8}, far.P)
	far.Far(c)
	for b, rows := range []gen.Strided{near, far} {
		// The keys behind these are asked for, into the second cache: rows that are 4 KB
		// apart share a set of the first, which has room for eight.
		c.LEAQ(Mem{Base: far.P, Index: ld, Scale: 8}, then.P)
		if b > 0 {
			c.LEAQ(Mem{Base: then.P, Index: ld, Scale: 8}, then.P)
		}
		then.Far(c)
		for i := range 8 {
			c.PREFETCHT1(then.At(i))
		}
		for half := range loneDeep / 8 {
			var r [8]reg.VecVirtual
			for i := range r {
				r[i] = c.YMM()
				c.VMOVUPS(rows.At(i).Offset(32*half), r[i])
			}
			for i, v := range gen.Transposed(c, r) {
				f := c.YMM()
				c.VBROADCASTSS(Mem{Base: q, Disp: 4 * (8*half + i)}, f)
				c.VFMADD231PS(v, f, sums[b])
			}
		}
	}
	c.ADDQ(U8(4*loneDeep), near.P)
	c.ADDQ(U8(4*loneDeep), q)
	c.SUBQ(U8(loneDeep), deep)
	c.JG(LabelRef("floats"))
	for b, s := range sums {
		c.VMOVUPS(s, Mem{Base: dst, Disp: 32 * b})
	}
	c.Load(c.Param("q"), q)
	c.SUBQ(U8(loneKeys), left)
	c.JLE(LabelRef("end"))
	// The last keys may overlap those before, and are the same again.
	step := c.GP64()
	c.MOVQ(U32(loneKeys), step)
	c.CMPQ(left, step)
	c.CMOVQLT(left, step)
	c.LEAQ(Mem{Base: dst, Index: step, Scale: 4}, dst)
	c.IMULQ(ld, step)
	c.ADDQ(step, k)
	c.CMPQ(left, U8(loneKeys))
	c.JGE(LabelRef("keys"))
	c.MOVQ(U32(loneKeys), left)
	c.JMP(LabelRef("keys"))
	c.Label("end")
	c.VZEROUPPER()
	c.RET()
}
