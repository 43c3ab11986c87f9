package ir

import (
	"github.com/npulang/npu/ir/tensor"
)

// Operators that make tensors of nothing but their attributes, and the two that
// clear a triangle of one.

var (
	typeOnly = Attr{Name: "type", Kind: KType, Required: true, Doc: "the dtype and shape of the result"}
	dtypeF32 = Attr{Name: "dtype", Kind: KDType, Default: DTypeLit(tensor.F32), Doc: "the result's dtype"}
)

var (
	Zeros = row(Op{
		Name: "zeros", Group: "make", Class: Source, Unit: DMA,
		Doc:   "all elements 0 (false)",
		Attrs: []Attr{typeOnly},
		Infer: typeAttr, Cost: costMove, Sample: sampleFilled(),
		Eval: func(c *Call, _ ...*tensor.T) ([]*tensor.T, error) { return results(c), nil },
	})
	Ones = row(Op{
		Name: "ones", Group: "make", Class: Source, Unit: DMA,
		Doc:   "all elements 1 (true)",
		Attrs: []Attr{typeOnly},
		Infer: typeAttr, Cost: costMove, Sample: sampleFilled(),
		Eval: func(c *Call, _ ...*tensor.T) ([]*tensor.T, error) {
			out := results(c)
			fillWith(c, out[0], scalarOf(c, asInts, out[0].DType, 1))
			return out, nil
		},
	})
	Full = row(Op{
		Name: "full", Group: "make", Class: Source, Unit: DMA,
		Doc:   "all elements one number",
		Attrs: []Attr{typeOnly, {Name: "value", Kind: KNum, Required: true, Doc: "the number; it must fit the dtype"}},
		Infer: func(c *Call) ([]Type, error) {
			t := c.Attr("type").Type()
			return []Type{t}, checkNum(c, "value", t.DType)
		},
		Cost: costMove, Sample: sampleFilled(DimLit(N(1))),
		Eval: func(c *Call, _ ...*tensor.T) ([]*tensor.T, error) {
			out := results(c)
			v, err := numScalar(c, "value", out[0].DType)
			if err != nil {
				return nil, err
			}
			fillWith(c, out[0], v)
			return out, nil
		},
	})
	Eye = row(Op{
		Name: "eye", Group: "make", Class: Source, Unit: DMA,
		Doc: "1 on the diagonal, 0 elsewhere",
		Attrs: []Attr{
			{Name: "n", Kind: KDim, Required: true, Doc: "how many rows"},
			{Name: "m", Kind: KDim, Doc: "how many columns; absent: as many as rows"},
			dtypeF32,
		},
		Infer: inferEye, Cost: costMove, Eval: evalEye, Sample: sampleEye,
	})
	Iota = row(Op{
		Name: "iota", Group: "make", Class: Source, Unit: DMA,
		Doc: "0, 1, ..., n-1",
		Attrs: []Attr{
			{Name: "n", Kind: KDim, Required: true, Doc: "how many"},
			{Name: "dtype", Kind: KDType, Default: DTypeLit(tensor.I64), Doc: "the result's dtype, not bool; integers wrap"},
		},
		Infer: inferIota, Eval: evalIota, Sample: sampleIota,
	})
	Arange = row(Op{
		Name: "arange", Group: "make", Class: Source, Unit: Vector,
		Doc: "a, a+step, ... up to before b; whole numbers wrap, others are a + i*step in float64, rounded once",
		Attrs: []Attr{
			{Name: "a", Kind: KNum, Required: true, Doc: "the first number; without b, the end, and 0 is the first"},
			{Name: "b", Kind: KNum, Doc: "the end, which is left out"},
			{Name: "step", Kind: KNum, Default: DimLit(N(1)), Doc: "the step, not 0; a constant"},
			{Name: "dtype", Kind: KDType, Doc: "the result's dtype; absent: i64, or f32 if one of the numbers has a point"},
		},
		Infer: inferArange, Eval: evalArange, Sample: sampleArange,
	})
	Linspace = row(Op{
		Name: "linspace", Group: "make", Class: Source, Unit: Vector,
		Doc: "n numbers from a to b, both included, at equal distances",
		Attrs: []Attr{
			{Name: "a", Kind: KNum, Required: true, Doc: "the first number"},
			{Name: "b", Kind: KNum, Required: true, Doc: "the last number"},
			{Name: "n", Kind: KDim, Required: true, Doc: "how many; a alone if it is 1"},
			{Name: "dtype", Kind: KDType, Default: DTypeLit(tensor.F32), Doc: "the result's dtype, a float"},
		},
		Infer: inferLinspace, Eval: evalLinspace, Sample: sampleLinspace,
	})
	Triu = row(triangle("triu", "the upper triangle: elements below the k-th diagonal are 0", func(row, k, cols int) (int, int) { return 0, row + k }))
	Tril = row(triangle("tril", "the lower triangle: elements above the k-th diagonal are 0", func(row, k, cols int) (int, int) { return row + k + 1, cols }))
)

// triangle is a row of triu or tril. cleared says which columns of a row of
// the matrix become 0, first and end, perhaps outside.
func triangle(name, doc string, cleared func(row, k, cols int) (int, int)) Op {
	return Op{
		Name: name, Group: "make", Class: Move, Unit: DMA, Doc: doc + "; leading axes are a batch",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "k", Kind: KDim, Default: DimLit(N(0)), Doc: "the diagonal: 0 the main one, 1 the next above, -1 the next below"}},
		Infer: func(c *Call) ([]Type, error) {
			if c.In[0].Rank() < 2 {
				return nil, Errorf("rank-mismatch", "x has rank %d, but must be a matrix or a batch of them", c.In[0].Rank()).Label(0, "%s", c.In[0])
			}
			return []Type{c.In[0]}, nil
		},
		Cost: costMove, Sample: sampleTriangle,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			k, _ := c.Attr("k").Dims[0].Const()
			out := resultOf(c, in[0])
			clearRows(out[0], int(max(-farAway, min(farAway, k))), cleared)
			return out, nil
		},
	}
}

func clearRows(t *tensor.T, k int, cleared func(row, k, cols int) (int, int)) *tensor.T {
	rank, size := len(t.Shape), t.DType.Size()
	rows, cols := t.Shape[rank-2], t.Shape[rank-1]
	if t.Len() == 0 {
		return t
	}
	for at := range t.Len() / cols {
		first, end := cleared(at%rows, k, cols)
		first, end = max(first, 0), min(end, cols)
		if first < end {
			clear(t.Data[(at*cols+first)*size : (at*cols+end)*size])
		}
	}
	return t
}

func inferEye(c *Call) ([]Type, error) {
	n := c.Attr("n").Dims[0]
	m := n
	if l := c.Attr("m"); !l.IsNone() {
		m = l.Dims[0]
	}
	return []Type{T(c.DType("dtype"), n, m)}, nil
}

func evalEye(c *Call, _ ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	rows, cols := out[0].Shape[0], out[0].Shape[1]
	one := allTheSame(c, int64(1), 1)
	for i := range min(rows, cols) {
		out[0].StoreInts(i*cols+i, one)
	}
	return out, nil
}

func inferIota(c *Call) ([]Type, error) {
	if d := c.DType("dtype"); !Numbers.Has(d) {
		return nil, Errorf("dtype-mismatch", "counts in %s", d).Note("the dtype must be %s", Numbers)
	}
	return []Type{T(c.DType("dtype"), c.Attr("n").Dims[0])}, nil
}

func evalIota(c *Call, _ ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	storeEach(c, out[0], asInts, func(i int64) int64 { return i })
	return out, nil
}

// storeEach stores f(0), f(1), ... in runs.
func storeEach[W float64 | int64](c *Call, t *tensor.T, w width[W], f func(i W) W) {
	run := room[W](c, min(chunk, t.Len()))
	for at := 0; at < t.Len(); at += chunk {
		if at%stopEvery == 0 && c.Budget.stop() != nil {
			return // Evaluate asks again
		}
		part := run[:min(chunk, t.Len()-at)]
		for i := range part {
			part[i] = f(W(at + i))
		}
		w.store(t, at, part)
	}
}
