// Command move writes the transpositions of tiles, shuffles, streams and indices of package move.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("move",
		gen.File{Name: "tiles", Build: tiles},
		gen.File{Name: "shuffles", Build: shuffles},
		gen.File{Name: "streams", Build: streams},
		gen.File{Name: "indices", Build: indices})
}

func tiles(c *Context) {
	for _, t := range []tile{
		{name: "tiles8AVX2", what: "16x16 elements of 1 byte", rows: 16, cols: 16, body: bytes16},
		{name: "tiles16AVX2", what: "8 rows of 16 elements of 2 bytes", rows: 8, cols: 16, body: words8x16},
		{name: "tiles32AVX2", what: "8x8 elements of 4 bytes", rows: 8, cols: 8, body: longs8},
		{name: "tiles64AVX2", what: "4x4 elements of 8 bytes", rows: 4, cols: 4, body: quads4},
	} {
		t.Context = c
		t.write()
	}
	prefetch(c)
}

// prefetch writes the function that asks for lines before they are written.
func prefetch(c *Context) {
	c.Function("prefetchRows")
	c.Pragma("noescape")
	c.SignatureExpr("func(p *byte, step uintptr, n int)")
	c.Doc("prefetchRows asks for n lines, the first at p and each step bytes behind the one before, to be in the", "second-level cache. It reads nothing, wherever they lie.")
	p, step, n := c.Load(c.Param("p"), c.GP64()), c.Load(c.Param("step"), c.GP64()), c.Load(c.Param("n"), c.GP64())
	c.Label("line")
	c.PREFETCHT1(Mem{Base: p})
	c.ADDQ(step, p)
	c.DECQ(n)
	c.JNZ(LabelRef("line"))
	c.RET()
}

// A tile is a function that transposes tiles that lie at equal distances on both sides.
type tile struct {
	*Context
	name, what string
	rows, cols int // of the destination
	body       func(t *tile, d, s rows)
}

// rows are addresses of rows of memory: a pointer for each four of them.
type rows struct {
	base      []reg.GPVirtual
	step, by3 reg.GPVirtual
}

// at is the memory of a row, some bytes from its beginning.
func (r rows) at(i, bytes int) Mem {
	m := Mem{Base: r.base[i/4], Disp: bytes}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = r.step, 1
	case 2:
		m.Index, m.Scale = r.step, 2
	case 3:
		m.Index, m.Scale = r.by3, 1
	}
	return m
}

func (t *tile) write() {
	t.Function(t.name)
	t.Pragma("noescape")
	t.SignatureExpr("func(d, s *byte, toRow, fromRow, toNext, fromNext uintptr, n int)")
	t.Doc(fmt.Sprintf("%s transposes n tiles of %s: rows lie toRow and fromRow bytes apart, tiles toNext", t.name, t.what),
		"and fromNext bytes.")
	d := t.Load(t.Param("d"), t.GP64()).(reg.GPVirtual)
	s := t.Load(t.Param("s"), t.GP64()).(reg.GPVirtual)
	to, from := t.addresses(d, "toRow", t.rows), t.addresses(s, "fromRow", t.cols)
	n := t.Load(t.Param("n"), t.GP64())
	t.Label("tile")
	t.body(t, to, from)
	for _, side := range []struct {
		rows
		next string
	}{{to, "toNext"}, {from, "fromNext"}} {
		next := t.Load(t.Param(side.next), t.GP64())
		for _, b := range side.base {
			t.ADDQ(next, b)
		}
	}
	t.DECQ(n)
	t.JNZ(LabelRef("tile"))
	t.VZEROUPPER()
	t.RET()
}

// addresses makes those of n rows.
func (t *tile) addresses(first reg.GPVirtual, step string, n int) rows {
	r := rows{step: t.GP64(), by3: t.GP64()}
	t.Load(t.Param(step), r.step)
	t.LEAQ(Mem{Base: r.step, Index: r.step, Scale: 2}, r.by3)
	r.base = append(r.base, first)
	for i := 4; i < n; i += 4 {
		next := t.GP64()
		t.LEAQ(Mem{Base: r.base[len(r.base)-1], Index: r.step, Scale: 4}, next)
		r.base = append(r.base, next)
	}
	return r
}

// pair loads 16 bytes of two rows into the halves of a register. The broadcast is
// a plain load, after which avo knows that all of the register is written.
func (t *tile) pair(low, high Mem) reg.VecVirtual {
	y := t.YMM()
	t.VBROADCASTI128(low, y)
	t.VINSERTI128(Imm(1), high, y, y)
	return y
}

// interleave is the lower or upper elements of a and b, by turns, in each half.
type interleave func(ops ...Op)

// both gives the lower and the upper elements of two registers by turns.
func (t *tile) both(low, high interleave, a, b reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
	l, h := t.YMM(), t.YMM()
	low(b, a, l)
	high(b, a, h)
	return l, h
}

// longs8 does four rows of the destination at a time: their elements of rows 0 to
// 3 of the source in the lower half, those of rows 4 to 7 in the upper one.
func longs8(t *tile, d, s rows) {
	for half := range 2 {
		var r [4]reg.VecVirtual
		for i := range r {
			r[i] = t.pair(s.at(i, 16*half), s.at(i+4, 16*half))
		}
		a, b := t.both(t.VPUNPCKLDQ, t.VPUNPCKHDQ, r[0], r[1])
		e, f := t.both(t.VPUNPCKLDQ, t.VPUNPCKHDQ, r[2], r[3])
		o0, o1 := t.both(t.VPUNPCKLQDQ, t.VPUNPCKHQDQ, a, e)
		o2, o3 := t.both(t.VPUNPCKLQDQ, t.VPUNPCKHQDQ, b, f)
		for i, o := range []reg.VecVirtual{o0, o1, o2, o3} {
			t.VMOVDQU(o, d.at(4*half+i, 0))
		}
	}
}

// quads4 is longs8 for elements of 8 bytes: two rows at a time.
func quads4(t *tile, d, s rows) {
	for half := range 2 {
		a := t.pair(s.at(0, 16*half), s.at(2, 16*half))
		b := t.pair(s.at(1, 16*half), s.at(3, 16*half))
		o0, o1 := t.both(t.VPUNPCKLQDQ, t.VPUNPCKHQDQ, a, b)
		t.VMOVDQU(o0, d.at(2*half, 0))
		t.VMOVDQU(o1, d.at(2*half+1, 0))
	}
}

// eight loads rows 0 to 7 of the source into lower halves, rows 8 to 15 into
// upper ones.
func (t *tile) eight(s rows) []reg.VecVirtual {
	r := make([]reg.VecVirtual, 8)
	for i := range r {
		r[i] = t.pair(s.at(i, 0), s.at(i+8, 0))
	}
	return r
}

// A round makes elements of twice the size: those of two neighbours by turns.
type round struct{ low, high interleave }

// transposed takes eight registers through rounds. After each, what was low comes
// before what was high, so that neighbours are of the same columns. In the end
// register i has the columns of number reversed3(i).
func (t *tile) transposed(r []reg.VecVirtual, rounds ...round) []reg.VecVirtual {
	for _, x := range rounds {
		next := make([]reg.VecVirtual, 8)
		for i := range 4 {
			next[i], next[i+4] = t.both(x.low, x.high, r[2*i], r[2*i+1])
		}
		r = next
	}
	return r
}

// words8x16 transposes 16 rows of 8 elements of 2 bytes.
func words8x16(t *tile, d, s rows) {
	r := t.transposed(t.eight(s),
		round{t.VPUNPCKLWD, t.VPUNPCKHWD},
		round{t.VPUNPCKLDQ, t.VPUNPCKHDQ},
		round{t.VPUNPCKLQDQ, t.VPUNPCKHQDQ})
	for i, o := range r {
		t.VMOVDQU(o, d.at(reversed3(i), 0))
	}
}

// bytes16 is words8x16 for elements of 1 byte: each register ends with two rows
// of the destination, whose quarters have to change places.
func bytes16(t *tile, d, s rows) {
	r := t.transposed(t.eight(s),
		round{t.VPUNPCKLBW, t.VPUNPCKHBW},
		round{t.VPUNPCKLWD, t.VPUNPCKHWD},
		round{t.VPUNPCKLDQ, t.VPUNPCKHDQ})
	for i, o := range r {
		t.VPERMQ(Imm(0xd8), o, o)
		row := 2 * reversed3(i)
		t.VMOVDQU(o.AsX(), d.at(row, 0))
		t.VEXTRACTI128(Imm(1), o, d.at(row+1, 0))
	}
}

// reversed3 is the number with the three bits of i in the other order.
func reversed3(i int) int { return i&1<<2 | i&2 | i>>2 }
