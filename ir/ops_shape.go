package ir

import (
	"cmp"
	"slices"
	"strings"

	"github.com/npulang/npu/ir/tensor"
)

// Operators that keep every element and give it another place by another
// shape, another order of the axes, or by repeating it along an axis of size 1.

var (
	Reshape = row(Op{
		Name: "reshape", Group: "shape", Class: Move, Unit: DMA, Flags: View,
		Doc:   "the same elements, in the same order, under another shape",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "dims", Kind: KDims, Required: true, Variadic: true, Doc: "the new shape; one -1 stands for what is left; sizes that cannot be proved to fit are checked when they are bound"}},
		Infer: inferReshape, Asserts: assertReshape, Cost: costMove, Eval: evalView, Sample: sampleReshape,
	})
	Flatten = row(Op{
		Name: "flatten", Group: "shape", Class: Move, Unit: DMA, Flags: View,
		Doc:  "the axes start to end made one axis; a scalar becomes a vector of one",
		Args: []string{"x"},
		Attrs: []Attr{
			{Name: "start", Kind: KInt, Axis: OfArgument, Default: IntLit(1), Doc: "the first axis to join"},
			{Name: "end", Kind: KInt, Axis: OfArgument, Default: IntLit(-1), Doc: "the last axis to join"},
		},
		Infer: inferFlatten, Cost: costMove, Eval: evalView, Sample: sampleFlatten,
	})
	Transpose = row(Op{
		Name: "transpose", Aliases: []string{"permute"}, Group: "shape", Class: Move, Unit: DMA,
		Doc:   "the axes in another order",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "perm", Kind: KInts, Axis: OfArgument, Variadic: true, Doc: "for each axis of the result the axis of x it comes from; absent: the last two change places"}},
		Infer: inferTranspose, Cost: costMove, Eval: evalTranspose, strides: stridesOfTranspose, Sample: sampleTranspose,
	})
	Squeeze = row(Op{
		Name: "squeeze", Group: "shape", Class: Move, Unit: DMA, Flags: View,
		Doc:   "without axes of size 1",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "axis", Kind: KInts, Axis: OfArgument, Doc: "the axes to drop; absent: all whose size is the literal 1"}},
		Infer: inferSqueeze, Cost: costMove, Eval: evalView, Sample: sampleSqueeze,
	})
	Unsqueeze = row(Op{
		Name: "unsqueeze", Group: "shape", Class: Move, Unit: DMA, Flags: View,
		Doc:   "with new axes of size 1",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "axis", Kind: KInts, Axis: OfResult, Required: true, Doc: "where the new axes stand in the result"}},
		Infer: inferUnsqueeze, Cost: costMove, Eval: evalView, Sample: sampleUnsqueeze,
	})
	Expand = row(Op{
		Name: "expand", Aliases: []string{"broadcast_to"}, Group: "shape", Class: Move, Unit: DMA,
		Doc:   "repeated along new leading axes and along axes of size 1",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "dims", Kind: KDims, Required: true, Variadic: true, Doc: "the result's shape; -1 keeps the size of x there"}},
		Infer: inferExpand, Cost: costMove, Eval: evalExpand, strides: stridesOfExpand, Sample: sampleExpand,
	})
)

// inferReshape solves one -1 by exact division, and takes a shape that it can
// neither prove nor refute as the user's assertion.
func inferReshape(c *Call) ([]Type, error) {
	x, shape := c.In[0], slices.Clone(c.Dims("dims"))
	hole, rest := -1, N(1)
	for i, d := range shape {
		n, known := d.Const()
		switch {
		case !known || n >= 0:
			rest = rest.Mul(d)
		case n != -1:
			return nil, Errorf("out-of-range", "dimension %d is negative", n).Note("a size is at least 0; one -1 stands for what is left")
		case hole >= 0:
			return nil, Errorf("wrong-arguments", "-1 is given twice").Note("one -1 may stand for what is left")
		default:
			hole = i
		}
	}
	err := cmp.Or(x.Elements().Err(), rest.Err())
	switch {
	case err != nil: // the counts cannot be compared
	case hole < 0:
		err = checkCount(x, shape, rest)
	default:
		shape[hole], err = solveHole(x, shape, rest)
	}
	return []Type{{x.DType, shape}}, err
}

// assertReshape is the user's assertion: both shapes have one count, or what is
// left for -1 divides.
func assertReshape(c *Call) []Assert {
	total, rest, hole := c.In[0].Elements(), N(1), false
	for _, d := range c.Dims("dims") {
		if d.Is(-1) {
			hole = true
		} else {
			rest = rest.Mul(d)
		}
	}
	switch {
	case hole:
		return assertDivides(total, rest)
	case total.Equal(rest):
		return nil
	}
	return []Assert{{Left: total, Rel: "==", Right: rest}}
}

// assertDivides is that b divides a, unless the quotient shows it.
func assertDivides(a, b Dim) []Assert {
	if !strings.Contains(a.Div(b).String(), "/") {
		return nil
	}
	return []Assert{{Left: a, Rel: "%", Right: b}}
}

// solveHole finds the size for which rest times it is the size of x.
func solveHole(x Type, shape []Dim, rest Dim) (Dim, error) {
	if rest.Is(0) {
		return Dim{}, Errorf("wrong-arguments", "-1 beside a dimension of 0 could be any size").Label(0, "%s", x)
	}
	q := x.Elements().Div(rest)
	if !symbolic(q) && !q.IsConst() {
		return Dim{}, countMismatch(x, shape)
	}
	return q, nil
}

// checkCount refuses a shape that surely does not hold the elements of x: both
// counts are known, or their ratio is.
func checkCount(x Type, shape []Dim, count Dim) error {
	total := x.Elements()
	known := total.IsConst() && count.IsConst()
	if total.Equal(count) || !known && (total.Is(0) || count.Is(0)) {
		return nil
	}
	if known || !symbolic(total.Div(count)) {
		return countMismatch(x, shape)
	}
	return nil
}

func countMismatch(x Type, shape []Dim) error {
	return Errorf("shape-mismatch", "shape %s does not hold the %s elements of %s", ShapeString(shape), x.Elements(), x).
		Label(0, "%s", x).
		Note("reshape keeps the number of elements")
}

// symbolic reports whether d depends on a symbol.
func symbolic(d Dim) bool {
	found := false
	d.Symbols(func(string) { found = true })
	return found
}

func inferFlatten(c *Call) ([]Type, error) {
	x := c.In[0]
	if x.Rank() == 0 {
		return []Type{T(x.DType, N(1))}, nil
	}
	if c.Int("start") == int64(x.Rank()) {
		return []Type{x}, nil // nothing is behind the last axis
	}
	start, err := axisOf(c.Int("start"), x.Rank())
	if err != nil {
		return nil, err
	}
	end, err := axisOf(c.Int("end"), x.Rank())
	if err != nil {
		return nil, err
	}
	if end < start {
		return nil, Errorf("wrong-arguments", "end %d lies before start %d", c.Int("end"), c.Int("start")).Label(0, "%s", x)
	}
	joined := T(x.DType, x.Shape[start:end+1]...).Elements()
	return []Type{{x.DType, slices.Concat(x.Shape[:start], []Dim{joined}, x.Shape[end+1:])}}, nil
}

func inferTranspose(c *Call) ([]Type, error) {
	perm, err := permOf(c)
	if err != nil {
		return nil, err
	}
	return []Type{{c.In[0].DType, permuted(nil, c.In[0].Shape, perm)}}, nil
}

// permOf is the attribute perm with its default filled in and no negative axes.
func permOf(c *Call) ([]int, error) {
	rank, given := c.In[0].Rank(), c.Attr("perm")
	if given.IsNone() {
		perm := axesLast(c, rank, nil)
		if rank >= 2 {
			perm[rank-2], perm[rank-1] = rank-1, rank-2
		}
		return perm, nil
	}
	if len(given.Ints) != rank {
		return nil, Errorf("rank-mismatch", "the order lists %d axes of a tensor of rank %d", len(given.Ints), rank).
			Label(0, "%s", c.In[0]).
			Note("transpose(x, ...perm) lists every axis once, as in transpose(x, 0, 2, 1)")
	}
	return axesInOrder(c, given.Ints, rank)
}

func evalTranspose(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	perm, err := permOf(c)
	if err != nil {
		return nil, err
	}
	out := results(c)
	copyView(out[0], denseOf(c, out[0]), in[0], view{0, permuted(c, stridesOf(c, in[0].Shape), perm)}, out[0].Shape)
	return out, nil
}

func inferSqueeze(c *Call) ([]Type, error) {
	x := c.In[0]
	drop := func(axis int) bool { return x.Shape[axis].Is(1) }
	if !c.Attr("axis").IsNone() {
		axes, err := axesOf(c.Ints("axis"), x.Rank())
		if err != nil {
			return nil, err
		}
		for _, a := range axes {
			if !x.Shape[a].Is(1) {
				return nil, Errorf("shape-mismatch", "axis %d has size %s, not 1", a, x.Shape[a]).Label(0, "%s", x)
			}
		}
		drop = func(axis int) bool { return slices.Contains(axes, axis) }
	}
	var shape []Dim
	for i, d := range x.Shape {
		if !drop(i) {
			shape = append(shape, d)
		}
	}
	return []Type{{x.DType, shape}}, nil
}

func inferUnsqueeze(c *Call) ([]Type, error) {
	x, rank := c.In[0], c.In[0].Rank()+len(c.Ints("axis"))
	axes, err := axesOf(c.Ints("axis"), rank)
	if err != nil {
		return nil, err
	}
	shape := make([]Dim, 0, rank)
	rest := x.Shape
	for i := range rank {
		if slices.Contains(axes, i) {
			shape = append(shape, N(1))
		} else {
			shape, rest = append(shape, rest[0]), rest[1:]
		}
	}
	return []Type{{x.DType, shape}}, nil
}

func inferExpand(c *Call) ([]Type, error) {
	x, shape := c.In[0], slices.Clone(c.Dims("dims"))
	lead := len(shape) - x.Rank()
	if lead < 0 {
		return nil, Errorf("rank-mismatch", "%d dimensions are fewer than the rank %d of %s", len(shape), x.Rank(), x).Label(0, "%s", x)
	}
	for i, d := range shape {
		kept := i >= lead
		switch n, known := d.Const(); {
		case kept && d.Is(-1):
			shape[i] = x.Shape[i-lead]
		case known && n < 0:
			return nil, Errorf("out-of-range", "dimension %d is negative", n).Note("-1 keeps the size of an axis that x has")
		case kept && !x.Shape[i-lead].Is(1) && !x.Shape[i-lead].Equal(d):
			return nil, Errorf("shape-mismatch", "%s does not expand to %s", x, ShapeString(shape)).
				Label(0, "%s", x).
				Note("from the last dimension on, the sizes are equal or that of x is the literal 1")
		}
	}
	return []Type{{x.DType, shape}}, nil
}

func evalExpand(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	copyView(out[0], denseOf(c, out[0]), in[0], repeated(c, in[0], out[0].Shape), out[0].Shape)
	return out, nil
}

// repeated is the view of x broadcast to a shape.
func repeated(c *Call, x *tensor.T, shape []int) view {
	return view{0, broadcastStrides(c, x.Shape, shape)}
}
