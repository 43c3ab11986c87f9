package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// An indexed is a function that places indices of some bytes on an axis.
type indexed struct {
	*Context
	name, element string
	size          int
	load          func(from, to Op)
}

func indices(c *Context) {
	indexed{c, "placeLongsAVX2", "int64", 8, func(from, to Op) { c.VMOVDQU(from, to) }}.write()
	indexed{c, "placeIntsAVX2", "int32", 4, func(from, to Op) { c.VPMOVSXDQ(from, to) }}.write()
}

// write emits a loop over sixteen indices, four to a register.
func (f indexed) write() {
	f.Function(f.name)
	f.Pragma("noescape")
	f.SignatureExpr(fmt.Sprintf("func(to *int64, from *%s, n int, size, behind int64) (outside int)", f.element))
	f.Doc(f.name+" adds behind to those of n indices, a multiple of sixteen, that are negative. outside is not 0 if one", "of the sums is negative, or size or more.")
	to, from := f.Load(f.Param("to"), f.GP64()), f.Load(f.Param("from"), f.GP64())
	n := f.Load(f.Param("n"), f.GP64())
	behind, last, zero, outside := f.YMM(), f.YMM(), f.YMM(), f.YMM()
	f.VPBROADCASTQ(gen.Argument(f.Context, "behind"), behind)
	f.VPBROADCASTQ(gen.Argument(f.Context, "size"), last)
	f.VPCMPEQQ(zero, zero, zero)
	f.VPADDQ(zero, last, last) // one less
	f.VPXOR(zero, zero, zero)
	f.VPXOR(outside, outside, outside)
	f.Label("sixteen")
	for i := range 4 {
		v, add := f.YMM(), f.YMM()
		f.load(Mem{Base: from, Disp: 4 * i * f.size}, v)
		f.VPCMPGTQ(v, zero, add)
		f.VPAND(behind, add, add)
		f.VPADDQ(add, v, v)
		f.VMOVDQU(v, Mem{Base: to, Disp: 32 * i})
		f.VPOR(v, outside, outside)
		f.VPSUBQ(v, last, v)
		f.VPOR(v, outside, outside)
	}
	f.ADDQ(Imm(uint64(16*f.size)), from)
	f.ADDQ(Imm(128), to)
	f.SUBQ(Imm(16), n)
	f.JNZ(LabelRef("sixteen"))
	signs := f.GP32()
	f.VMOVMSKPD(outside, signs)
	f.VZEROUPPER()
	f.Store(signs.As64(), f.ReturnIndex(0))
	f.RET()
}
