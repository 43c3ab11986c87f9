// Command long writes the loops of package long.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("long",
		gen.File{Name: "loops", Build: func(c *Context) {
			for _, l := range loops {
				l.write(c)
			}
		}},
		gen.File{Name: "functions", Build: functions},
		gen.File{Name: "casts", Build: casts},
	)
}

// A loop is a function that goes through elements, eight at a time.
type loop struct {
	name, what string
	from, to   int // bytes of an element of the arguments, and of the result
	args       int
	// round makes registers of four elements, or of eight of four bytes or less, of the
	// arguments, and stores them.
	round func(e *eight)
}

// An eight is a round of a loop on its way.
type eight struct {
	*Context
	*loop
	arg [3]Mem
	d   Mem
	// constants are loaded once, before the loop.
	zero, ones, sign reg.VecVirtual
}

func (l loop) write(c *Context) {
	c.Function(l.name + "AVX2")
	c.Pragma("noescape")
	c.SignatureExpr("func(d, a, b, c *byte, n int)")
	c.Doc(fmt.Sprintf("%sAVX2 makes %s, of n elements, a multiple of eight.", l.name, l.what))
	e := &eight{Context: c, loop: &l, d: Mem{Base: c.Load(c.Param("d"), c.GP64())}, zero: c.YMM(), ones: c.YMM(), sign: c.YMM()}
	for i := range l.args {
		e.arg[i] = Mem{Base: c.Load(c.Param(string("abc"[i])), c.GP64())}
	}
	n := c.Load(c.Param("n"), c.GP64())
	c.VPXOR(e.zero, e.zero, e.zero)
	c.VPCMPEQQ(e.ones, e.ones, e.ones)
	c.VPSLLQ(Imm(63), e.ones, e.sign)
	c.Label("eight")
	l.round(e)
	for i := range l.args {
		c.ADDQ(Imm(uint64(8*e.bytes(i))), e.arg[i].Base)
	}
	c.ADDQ(Imm(uint64(8*l.to)), e.d.Base)
	c.SUBQ(Imm(8), n)
	c.JNZ(LabelRef("eight"))
	c.VZEROUPPER()
	c.RET()
}

// bytes is the size of an element of an argument: of three, the first is a truth.
func (e *eight) bytes(arg int) int {
	if e.args == 3 && arg == 0 {
		return 1
	}
	return e.from
}

// load is half of the eight elements of an argument, of eight bytes each.
func (e *eight) load(arg, half int) reg.VecVirtual {
	y := e.YMM()
	e.VMOVDQU(e.arg[arg].Offset(32*half), y)
	return y
}

// fours is a round that makes four elements of as many, twice.
func fours(f func(e *eight, a, b reg.VecVirtual)) func(e *eight) {
	return func(e *eight) {
		for half := range 2 {
			a, b := e.load(0, half), reg.VecVirtual(nil)
			if e.args > 1 {
				b = e.load(1, half)
			}
			f(e, a, b)
			e.VMOVDQU(a, e.d.Offset(32*half))
		}
	}
}

// tests is a round that makes bytes of 0 and 1 of masks, or of their opposites.
func tests(opposite bool, f func(e *eight, a, b, to reg.VecVirtual)) func(e *eight) {
	return func(e *eight) {
		var half [2]reg.VecVirtual
		for i := range half {
			a, b, mask := e.load(0, i), e.zero, e.YMM()
			if e.args > 1 {
				b = e.load(1, i)
			}
			f(e, a, b, mask)
			half[i] = e.lower(mask)
		}
		x, one := half[0].AsX(), e.XMM()
		e.VPACKSSDW(half[1].AsX(), x, x)
		e.VPACKSSWB(x, x, x)
		e.VPABSB(e.ones.AsX(), one)
		if opposite {
			e.VPANDN(one, x, x)
		} else {
			e.VPAND(one, x, x)
		}
		e.VMOVQ(x, e.d)
	}
}

// lower is the lower four bytes of four elements.
func (e *eight) lower(y reg.VecVirtual) reg.VecVirtual {
	high, low := e.XMM(), e.XMM()
	e.VEXTRACTI128(Imm(1), y, high)
	e.VSHUFPS(Imm(0x88), high, y.AsX(), low)
	return low
}
