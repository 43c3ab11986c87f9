// Command narrow writes the loops of package narrow.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("narrow",
		gen.File{Name: "halves", Build: halves},
		gen.File{Name: "halves_avx512", Build: wideHalves},
		gen.File{Name: "bytes", Build: bytes},
		gen.File{Name: "bytes_avx512", Build: wideBytes},
	)
}

// A loop is a function that goes through arrays, eight elements a round. Its
// parameters are pointers, each with the bytes of an element, then n, a multiple of
// eight, then what begin loads.
type loop struct {
	*Context
	name  string
	at    map[string]Mem
	size  map[string]int
	order []string // of the arrays
	n     reg.Register
}

// begin emits the head of a function.
func begin(c *Context, name, signature, doc string, arrays map[string]int, order []string) *loop {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr(signature)
	c.Doc(doc)
	l := &loop{Context: c, name: name, at: map[string]Mem{}, size: arrays, order: order}
	for _, array := range order {
		l.at[array] = Mem{Base: c.Load(c.Param(array), c.GP64())}
	}
	l.n = c.Load(c.Param("n"), c.GP64())
	return l
}

// rounds emits a loop, each round of which is for so many times eight elements; what is
// too few for one is left to a loop behind it.
func (l *loop) rounds(label string, eights int, round func()) {
	l.Label(label)
	l.SUBQ(Imm(uint64(8*eights)), l.n)
	l.JLT(LabelRef(label + "Done"))
	round()
	for _, array := range l.order {
		l.ADDQ(U32(uint32(8*eights*l.size[array])), l.at[array].Base)
	}
	l.JMP(LabelRef(label))
	l.Label(label + "Done")
	if eights > 1 {
		l.ADDQ(Imm(uint64(8*eights)), l.n)
	}
}

func (l *loop) end() {
	l.VZEROUPPER()
	l.RET()
}

// write emits a function. first runs before the loop, round for each eight
// elements, and last behind it.
func write(c *Context, name, signature, doc string, arrays map[string]int, order []string, first, round, last func(*loop)) {
	l := begin(c, name, signature, doc, arrays, order)
	if first != nil {
		first(l)
	}
	l.rounds("eight", 1, func() { round(l) })
	if last != nil {
		last(l)
	}
	l.end()
}

// table is eight constants of four bytes in a register.
func (l *loop) table(name string, values []uint32) reg.VecVirtual {
	data, y := l.StaticGlobal(l.name+name), l.YMM()
	l.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, v := range values {
		l.AddDatum(4*i, U32(v))
	}
	l.VMOVDQU(data, y)
	return y
}

// constant fills a register with four bytes.
func (l *loop) constant(bits uint32) reg.VecVirtual {
	r := l.GP32()
	l.MOVL(U32(bits), r)
	return l.fill(r)
}

// fill fills a register with those of another one.
func (l *loop) fill(r reg.Register) reg.VecVirtual {
	x, y := l.XMM(), l.YMM()
	l.VMOVD(r, x)
	l.VPBROADCASTD(x, y)
	return y
}

// spread fills a register with a float that is a parameter.
func (l *loop) spread(name string) reg.VecVirtual {
	y := l.YMM()
	l.VBROADCASTSS(gen.Argument(l.Context, name), y)
	return y
}

// load loads eight elements of four bytes.
func (l *loop) load(array string) reg.VecVirtual {
	y := l.YMM()
	l.VMOVUPS(l.at[array], y)
	return y
}

// one makes one element, of so many bytes, of those of a register, by joining its halves
// again and again. It is the lowest of what it returns.
func (l *loop) one(v reg.VecVirtual, bytes int, join func(ops ...Op)) reg.Register {
	if v.Size() == 64 {
		y := l.YMM()
		l.VEXTRACTI64X4(Imm(1), v, y)
		join(y, v.AsY(), y)
		v = y
	}
	x, t := l.XMM(), l.XMM()
	l.VEXTRACTI128(Imm(1), v, x)
	join(x, v.AsX(), x)
	l.VPSHUFD(Imm(0x4e), x, t) // halves
	join(t, x, x)
	if bytes == 4 {
		l.VPSHUFD(Imm(0xb1), x, t) // neighbours
		join(t, x, x)
	}
	return x
}
