// Command narrow writes the loops of package narrow.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("narrow",
		gen.File{Name: "halves", Build: halves},
		gen.File{Name: "bytes", Build: bytes},
	)
}

// A loop is a function that goes through arrays, eight elements a round. Its
// parameters are pointers, each with the bytes of an element, then n, a multiple of
// eight, then what begin loads.
type loop struct {
	*Context
	at   map[string]Mem
	size map[string]int
	n    reg.Register
}

// write emits a function. begin runs before the loop, round for each eight
// elements, and end behind it.
func write(c *Context, name, signature, doc string, arrays map[string]int, order []string, begin, round, end func(*loop)) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr(signature)
	c.Doc(doc)
	l := &loop{Context: c, at: map[string]Mem{}, size: arrays}
	for _, array := range order {
		l.at[array] = Mem{Base: c.Load(c.Param(array), c.GP64())}
	}
	l.n = c.Load(c.Param("n"), c.GP64())
	if begin != nil {
		begin(l)
	}
	c.Label("eight")
	c.SUBQ(Imm(8), l.n)
	c.JLT(LabelRef("done"))
	round(l)
	for _, array := range order {
		c.ADDQ(Imm(uint64(8*arrays[array])), l.at[array].Base)
	}
	c.JMP(LabelRef("eight"))
	c.Label("done")
	if end != nil {
		end(l)
	}
	c.VZEROUPPER()
	c.RET()
}

// constant fills a register with four bytes.
func (l *loop) constant(bits uint32) reg.VecVirtual {
	r, x := l.GP32(), l.XMM()
	y := l.YMM()
	l.MOVL(U32(bits), r)
	l.VMOVD(r, x)
	l.VPBROADCASTD(x, y)
	return y
}

// spread fills a register with a float that is a parameter.
func (l *loop) spread(name string) reg.VecVirtual {
	y := l.YMM()
	l.VPBROADCASTD(l.Load(l.Param(name), l.XMM()), y)
	return y
}

// spreadInt fills a register with an integer that is a parameter.
func (l *loop) spreadInt(name string) reg.VecVirtual {
	x, y := l.XMM(), l.YMM()
	l.VMOVD(l.Load(l.Param(name), l.GP32()), x)
	l.VPBROADCASTD(x, y)
	return y
}

// load loads eight elements of four bytes.
func (l *loop) load(array string) reg.VecVirtual {
	y := l.YMM()
	l.VMOVUPS(l.at[array], y)
	return y
}
