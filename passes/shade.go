package passes

import (
	"bytes"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// A shade says what each matrix of a tensor looks like, as far as masks need it:
// one number, the number of the row or of the column, or two numbers with a
// diagonal between them.
//
//	%0 = ones : f32[S,S]              one number, 1
//	%1 = triu %0 {k=1}                0 up to the main diagonal, 1 above
//	%2 = mul %1, -1e9                 0 up to the main diagonal, -1e9 above
//
// It holds for every size of the symbols.
type shade struct {
	kind shadeKind
	k    int64     // of lower: in where column <= row + k, else out; of the others: what is added
	in   *tensor.T // scalars
	out  *tensor.T
}

type shadeKind uint8

const (
	uniform  shadeKind = iota + 1 // in, everywhere
	byRow                         // row + k
	byColumn                      // column + k
	lower
)

// maxShade bounds how far back a mask is looked at.
const maxShade = 12

// shadeOf reads the matrices of v: its last two axes. Axes before these have size 1
// or repeat one matrix.
func shadeOf(v *ir.Value) (shade, bool) { return shadeAt(v, maxShade) }

func shadeAt(v *ir.Value, depth int) (shade, bool) {
	if depth == 0 || v == nil {
		return shade{}, false
	}
	if t := rewrite.Splat(v); t != nil {
		return shade{kind: uniform, in: t, out: t}, true
	}
	if read := shadesBy[v.Op]; read != nil {
		return read(v, depth-1)
	}
	if v.Op.Class == ir.Elementwise && v.Op.Eval != nil {
		return shadeElementwise(v, depth-1)
	}
	return shade{}, false
}

// shadesBy reads the operators that make masks, or move them. It is filled when
// the program starts, since the functions use it.
var shadesBy map[*ir.Op]func(v *ir.Value, depth int) (shade, bool)

func init() {
	shadesBy = map[*ir.Op]func(v *ir.Value, depth int) (shade, bool){
		ir.Const: shadeConst, ir.Iota: shadeIota, ir.Tril: shadeTriangle, ir.Triu: shadeTriangle,
		ir.Reshape: shadeView, ir.Unsqueeze: shadeView, ir.Squeeze: shadeView, ir.Expand: shadeView, ir.Transpose: shadeTranspose,
		ir.Less: shadeCompare, ir.LessEqual: shadeCompare, ir.Greater: shadeCompare, ir.GreaterEqual: shadeCompare,
		ir.Add: shadeShift, ir.Sub: shadeShift,
	}
}

func scalar(t *tensor.T, i int) *tensor.T {
	size := t.DType.Size()
	return &tensor.T{DType: t.DType, Shape: []int{}, Data: t.Data[i*size : (i+1)*size]}
}

// shadeConst compares a constant with the triangle whose corners it has.
func shadeConst(v *ir.Value, _ int) (shade, bool) {
	t := v.Attrs[0].Tensor
	rank := len(t.Shape)
	if rank < 2 || t.Len() == 0 || t.Len() != t.Shape[rank-2]*t.Shape[rank-1] {
		return shade{}, false
	}
	columns, size := t.Shape[rank-1], t.DType.Size()
	s := shade{kind: lower, in: scalar(t, 0), out: scalar(t, columns-1)}
	for i := range t.Len() {
		want := s.in
		if i%columns > i/columns {
			want = s.out
		}
		if !bytes.Equal(t.Data[i*size:(i+1)*size], want.Data) {
			return shade{}, false
		}
	}
	return s, true
}

func shadeIota(v *ir.Value, _ int) (shade, bool) {
	return shade{kind: byColumn}, v.Type.DType == tensor.I64 || v.Type.DType == tensor.I32
}

// shadeTriangle is what tril and triu leave of one number.
func shadeTriangle(v *ir.Value, depth int) (shade, bool) {
	x, ok := shadeAt(v.Args[0], depth)
	k, known := attrOf(v, "k").Dims[0].Const()
	if !ok || !known || x.kind != uniform {
		return shade{}, false
	}
	zero := tensor.New(x.in.DType)
	if v.Op == ir.Tril {
		return shade{lower, k, x.in, zero}, true
	}
	return shade{lower, k - 1, zero, x.in}, true
}

// shadeView follows a view, or an expansion of axes before the matrix.
func shadeView(v *ir.Value, depth int) (shade, bool) {
	x, ok := shadeAt(v.Args[0], depth)
	if !ok || x.kind == uniform {
		return x, ok
	}
	from, to := v.Args[0].Type, v.Type
	switch {
	case x.keeps(from, to) && v.Op == ir.Expand:
		return x, true
	case x.keeps(from, to) && from.Elements().Equal(to.Elements()) && isMatrix(from) && isMatrix(to):
		return x, true
	case x.kind == byColumn && isMatrix(from) && isColumn(to) && dimAt(from, 1).Equal(dimAt(to, 2)):
		return shade{kind: byRow, k: x.k}, true
	}
	return shade{}, false
}

// dimAt is the size of an axis counted from the end, 1 the last one; 1 if there is
// no such axis.
func dimAt(t ir.Type, fromEnd int) ir.Dim {
	if fromEnd > t.Rank() {
		return ir.N(1)
	}
	return t.Shape[t.Rank()-fromEnd]
}

// isMatrix reports whether all axes but the last two have size 1.
func isMatrix(t ir.Type) bool {
	return !slices.ContainsFunc(t.Shape[:max(t.Rank()-2, 0)], func(d ir.Dim) bool { return !d.Is(1) })
}

func isColumn(t ir.Type) bool { return t.Rank() >= 2 && dimAt(t, 1).Is(1) && isMatrix(t) }

// keeps reports whether the axes that a shade counts have the same sizes in two
// types: what is repeated along them has not its own rows or columns.
func (s shade) keeps(from, to ir.Type) bool {
	rows, columns := dimAt(from, 2).Equal(dimAt(to, 2)), dimAt(from, 1).Equal(dimAt(to, 1))
	switch s.kind {
	case byRow:
		return rows
	case byColumn:
		return columns
	case lower:
		return rows && columns
	}
	return true
}

// shadeTranspose turns rows into columns.
func shadeTranspose(v *ir.Value, depth int) (shade, bool) {
	x, ok := shadeAt(v.Args[0], depth)
	perm := permOf(v)
	n := len(perm)
	if !ok || n < 2 || perm[n-1] != n-2 || perm[n-2] != n-1 || !slices.IsSorted(perm[:n-2]) {
		return shade{}, false
	}
	switch x.kind {
	case byRow:
		x.kind = byColumn
	case byColumn:
		x.kind = byRow
	case lower:
		return shade{}, false
	}
	return x, true
}

// maxOffset keeps what is added to a row's number far from overflow of i32.
const maxOffset = 1 << 20

// shadeShift adds a number to rows or columns.
func shadeShift(v *ir.Value, depth int) (shade, bool) {
	x, ok := shadeAt(v.Args[0], depth)
	y, ok2 := shadeAt(v.Args[1], depth)
	if !ok || !ok2 {
		return shade{}, false
	}
	if v.Op == ir.Add && x.kind == uniform {
		x, y = y, x
	}
	if x.kind != byRow && x.kind != byColumn || y.kind != uniform {
		return shadeElementwise(v, depth)
	}
	by := y.in.IntAt(0)
	if v.Op == ir.Sub {
		by = -by
	}
	x.k += by
	return x, x.keeps(v.Args[0].Type, v.Type) && max(by, -by) < maxOffset && max(x.k, -x.k) < maxOffset
}

// shadeCompare draws the diagonal where the numbers of rows and columns meet.
func shadeCompare(v *ir.Value, depth int) (shade, bool) {
	a, b, strict := v.Args[0], v.Args[1], v.Op == ir.Less || v.Op == ir.Greater
	if v.Op == ir.Greater || v.Op == ir.GreaterEqual {
		a, b = b, a
	}
	x, ok := shadeAt(a, depth)
	y, ok2 := shadeAt(b, depth)
	switch {
	case !ok || !ok2:
		return shade{}, false
	case !x.keeps(a.Type, v.Type) || !y.keeps(b.Type, v.Type):
		return shade{}, false
	case x.kind == byColumn && y.kind == byRow: // column + x.k <= row + y.k
		return shade{lower, y.k - x.k - int64(bit(strict)), boolOf(true), boolOf(false)}, true
	case x.kind == byRow && y.kind == byColumn: // not column + y.k < row + x.k
		return shade{lower, x.k - y.k - int64(1-bit(strict)), boolOf(false), boolOf(true)}, true
	}
	return shadeElementwise(v, depth)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func boolOf(b bool) *tensor.T {
	t := tensor.New(tensor.Bool)
	t.SetBool(0, b)
	return t
}

// shadeElementwise computes an operator on each side of the diagonal.
func shadeElementwise(v *ir.Value, depth int) (shade, bool) {
	s := shade{kind: uniform}
	var in, out []*tensor.T
	for _, a := range v.Args {
		x, ok := shadeAt(a, depth)
		if !ok || x.kind != uniform && x.kind != lower || !x.keeps(a.Type, v.Type) {
			return shade{}, false
		}
		if x.kind == lower {
			if s.kind == lower && s.k != x.k {
				return shade{}, false
			}
			s.kind, s.k = lower, x.k
		}
		in, out = append(in, x.in), append(out, x.out)
	}
	s.in, s.out = evaluated(v.Op, v.Attrs, in), evaluated(v.Op, v.Attrs, out)
	return s, s.in != nil && s.out != nil
}
