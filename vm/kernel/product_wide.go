package kernel

import (
	"fmt"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/wide"
)

// A wideKind is what products of f64 and of integers by the tiles of package wide have. Nothing may follow them in a body but the bias of a linear.
type wideKind struct {
	name  string
	exact bool // sums are integers
	small bool // operands are widened on the way, sums narrowed
	rates map[isa.Level]productRate

	width     func(isa.Level) int
	packedLen func(level isa.Level, k, n int) int // in floats of four bytes
	pack      func(level isa.Level, dst []float32, b *tensor.T, at int, p *product)
	multiply  func(t *productTask, x *Exec, p *product, index int, rows, cols gemm.Range, out, in []*tensor.T) error
}

// The rates are measured on an Emerald Rapids and, of portable code, on the processor of
// productRates.
var (
	f64Kind = wideKindOf[float64]("f64", false, map[isa.Level]productRate{
		isa.Portable: {600, 1000}, isa.AVX2: {46, 160}, isa.AVX512: {36, 160}, isa.NEON: {600, 1000},
	})
	i32Kind = wideKindOf[int32]("i32", true, map[isa.Level]productRate{
		isa.Portable: {600, 500}, isa.AVX2: {54, 80}, isa.AVX512: {44, 80}, isa.NEON: {600, 500},
	})
	i64Kind = wideKindOf[int64]("i64", true, map[isa.Level]productRate{
		isa.Portable: {600, 1000}, isa.AVX2: {210, 160}, isa.AVX512: {110, 160}, isa.NEON: {600, 1000},
	})
)

var (
	f64Operands = wideOperands(f64Kind, tensor.F64)
	i32Operands = wideOperands(i32Kind, tensor.I32, tensor.U32)
	i64Operands = wideOperands(i64Kind, tensor.I64, tensor.U64)
)

// wideOperands are those of some dtypes, of which operators take one. Integers without a sign
// wrap to the bits of those with one.
func wideOperands(kind *wideKind, list ...tensor.DType) *operands {
	return &operands{left: list, right: list, sums: list, wide: kind}
}

func wideKindOf[E wide.Element](name string, exact bool, rates map[isa.Level]productRate) *wideKind {
	size := int(unsafe.Sizeof(*new(E)))
	return &wideKind{
		name: name, exact: exact, rates: rates, width: wide.Width[E],
		packedLen: func(level isa.Level, k, n int) int { return wide.PackedLen[E](level, k, n) * size / 4 },
		pack: func(level isa.Level, dst []float32, b *tensor.T, at int, p *product) {
			wide.Pack(level, wide.Elements[E](dst), gemm.View[E]{Data: wideFrom[E](b, at), Row: p.b.row, Col: p.b.col}, p.k, p.n)
		},
		multiply: multiplyWide[E],
	}
}

// wideFrom are a tensor's elements from one on.
func wideFrom[E wide.Element](t *tensor.T, at int) []E {
	all := wide.Elements[E](floats(t))
	return all[min(at, len(all)):]
}

// multiplyWide computes rows and columns of the product of one index of the batch.
func multiplyWide[E wide.Element](t *productTask, x *Exec, p *product, index int, rows, cols gemm.Range, out, in []*tensor.T) error {
	a, b := p.at(index)
	job := wide.Product[E]{
		N: p.n, K: p.k, Stop: x, A: gemm.View[E]{Data: wideFrom[E](in[p.a.input], a), Row: p.a.row, Col: p.a.col},
		C: wideFrom[E](out[0], index*p.m*p.n), Ldc: p.n,
	}
	if p.way != nil {
		job.Blocks = p.way.blocks
	}
	if p.packs != nil {
		job.Panels = wide.Elements[E](p.packs.matrix(p, index))
	} else {
		job.B = gemm.View[E]{Data: wideFrom[E](in[p.b.input], b), Row: p.b.row, Col: p.b.col}
	}
	if p.bias != Absent {
		job.Bias = wideFrom[E](in[p.bias], 0)
	}
	return wide.Mul(&x.wide, t.level, job, rows, cols)
}

// packWide packs B, a constant.
func (p *product) packWide(o *Options, b *tensor.T) {
	p.packWith(o, b, func(level isa.Level) packer {
		return packer{
			name: fmt.Sprintf("%s panels/%d", p.wide.name, p.wide.width(level)),
			size: p.wide.packedLen(level, p.k, p.n),
			pack: func(dst []float32, b *tensor.T, at int) { p.wide.pack(level, dst, b, at, p) },
		}
	})
}
