package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of conv.bunches, at their offsets.
const (
	fieldSrc     = 8 * iota
	fieldLies    // bytes from src to each place
	fieldOffsets // by k: bytes from a place to what it sees
	fieldFilters // two registers for each k
	fieldSums    // of one place after another
	fieldLd      // bytes from one place's sums to the next
	fieldDepth   // k
	fieldAdd     // 0: begin with zero; else with the sums
	fieldNext    // what the loop asks for ahead of its use, two lines at a time
	fieldHop     // bytes to go on there every four steps
	fieldCount   // bunches
)

// placesOf is how many places a bunch has at most. AVX2: six of two registers leave
// two for filters and two for what a place sees. AVX-512 would have the registers for
// fourteen; eight have as many sums under way as products take, and a pointer each.
var placesOf = map[string]int{"AVX2": 6, "AVX512": 8}

// neighboursOf is how many a bunch of neighbours has with AVX-512, where one pointer does for
// all of them. Fourteen leave two registers for filters and two for what a place sees, and are
// what rows of 7, 14, 28, 56 and 112 places are made of. On an Emerald Rapids whose cores have a
// busy neighbour on their other half they take less time than eight, for which filters are
// loaded more often. Products that take what a place sees from memory (see asm/gemm/spread.go)
// gained nothing here: there would be two loads and more in a cycle.
const neighboursOf = 14

const (
	unroll = 4 // steps along k that the loop has in a row
	ahead  = 8 // how many steps before their use filters are asked for
)

// places writes a function for each number of places.
func places(c *Context) {
	for _, l := range levels {
		for n := 1; n <= placesOf[l.name]; n++ {
			newBunch(c, l, n).write(fmt.Sprintf("places%d%s", n, l.name), "places")
		}
	}
	for n := 1; n <= neighboursOf; n++ {
		b := newBunch(c, levels[1], n)
		b.neighbours = true
		b.write(fmt.Sprintf("neighbours%d%s", n, b.name), "neighbours")
	}
}

// A bunch is a function that is being written: n places, and two registers of filters.
type bunch struct {
	*Context
	level
	at   reg.GPVirtual
	sums [][]reg.VecVirtual // by place

	neighbours bool // the places of a bunch are neighbours in memory
}

func newBunch(c *Context, l level, n int) *bunch {
	b := &bunch{Context: c, level: l, sums: make([][]reg.VecVirtual, n)}
	for i := range b.sums {
		b.sums[i] = l.vecs(c, 2)
	}
	return b
}

func (b *bunch) write(name, what string) {
	b.Function(name)
	b.Pragma("noescape")
	b.Signature(gen.Pointer("conv", "b", "bunches"))
	b.Doc(fmt.Sprintf("%s sums up what bunches of %d %s see times %d filters.", name, len(b.sums), what, b.bytes/2))
	b.at = b.Load(b.Param("b"), b.GP64()).(reg.GPVirtual)
	b.Label("bunch")
	b.begin()
	b.products()
	b.put()
	b.DECQ(Mem{Base: b.at, Disp: fieldCount})
	b.JNE(LabelRef("bunch"))
	end(b.Context)
}

func (b *bunch) field(offset int) reg.GPVirtual {
	r := b.GP64()
	b.MOVQ(Mem{Base: b.at, Disp: offset}, r)
	return r
}

// each does f for each register of sums and its place in memory; it returns what
// points behind them.
func (b *bunch) each(f func(m Mem, r reg.VecVirtual)) (behind reg.GPVirtual) {
	to, ld := b.field(fieldSums), b.field(fieldLd)
	for _, place := range b.sums {
		for v, r := range place {
			f(Mem{Base: to, Disp: v * b.bytes}, r)
		}
		b.ADDQ(ld, to)
	}
	return to
}

// begin sets the sums to zero or to what is there.
func (b *bunch) begin() {
	b.CMPQ(Mem{Base: b.at, Disp: fieldAdd}, Imm(0))
	b.JNE(LabelRef("add"))
	for _, place := range b.sums {
		for _, r := range place {
			b.clear(b.Context, r)
		}
	}
	b.JMP(LabelRef("multiply"))
	b.Label("add")
	b.each(func(m Mem, r reg.VecVirtual) { b.VMOVUPS(m, r) })
	b.Label("multiply")
}

// put stores the sums and goes on to the next bunch's.
func (b *bunch) put() {
	behind := b.each(func(m Mem, r reg.VecVirtual) { b.VMOVUPS(r, m) })
	b.MOVQ(behind, Mem{Base: b.at, Disp: fieldSums})
}

// sources are the places of the bunch, whose list goes on to the next.
func (b *bunch) sources() []reg.GPVirtual {
	lies, first := b.field(fieldLies), b.field(fieldSrc)
	src := make([]reg.GPVirtual, len(b.sums))
	if b.neighbours {
		src = src[:1]
	}
	for i := range src {
		src[i] = b.GP64()
		b.MOVQ(Mem{Base: lies, Disp: 8 * i}, src[i])
		b.ADDQ(first, src[i])
	}
	b.ADDQ(Imm(uint64(8*len(b.sums))), lies)
	b.MOVQ(lies, Mem{Base: b.at, Disp: fieldLies})
	return src
}

// products adds k times what the places see and a row of filters.
func (b *bunch) products() {
	src := b.sources()
	offsets, filters, k := b.field(fieldOffsets), b.field(fieldFilters), b.field(fieldDepth)
	next, hop := b.field(fieldNext), b.field(fieldHop)
	goOn := func(n int) {
		b.ADDQ(Imm(uint64(8*n)), offsets)
		b.ADDQ(U32(2*n*b.bytes), filters)
	}
	b.SUBQ(Imm(unroll), k)
	b.JLT(LabelRef("rest"))
	b.Label("four")
	b.PREFETCHT1(Mem{Base: next})
	b.PREFETCHT1(Mem{Base: next, Disp: 64})
	b.ADDQ(hop, next)
	for s := range unroll {
		b.product(src, offsets, filters, s)
	}
	goOn(unroll)
	b.SUBQ(Imm(unroll), k)
	b.JGE(LabelRef("four"))
	b.Label("rest")
	b.MOVQ(next, Mem{Base: b.at, Disp: fieldNext})
	b.ADDQ(Imm(unroll), k)
	b.JEQ(LabelRef("multiplied"))
	b.Label("one")
	b.product(src, offsets, filters, 0)
	goOn(1)
	b.DECQ(k)
	b.JNE(LabelRef("one"))
	b.Label("multiplied")
}

// product is step s along k: what each place sees, by a row of filters.
func (b *bunch) product(src []reg.GPVirtual, offsets, filters reg.GPVirtual, s int) {
	offset, row := b.GP64(), b.vecs(b.Context, 2)
	b.MOVQ(Mem{Base: offsets, Disp: 8 * s}, offset)
	line := 2 * b.bytes
	for v, r := range row {
		b.VMOVUPS(Mem{Base: filters, Disp: s*line + v*b.bytes}, r)
	}
	for at := 0; at < line; at += 64 {
		b.PREFETCHT0(Mem{Base: filters, Disp: (s+ahead)*line + at})
	}
	at := func(i int) Mem { return Mem{Base: src[i], Index: offset, Scale: 1} }
	if b.neighbours {
		at = func(i int) Mem { return Mem{Base: src[0], Index: offset, Scale: 1, Disp: 4 * i} }
	}
	for i, place := range b.sums {
		x := b.vec(b.Context)
		b.VBROADCASTSS(at(i), x)
		for v, r := range row {
			b.VFMADD231PS(r, x, place[v])
		}
	}
}
