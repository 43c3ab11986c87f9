package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// vectorsRow runs products of vectors as what they are made of, by the rows that know
// these.
//
//	outer f32[8] f32[5]   =>   mul f32[8,1] f32[5]; add 0
//	dot f32[8] f32[8]     =>   mul; sum along the one axis
//	dot i32[8] i32[8]     =>   matmul
var vectorsRow = &Row{Name: "vectors", reach: reach{alone: true}, Make: func(b *Body, o *Options) (*Prepared, string) {
	c, why := onlyCall(b)
	if why != "" {
		return nil, notMine
	}
	with := *o
	with.Choose, with.way = nil, 0
	switch {
	case c.Op == ir.Outer:
		return outerAs(b, c, &with)
	case c.Op == ir.Dot && c.In[0].DType == tensor.F32:
		return dotAs(b, c, &with)
	case c.Op == ir.Dot && (c.In[0].DType == tensor.F64 || c.In[0].DType.IsInt()):
		return dotAsProduct(b, c, &with)
	}
	return nil, notMine
}}

func outerAs(b *Body, c *ir.Call, o *Options) (*Prepared, string) {
	column := ir.T(c.In[0].DType, c.In[0].Shape[0], ir.N(1))
	mul := &ir.Call{Op: ir.Mul, In: []ir.Type{column, c.In[1]}}
	if ir.InferCall(mul) != nil || !mul.Out[0].Equal(c.Out[0]) {
		return nil, notMine
	}
	if d := c.In[0].DType; d.IsInt() {
		return made(Single(mul, b.Const, Absent), o)
	}
	// A product is a sum of one term, which begins with 0: it is not -0.
	zero := tensor.New(c.In[0].DType)
	add := &ir.Call{Op: ir.Add, In: []ir.Type{mul.Out[0], ir.TypeOf(zero)}}
	if ir.InferCall(add) != nil {
		return nil, notMine
	}
	return made(&Body{
		In: append(slices.Clone(mul.In), ir.TypeOf(zero)), Const: append(slices.Clone(b.Const), zero), Out: []int{4}, InPlace: Absent,
		Ops: []Op{{Call: mul, Args: []int{0, 1}, First: 3}, {Call: add, Args: []int{3, 2}, First: 4}},
	}, o)
}

func dotAs(b *Body, c *ir.Call, o *Options) (*Prepared, string) {
	mul := &ir.Call{Op: ir.Mul, In: c.In}
	sum := &ir.Call{Op: ir.Sum, Attrs: []ir.Lit{ir.IntsLit(0), ir.BoolLit(false)}, In: c.In[:1]}
	if ir.InferCall(mul) != nil || ir.InferCall(sum) != nil || !mul.Out[0].Equal(c.In[0]) || !sum.Out[0].Equal(c.Out[0]) {
		return nil, notMine
	}
	p, why := made(&Body{
		In: b.In, Const: b.Const, Out: []int{3}, InPlace: Absent,
		Ops: []Op{{Call: mul, Args: []int{0, 1}, First: 2}, {Call: sum, Args: []int{2}, First: 3}},
	}, o)
	if p != nil { // the products are rounded to floats of four bytes
		p.Within += float64(count(c.In[0].Ints())) * 0x1p-24
	}
	return p, why
}

// dotAsProduct is for f64 and integers, whose products of a row and a column are at hand.
func dotAsProduct(b *Body, c *ir.Call, o *Options) (*Prepared, string) {
	product := &ir.Call{Op: ir.MatMul, Attrs: ir.MatMul.Defaults(), In: c.In}
	if ir.InferCall(product) != nil || !product.Out[0].Equal(c.Out[0]) {
		return nil, notMine
	}
	return made(Single(product, b.Const, Absent), o)
}

// made is a body that stands for another, made ready by a kernel.
func made(b *Body, o *Options) (*Prepared, string) {
	p := Prepare(b, o)
	if p == nil || p.Kind == Reference {
		return nil, "nothing is faster"
	}
	return &Prepared{Work: p.Work, Within: p.Within, Runner: p.Runner}, ""
}
