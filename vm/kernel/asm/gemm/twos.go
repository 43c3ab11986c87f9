package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Panels of bf16 in twos have two rows side by side, element by element, as VDPBF16PS reads
// them. To floats they are one instruction a register: the first row's elements are shifted
// up, the second's are what lies above them. Elements that stand behind one another take two,
// and units that multiply have to run all of them: 24 products come with 2 such instructions
// instead of 4.
//
//	B       k0n0 k1n0 k0n1 k1n1 ...
//	first   0    k0n0 0    k0n1       of each four bytes the lower half is zero
//	second  0    k1n0 0    k1n1

// upperHalves are the second elements of sixteen fours, by elements of two bytes.
const upperHalves = 0xaaaaaaaa

// secondMask is a mask of the second elements of twos.
func secondMask(c *Context) reg.OpmaskVirtual {
	bits, mask := c.GP32(), c.K()
	c.MOVL(U32(upperHalves), bits)
	c.KMOVD(bits, mask)
	return mask
}

// parted loads a register of twos and makes floats of both rows.
func parted(c *Context, m Mem, second reg.OpmaskVirtual) (rows [2]reg.VecVirtual) {
	z := c.ZMM()
	for i := range rows {
		rows[i] = c.ZMM()
	}
	c.VMOVDQU16(m, z)
	c.VPSLLD(Imm(16), z, rows[0])
	c.VMOVDQU16_Z(z, second, rows[1])
	return rows
}

// beside is how many rows of a panel stand side by side.
func (o operands) beside() int {
	if o.inTwos {
		return 2
	}
	return 1
}

// restOfTwos is the steps along k that are too few for the loop: pairs, and one.
func (t *tile) restOfTwos(line, k reg.GPVirtual) {
	t.SUBQ(Imm(2), k)
	t.JLT(LabelRef("last"))
	t.twos(line, 2)
	t.SUBQ(Imm(2), k)
	t.Label("last")
	t.ADDQ(Imm(2), k)
	t.JEQ(LabelRef("multiplied"))
	t.twos(line, 1)
}

// twos adds the products of a pair of rows of the panels, or of the first of a pair alone.
func (t *tile) twos(line reg.GPVirtual, rows int) {
	if t.panels == 1 {
		t.twosByRow(line, rows)
	} else {
		t.twosByRegister(rows)
	}
	for range 2 {
		t.advance(t.b, line)
		if t.soon != nil {
			t.ADDQ(line, t.soon)
		}
	}
}

// twosByRow is byRow for two rows.
func (t *tile) twosByRow(line reg.GPVirtual, rows int) {
	var b [2][2]reg.VecVirtual // by register and row
	for v := range b {
		b[v] = parted(t.Context, Mem{Base: t.b.p, Disp: v * t.bytes}, t.second)
		t.PREFETCHT0(Mem{Base: t.b.p, Index: line, Scale: ahead, Disp: v * t.bytes})
	}
	for row := range rows {
		t.keepRow([]reg.VecVirtual{b[0][row], b[1][row]})
		for i := range t.height {
			a := t.alloc(t.Context)
			t.spread(t, t.a.row(i), a)
			for v := range b {
				t.add(t, a, b[v][row], t.sums[i][v])
			}
		}
		t.advance(t.a, t.step)
	}
}

// twosByRegister is byRegister for two rows.
func (t *tile) twosByRegister(rows int) {
	a := make([][]reg.VecVirtual, rows)
	for row := range a {
		for i := range t.height {
			r := t.alloc(t.Context)
			t.spread(t, t.a.row(i), r)
			a[row] = append(a[row], r)
		}
		t.advance(t.a, t.step)
	}
	for v := range t.width() {
		t.PREFETCHT0(t.soonAt(v / 2).Offset(v % 2 * t.bytes))
		b := parted(t.Context, t.b.row(v/2).Offset(v%2*t.bytes), t.second)
		for row := range a {
			for i := range t.height {
				t.add(t, a[row][i], b[row], t.sums[i][v])
			}
		}
	}
}
