package passes

import (
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Transposes meet, cancel out, or ride in a product.
//
//	%a = transpose %x {perm=[0,2,3,1]}       %a = relu %x
//	%b = relu %a                         =>  %y = linear %a, %w
//	%c = transpose %b {perm=[0,3,1,2]}
//	%t = transpose %w
//	%y = matmul %c, %t
//
// A transpose moves every byte of a tensor and computes nothing. It sinks below
// the operators that do not mind the order of the axes (see sinkTranspose) only
// if it is going to meet something there that takes it away.
//
// A product of a matrix takes a transpose for nothing: linear reads its right
// side by rows, matmul by columns, and both add up the same products in the same
// order, so that not a bit differs. In a product of two transposed batches the
// sides change places: the factors of each term do, which multiplication does
// not see.

// transposeRules let transposes meet, and cancel out.
var transposeRules = sync.OnceValue(func() []*rewrite.Rule {
	return []*rewrite.Rule{
		rewrite.Own("merge-transposes", "two transposes in a row are one",
			`transpose(transpose(x, p), q)  =>  transpose(x, compose(p, q))`),
		{
			Name: "matmul-to-linear", Doc: "a product with a transposed matrix reads it by rows", Safe: true,
			Match: rewrite.Must("matmul(x, transpose(w, p), dtype=d)"), When: turnsMatrix,
			Build: func(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
				return b.With(ir.Linear, []*ir.Value{m.Value("x"), m.Value("w")}, m.Root.Attrs)
			},
		},
		{
			Name: "linear-to-matmul", Doc: "a product that reads a transposed matrix by rows reads it by columns", Safe: true,
			Match: rewrite.Must("linear(x, transpose(w, p), c?, dtype=d)"), When: turnsMatrix,
			Build: linearToMatmul,
		},
		anyOf("swap-product", "a product of transposed matrices is the transposed product of these the other way round", []string{"matmul", "transpose"}, swapProduct),
		anyOf("sink-transpose", "a transpose that will meet another one passes what stands between", passages(), sinkTranspose),
	}
})

// turnsMatrix reports whether the transpose of a match makes columns of the rows
// of one matrix.
func turnsMatrix(m *rewrite.Match) bool {
	return swapsLast(m.Inside[1]) && m.Value("w").Type.Rank() == 2
}

// swapsLast reports whether v is a transpose of the last two axes.
func swapsLast(v *ir.Value) bool {
	if v.Op != ir.Transpose || v.Type.Rank() < 2 {
		return false
	}
	perm := permOf(v)
	last := len(perm) - 1
	return perm[last] == last-1 && perm[last-1] == last && slices.IsSorted(perm[:last-1])
}

// linearToMatmul keeps the bias, which linear too adds to the rounded product.
func linearToMatmul(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	product := b.With(ir.MatMul, []*ir.Value{m.Value("x"), m.Value("w")}, m.Root.Attrs)
	c := m.Value("c")
	if c == nil || product == nil {
		return product
	}
	return b.Call(ir.BiasAdd, []*ir.Value{product, c})
}

// swapProduct has two forms: matmul(transpose(a), transpose(b)) of batches, and
// transpose(linear(transpose(a), b)), to which that of matrices has come.
func swapProduct(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	if m.Root.Op == ir.MatMul {
		return swapBatches(b, m)
	}
	product := m.Root.Args[0]
	if product.Op != ir.Linear || len(product.Args) > 2 || m.Uses(product) > 1 || !swapsLast(m.Root) || m.Root.Type.Rank() != 2 {
		return nil
	}
	left := product.Args[0]
	if !swapsLast(left) || !m.Alike(product, left) {
		return nil
	}
	return b.With(ir.MatMul, []*ir.Value{product.Args[1], left.Args[0]}, product.Attrs)
}

// swapBatches asks that both transposes die, and that the one that is made moves
// no more than they did, or meets another one.
func swapBatches(b *rewrite.Builder, m *rewrite.Match) *ir.Value {
	left, right := m.Root.Args[0], m.Root.Args[1]
	if !swapsLast(left) || !swapsLast(right) || !m.Alike(left, right) || !dies(m, left) || !dies(m, right) {
		return nil
	}
	perm := identity(m.Root.Type.Rank())
	last := len(perm) - 1
	perm[last], perm[last-1] = last-1, last
	moved := left.Type.Elements().Add(right.Type.Elements())
	if !ir.LessEq(m.Root.Type.Elements(), moved) && !pays(m, m.Root, perm) {
		return nil
	}
	return transposed(b, b.With(ir.MatMul, []*ir.Value{right.Args[0], left.Args[0]}, m.Root.Attrs), perm)
}

// dies reports whether nobody but the root reads v.
func dies(m *rewrite.Match, v *ir.Value) bool {
	return m.Uses(v) == times(m.Root.Args, v)
}
