package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A shuffle is a function that makes some registers of 16 bytes out of others, byte by
// byte as a table says, two blocks of them at a time: one in each half of 32 bytes.
type shuffle struct {
	*Context
	in, out int
}

// shuffleKinds are how many registers are made of how many.
var shuffleKinds = []shuffle{{in: 1, out: 1}, {in: 1, out: 2}, {in: 1, out: 3}, {in: 1, out: 4}, {in: 2, out: 1}, {in: 3, out: 1}, {in: 4, out: 1}, {in: 2, out: 2}, {in: 3, out: 3}, {in: 4, out: 4}}

func shuffles(c *Context) {
	for _, f := range shuffleKinds {
		f.Context = c
		f.write()
	}
}

// The words of paces, in bytes.
const (
	stepAt = 0
	highAt = 8
	nextAt = 16
	fromAt = 24 // what is behind is of the source
)

func (f shuffle) write() {
	name := fmt.Sprintf("shuffle%dx%dAVX2", f.in, f.out)
	f.Function(name)
	f.Pragma("noescape")
	f.SignatureExpr("func(d, s *byte, p *[6]int, masks *byte, n int)")
	f.Doc(fmt.Sprintf("%s makes %d times 16 bytes of %d, twice at once, n times. The mask of result j and source i,", name, f.out, f.in),
		"twice 16 bytes, is number j*"+fmt.Sprint(f.in)+"+i.")
	p := f.Load(f.Param("p"), f.GP64())
	to, toNext := f.side("d", p, 0, f.out)
	from, fromNext := f.side("s", p, fromAt, f.in)
	masks := f.Load(f.Param("masks"), f.GP64())
	n := f.Load(f.Param("n"), f.GP64())
	f.Label("block")
	in := make([]reg.VecVirtual, f.in)
	for i := range in {
		in[i] = f.YMM()
		f.VBROADCASTI128(from[0].at(i), in[i]) // a plain load, after which avo knows that all is written
		f.VINSERTI128(Imm(1), from[1].at(i), in[i], in[i])
	}
	for j := range f.out {
		all := f.YMM()
		f.VPSHUFB(Mem{Base: masks, Disp: 32 * j * f.in}, in[0], all)
		for i := 1; i < f.in; i++ {
			more := f.YMM()
			f.VPSHUFB(Mem{Base: masks, Disp: 32 * (j*f.in + i)}, in[i], more)
			f.VPOR(more, all, all)
		}
		f.VMOVDQU(all.AsX(), to[0].at(j))
		f.VEXTRACTI128(Imm(1), all, to[1].at(j))
	}
	for half := range 2 {
		f.ADDQ(fromNext, from[half].p)
		f.ADDQ(toNext, to[half].p)
	}
	f.DECQ(n)
	f.JNZ(LabelRef("block"))
	f.VZEROUPPER()
	f.RET()
}

// A four reaches four places at one distance from each other.
type four struct{ p, by, by3 reg.Register }

func (x four) at(i int) Mem {
	return [...]Mem{{Base: x.p}, {Base: x.p, Index: x.by, Scale: 1}, {Base: x.p, Index: x.by, Scale: 2}, {Base: x.p, Index: x.by3, Scale: 1}}[i]
}

// side loads what count places of one side need, those of the lower and of the upper
// halves, and where in memory the distance to the next blocks stands.
func (f shuffle) side(name string, p reg.Register, at, count int) (x [2]four, next Mem) {
	low, high, by, by3 := f.Load(f.Param(name), f.GP64()), f.GP64(), f.GP64(), f.GP64()
	if count > 1 {
		f.MOVQ(Mem{Base: p, Disp: at + stepAt}, by)
	}
	if count > 3 {
		f.LEAQ(Mem{Base: by, Index: by, Scale: 2}, by3)
	}
	f.MOVQ(Mem{Base: p, Disp: at + highAt}, high)
	f.ADDQ(low, high)
	return [2]four{{low, by, by3}, {high, by, by3}}, Mem{Base: p, Disp: at + nextAt}
}
