package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// kinds are the formats of products whose operands are halves. Their sums are floats
// of four bytes, which the tail rounds to the operands' type first.
var kinds = map[tensor.DType]gemm.Kind{tensor.BF16: gemm.BF16, tensor.F16: gemm.F16}

// The pieces in which halves are laid out for a kernel, in floats of scratch memory:
// of the left operand some rows, of a right one that is no constant some columns.
const (
	leftPiece  = 512 << 10
	rightPiece = 256 << 10
)

// A halvesRun is the memory of a product of halves under way.
type halvesRun struct {
	left, right []float32
	rows, cols  int // that they hold
	gathered    []uint16
}

// halvesRun takes the memory for a part of a product.
func (p *product) halvesRun(x *Exec, rows, cols int) (h halvesRun) {
	f := p.format
	h.rows = min(rows, max(96, leftPiece/max(p.k, 1)))
	h.left = x.Floats(f.LeftLen(h.rows, p.k))
	h.cols = cols
	if p.packs == nil {
		w := f.Width()
		h.cols = min(cols, max(1, rightPiece/max(p.k*w, 1))*w)
		h.right = x.Floats(f.PackedLen(p.k, h.cols))
	}
	if p.a.col != 1 {
		b := x.Bytes(2 * p.k * h.rows)
		h.gathered = unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
	}
	return h
}

// multiplyHalves computes rows and columns of the product of one index of the batch,
// piece by piece.
func (t *productTask) multiplyHalves(x *Exec, p *product, index int, rows, cols gemm.Range, in []*tensor.T) error {
	r := &x.product
	r.index = index
	a, b := p.at(index)
	for col := cols.Lo; col < cols.Hi; col += r.halves.cols {
		piece := gemm.Range{Lo: col, Hi: min(col+r.halves.cols, cols.Hi)}
		panels, from := r.halves.right, col
		if p.packs != nil {
			panels, from = p.packs.matrix(p, index), 0
		} else {
			right := gemm.View[uint16]{Data: halvesFrom(in[p.b.input], b+col*p.b.col), Row: p.b.row, Col: p.b.col}
			p.format.PackHalves(panels, right, p.k, piece.Hi-col)
		}
		for row := rows.Lo; row < rows.Hi; row += r.halves.rows {
			n := min(r.halves.rows, rows.Hi-row)
			left := r.halves.layOut(p, halvesFrom(in[p.a.input], a+row*p.a.row), n)
			r.job = p.format.Product(n, p.n-from, p.k, left, panels)
			r.job.Stop, r.job.Tail, r.row, r.col = x, r, row, from
			if p.way != nil {
				r.job.Blocks = p.way.blocks
			}
			err := x.gemm.Mul(t.level, &r.job, gemm.Range{Hi: n}, gemm.Range{Lo: piece.Lo - from, Hi: piece.Hi - from})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// layOut lays out n rows of the left operand.
func (h *halvesRun) layOut(p *product, data []uint16, n int) gemm.Matrix {
	view := gemm.View[uint16]{Data: data, Row: p.a.row, Col: p.a.col}
	if p.a.col != 1 {
		view = gemm.View[uint16]{Data: h.gathered, Row: p.k, Col: 1}
		gatherRows(h.gathered, data, p.a, n, p.k)
	}
	return p.format.LeftHalves(h.left, view, n, p.k)
}

// gatherRows copies rows of a matrix into one piece. The inner loop goes along the axis
// whose elements lie closer.
func gatherRows(dst, data []uint16, a matrix, m, k int) {
	if a.row > a.col {
		for i := range m {
			for j := range k {
				dst[i*k+j] = data[i*a.row+j*a.col]
			}
		}
		return
	}
	for j := range k {
		for i := range m {
			dst[i*k+j] = data[i*a.row+j*a.col]
		}
	}
}

// packHalves packs B, a constant.
func (p *product) packHalves(o *Options, b *tensor.T) {
	p.packWith(o, b, func(level isa.Level) packer {
		f := gemm.PackingFor(level, kinds[b.DType])
		return packer{f.Layout(), f.PackedLen(p.k, p.n), func(dst []float32, at int) {
			f.PackHalves(dst, gemm.View[uint16]{Data: halvesFrom(b, at), Row: p.b.row, Col: p.b.col}, p.k, p.n)
		}}
	})
}

// halvesFrom are a tensor's elements of two bytes from one on.
func halvesFrom(t *tensor.T, at int) []uint16 {
	all := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(t.Data))), len(t.Data)/2)
	return all[min(at, len(all)):]
}
