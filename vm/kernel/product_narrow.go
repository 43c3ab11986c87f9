package kernel

import (
	"slices"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// operands says of which types a row multiplies.
type operands struct {
	left, right []tensor.DType
	sums        []tensor.DType // what the product may be
	kind        gemm.Kind      // of narrow ones
	narrow      bool           // their elements have fewer than four bytes
	wide        *wideKind      // of those of f64 and of integers; nil: of others
	but         *operands      // what another row multiplies
}

// Sums of halves are floats of four bytes, which the tail rounds to the product's type
// first, if that is another one.
var (
	floatOperands = &operands{left: dtypeList{tensor.F32}, right: dtypeList{tensor.F32}, sums: dtypeList{tensor.F32}}
	bf16Operands  = halfOperands(tensor.BF16, gemm.BF16)
	f16Operands   = halfOperands(tensor.F16, gemm.F16)
	byteOperands  = &operands{
		left: dtypeList{tensor.I8, tensor.U8}, right: dtypeList{tensor.I8}, sums: dtypeList{tensor.I32},
		kind: gemm.Int8, narrow: true,
	}
)

type dtypeList = []tensor.DType

func halfOperands(d tensor.DType, kind gemm.Kind) *operands {
	return &operands{left: dtypeList{d}, right: dtypeList{d}, sums: dtypeList{d, tensor.F32}, kind: kind, narrow: true}
}

// refuses says what is wrong with the types of a product; empty: nothing is.
func (d *operands) refuses(left, right, product tensor.DType) (why string) {
	switch {
	case !slices.Contains(d.left, left):
		return left.String() + " operands"
	case !slices.Contains(d.right, right):
		return "a right operand of " + right.String()
	case !slices.Contains(d.sums, product):
		return "sums of " + product.String()
	case d.but != nil && d.but.refuses(left, right, product) == "":
		return "operands that have tiles of their own"
	}
	return ""
}

// The pieces in which narrow operands are laid out for a kernel, in floats of scratch
// memory: of the left operand some rows, of a right one that is no constant some columns.
const (
	leftPiece  = 512 << 10
	rightPiece = 256 << 10
)

// A narrowRun is the memory of a product of narrow operands under way.
type narrowRun struct {
	left, right []float32
	rows, cols  int // that they hold
	gathered    []byte
	offsets     []float32 // of the columns that are multiplied, if there are any
	scale       gemm.Scale
}

// narrowRun takes the memory for a part of a product.
func (p *product) narrowRun(x *Exec, rows, cols int) (h narrowRun) {
	f := p.format
	if h.rows = rows; !p.onTheWay() {
		h.leftRoom(x, p, min(rows, leftRows(p.k)))
	}
	h.cols = cols
	if p.packs == nil {
		w := f.Width()
		h.cols = min(cols, max(1, rightPiece/max(p.k*w, 1))*w)
		h.right = x.Floats(f.PackedLen(p.k, h.cols))
		if p.shifts {
			h.offsets = x.Floats(h.cols)
		}
	}
	return h
}

// onTheWay reports whether the left operand is widened where a product copies it.
func (p *product) onTheWay() bool { return p.format.Widens() && p.a.col == 1 }

// leftRows is how many rows of k elements the left operand is laid out in at a time.
func leftRows(k int) int { return max(96, leftPiece/max(k, 1)) }

// leftRoom takes memory for rows of the left operand.
func (h *narrowRun) leftRoom(x *Exec, p *product, rows int) {
	h.rows = rows
	h.left = x.Floats(p.format.LeftLen(rows, p.k))
	if p.a.col != 1 {
		h.gathered = x.Bytes(p.leftSize * p.k * rows)
	}
}

// multiplyNarrow computes rows and columns of the product of one index of the batch,
// piece by piece.
func (t *productTask) multiplyNarrow(x *Exec, p *product, index int, rows, cols gemm.Range, out, in []*tensor.T) error {
	r := &x.product
	r.index = index
	a, b := p.at(index)
	for col := cols.Lo; col < cols.Hi; col += r.narrow.cols {
		piece := gemm.Range{Lo: col, Hi: min(col+r.narrow.cols, cols.Hi)}
		panels, from := r.narrow.right, col
		if p.packs != nil {
			panels, from = p.packs.matrix(p, index), 0
			if p.shifts {
				r.narrow.offsets = panels[p.format.PackedLen(p.k, p.n):]
			}
		} else {
			r.narrow.pack(p, in[p.b.input], b+col*p.b.col, piece.Hi-col)
		}
		for row := rows.Lo; row < rows.Hi; row += r.narrow.rows {
			n := min(r.narrow.rows, rows.Hi-row)
			left, again := x.leftOf(p, in[p.a.input], a+row*p.a.row, n, panels)
			r.job = p.format.Product(n, p.n-from, p.k, left, panels)
			r.job.Beside, r.job.Again, r.job.Backwards = r.beside, again, x.Backwards
			r.job.Stop, r.row, r.col = x, row, from
			if p.way != nil {
				r.job.Blocks = p.way.blocks
			}
			r.job.Bias = r.narrow.offsets
			if p.bias != Absent {
				r.job.Bias = floats(in[p.bias])[from:]
			}
			if p.scale != nil {
				r.narrow.scale = p.scaleFor(in, index*p.m+row, from)
				r.job.Scale = &r.narrow.scale
			}
			if p.tail == nil {
				r.job.C, r.job.Ldc = floats(out[0])[(index*p.m+row)*p.n+from:], p.n
			} else {
				r.job.Tail = r
			}
			err := x.gemm.Mul(t.level, &r.job, gemm.Range{Hi: n}, gemm.Range{Lo: piece.Lo - from, Hi: piece.Hi - from})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A keptLeft is rows of a left operand that are laid out.
type keptLeft struct {
	of     laidOut
	matrix gemm.Matrix
}

// laidOut says which rows of a left operand are laid out, how and where. The products of a
// task may have one in common.
type laidOut struct {
	format   *gemm.Format
	panels   *float32 // that the layout depends on; nil: it depends on none
	a        matrix
	at, n, k int // the first element, how many rows, how long
	room     *float32
}

// forgetLeft forgets what another task has made of its left operand. A part may have nothing
// of a product, and make nothing for what comes again.
func (x *Exec) forgetLeft() {
	x.left = keptLeft{}
	x.gemm.Forget()
}

// leftOf is n rows of the left operand from an element on, laid out; again says that they
// are where they were in the part before.
func (x *Exec) leftOf(p *product, t *tensor.T, at, n int, panels []float32) (left gemm.Matrix, again bool) {
	if p.onTheWay() {
		x.left = keptLeft{} // where it was, the right operand may be packed now
		view := gemm.View[uint16]{Data: elementsFrom[uint16](t, at), Row: p.a.row, Col: 1}
		return p.format.HalvesOnTheWay(view), x.Again
	}
	h, kept := &x.product.narrow, &x.left
	of := laidOut{format: p.format, a: p.a, at: at, n: n, k: p.k, room: unsafe.SliceData(h.left)}
	if p.format.LeftByRight() {
		of.panels = unsafe.SliceData(panels)
	}
	if x.Again && kept.of == of {
		return kept.matrix, true
	}
	*kept = keptLeft{of, h.layOut(p, t, at, n, panels)}
	return kept.matrix, false
}

// layOut lays out n rows of the left operand from an element on, for a product with
// panels, or finds that they can be read where they are.
func (h *narrowRun) layOut(p *product, t *tensor.T, at, n int, panels []float32) gemm.Matrix {
	f := p.format
	switch t.DType {
	case tensor.I8:
		return f.LeftSigned(h.left, leftView[int8](h, p, t, at, n), n, p.k, panels)
	case tensor.U8:
		return f.LeftBytes(h.left, leftView[uint8](h, p, t, at, n), n, p.k, panels)
	}
	left := leftView[uint16](h, p, t, at, n)
	if m, ok := f.HalvesInPlace(left, p.k); ok {
		return m
	}
	return f.LeftHalves(h.left, left, n, p.k)
}

// leftView is rows of the left operand, each in one piece: those of a transposed one are
// gathered.
func leftView[E int8 | uint8 | uint16](h *narrowRun, p *product, t *tensor.T, at, n int) gemm.View[E] {
	data := elementsFrom[E](t, at)
	if p.a.col == 1 {
		return gemm.View[E]{Data: data, Row: p.a.row, Col: 1}
	}
	rows := asElements[E](h.gathered)
	gatherRows(rows, data, p.a, n, p.k)
	return gemm.View[E]{Data: rows, Row: p.k, Col: 1}
}

// gatherRows copies rows of a matrix into one piece. The inner loop goes along the axis
// whose elements lie closer.
func gatherRows[E any](dst, data []E, a matrix, m, k int) {
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

// pack packs n columns of a right operand that is no constant.
func (h *narrowRun) pack(p *product, t *tensor.T, at, n int) {
	if p.format.Kind() == gemm.Int8 {
		right := gemm.View[int8]{Data: elementsFrom[int8](t, at), Row: p.b.row, Col: p.b.col}
		p.format.PackBytes(h.right, right, p.k, n)
		if h.offsets != nil {
			p.format.Offsets(gemm.Ints(h.offsets[:n]), right, p.k)
		}
		return
	}
	p.format.PackHalves(h.right, gemm.View[uint16]{Data: elementsFrom[uint16](t, at), Row: p.b.row, Col: p.b.col}, p.k, n)
}

// packNarrow packs B, a constant. Behind a matrix of bytes stand the offsets of its columns,
// if they are asked for.
func (p *product) packNarrow(o *Options, b *tensor.T) {
	kind := p.format.Kind()
	p.packWith(o, b, func(level isa.Level) packer {
		f := gemm.PackingFor(level, kind)
		size := f.PackedLen(p.k, p.n)
		if kind != gemm.Int8 {
			return packer{f.Layout(), size, func(dst []float32, b *tensor.T, at int) {
				f.PackHalves(dst, gemm.View[uint16]{Data: elementsFrom[uint16](b, at), Row: p.b.row, Col: p.b.col}, p.k, p.n)
			}}
		}
		of := func(b *tensor.T, at int) gemm.View[int8] {
			return gemm.View[int8]{Data: elementsFrom[int8](b, at), Row: p.b.row, Col: p.b.col}
		}
		if f.Shift(p.signed) == 0 {
			return packer{f.Layout(), size, func(dst []float32, b *tensor.T, at int) { f.PackBytes(dst, of(b, at), p.k, p.n) }}
		}
		return packer{f.Layout() + " and offsets", size + p.n, func(dst []float32, b *tensor.T, at int) {
			f.PackBytes(dst[:size], of(b, at), p.k, p.n)
			f.Offsets(gemm.Ints(dst[size:]), of(b, at), p.k)
		}}
	})
}

// An element is one of a narrow or small operand, or of what it is widened to.
type element interface {
	int8 | uint8 | int16 | uint16 | int32
}

// elementsFrom are a tensor's elements from one on.
func elementsFrom[E element](t *tensor.T, at int) []E {
	all := asElements[E](t.Data)
	return all[min(at, len(all)):]
}

func asElements[E element](b []byte) []E {
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(e)))
}
