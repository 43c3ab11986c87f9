package attn

import (
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// A Half is a type of floats of two bytes. All is computed in float32: operands are
// widened where they are packed, results rounded once where they are written.
type Half struct {
	widen func(level isa.Level, dst []float32, src []uint16)
	round func(level isa.Level, dst []uint16, src []float32)
	wide  func(uint16) float32
}

// The types of floats of two bytes.
var (
	BF16 = &Half{narrow.FromBF16, narrow.ToBF16, narrow.BF16}
	F16  = &Half{narrow.FromF16, narrow.ToF16, narrow.F16}
)

// OfHalves makes operands, results and masks that are added be of a type of halves: they
// lie in the field Halves of an Operand or a Mask.
func (p *Plan) OfHalves(h *Half) *Plan {
	p.half = h
	return p
}

// load widens elements, col apart from one on.
func (h *Half) load(level isa.Level, dst []float32, src []uint16, at, col int) {
	if col == 1 {
		h.widen(level, dst, src[min(at, len(src)):])
		return
	}
	for i := range dst {
		dst[i] = h.wide(src[at+i*col])
	}
}

// rows is a matrix of n rows of an operand from one on, which are widened into memory if
// they are halves.
func (p *Plan) rows(o *Operand, batch, head, from, n, cols int, memory *[]float32) gemm.Matrix {
	at := o.at(batch, head, from)
	if p.half == nil {
		return gemm.Matrix{Data: o.Data[min(at, len(o.Data)):], Row: o.Row, Col: o.Col}
	}
	to := grown(memory, n*cols)
	for r := range n {
		p.half.load(p.level, to[r*cols:][:cols], o.Halves, at+r*o.Row, o.Col)
	}
	return gemm.Matrix{Data: to, Row: cols, Col: 1}
}

// round writes the results of a block as halves.
func (b *block) round() {
	p, out := b.p, &b.a.Out
	row := b.x.halves(p.E)
	for r := range b.rows {
		at := out.at(b.batch, b.head, b.first+r)
		from := b.out[r*b.ldOut:][:p.E]
		if out.Col == 1 {
			p.half.round(p.level, out.Halves[at:at+p.E], from)
			continue
		}
		p.half.round(p.level, row, from)
		for e, v := range row {
			out.Halves[at+e*out.Col] = v
		}
	}
}

// halves is memory for n of them.
func (x *Scratch) halves(n int) []uint16 {
	if len(x.narrow) < n {
		x.narrow = make([]uint16, n)
	}
	return x.narrow[:n]
}
