package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A sparse tile is one row of A that has many zeros: field A is a list of the elements that
// are not zero, each with how many bytes behind the first row of the panel its own one lies,
// and field K their number. It asks for nothing ahead: that made it slower where the second
// cache holds the panels, and gained nothing elsewhere.
//
// To leave a zero out changes no sum but one of -0, to which +0 would have been added. So a
// tile that has come to one writes nothing and says so in field Lost.

// The fields of gemm.term.
const (
	termAt    = 4 * iota
	termValue //
	termSize  // of all
)

// sparseTiles lists the panels that such tiles span.
func sparseTiles(o operands, write func(panels int)) {
	if !o.sparse {
		return
	}
	for _, panels := range []int{1, o.panelsOf(1)} {
		write(panels)
	}
}

// sparseProducts is products for a sparse tile.
func (t *tile) sparseProducts() {
	terms, k := t.field(fieldA), t.field(fieldK)
	t.b = t.rowsAt(fieldB, fieldPanel, t.panels)
	first, at := t.b.p, t.GP64()
	t.b.p = at
	t.TESTQ(k, k)
	t.JEQ(LabelRef("multiplied"))
	t.Label("one")
	t.MOVL(Mem{Base: terms, Disp: termAt}, at.As32())
	t.ADDQ(first, at)
	value := t.alloc(t.Context)
	t.spread(t, Mem{Base: terms, Disp: termValue}, value)
	for v, sum := range t.sums[0] {
		t.from(t, value, t.b.row(v/2).Offset(v%2*t.lineBytes()), sum)
	}
	t.ADDQ(Imm(termSize), terms)
	t.DECQ(k)
	t.JNE(LabelRef("one"))
	t.Label("multiplied")
}

// loseNegativeZeros goes to the end if a sum is -0, which as an integer is the least.
func (t *tile) loseNegativeZeros() {
	least := t.alloc(t.Context)
	t.VPMINSD(t.sums[0][0], t.sums[0][1], least)
	for _, sum := range t.sums[0][2:] {
		t.VPMINSD(sum, least, least)
	}
	lost := t.equal(t.Context, least, 1<<31)
	t.MOVQ(lost, Mem{Base: t.arg, Disp: fieldLost})
	t.TESTQ(lost, lost)
	t.JNE(LabelRef("done"))
}

// equalYMM and equalZMM are vectors.equal.
func equalYMM(c *Context, r reg.VecVirtual, number uint32) reg.GPVirtual {
	gp, x, y := c.GP64(), c.XMM(), c.YMM()
	c.MOVL(U32(number), gp.As32())
	c.VMOVD(gp.As32(), x)
	c.VPBROADCASTD(x, y)
	c.VPCMPEQD(r, y, y)
	c.VMOVMSKPS(y, gp.As32())
	return gp
}

func equalZMM(c *Context, r reg.VecVirtual, number uint32) reg.GPVirtual {
	gp, z, k := c.GP64(), c.ZMM(), c.K()
	c.MOVL(U32(number), gp.As32())
	c.VPBROADCASTD(gp.As32(), z)
	c.VPCMPEQD(r, z, k)
	c.KMOVW(k, gp.As32())
	return gp
}
