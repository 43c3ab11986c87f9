package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Operators that write elements by integer tensors into a copy of x. Updates
// are applied in the order of i, row by row: with reduce "none" the last one of
// equals stays. Floats are combined in float64 and rounded once; integers wrap;
// of bool, add and max are or, mul and min are and.

var reduceAttr = Attr{Name: "reduce", Kind: KString, Default: StrLit("none"), Values: []string{"none", "add", "mul", "max", "min"}, Doc: "how an update meets what is there"}

var (
	Scatter = row(Op{
		Name: "scatter", Group: "index", Class: Move, Unit: Vector,
		Doc:  "x, and each element of u at the position along the axis that i says (ONNX ScatterElements)" + indexDoc,
		Args: []string{"x", "i", "u"},
		Attrs: []Attr{
			{Name: "axis", Kind: KInt, Axis: OfArgument, Required: true, Doc: "the axis that is indexed"},
			reduceAttr,
		},
		Infer: inferScatter, Eval: evalScatter, Sample: sampleScatter,
	})
	ScatterND = row(Op{
		Name: "scatter_nd", Group: "index", Class: Move, Unit: Vector,
		Doc:   "x, and each element or slice of u at the coordinates in the last axis of i" + indexDoc,
		Args:  []string{"x", "i", "u"},
		Attrs: []Attr{reduceAttr},
		Infer: inferScatterND, Eval: evalScatterND, Sample: sampleScatterND,
	})
)

func inferScatter(c *Call) ([]Type, error) {
	x, i, u := c.In[0], c.In[1], c.In[2]
	if err := checkUpdates(c); err != nil {
		return nil, err
	}
	axis, err := axisOf(c.Int("axis"), x.Rank())
	if err != nil {
		return nil, err
	}
	if err := checkRank(c, 1, x.Rank()); err != nil {
		return nil, err
	}
	if !SameShape(i.Shape, u.Shape) {
		return nil, Errorf("shape-mismatch", "i and u have shapes %s and %s", ShapeString(i.Shape), ShapeString(u.Shape)).
			Label(1, "%s", i).Label(2, "%s", u).
			Note("there is one update for each index")
	}
	for a, d := range i.Shape {
		if a != axis && !LessEq(d, x.Shape[a]) {
			return nil, Errorf("shape-mismatch", "i has size %s along axis %d, x has %s", d, a, x.Shape[a]).
				Label(0, "%s", x).Label(1, "%s", i).
				Note("outside the indexed axis i is not larger than x")
		}
	}
	return []Type{x}, nil
}

// checkUpdates checks the dtypes of x, i and u.
func checkUpdates(c *Call) error {
	if err := checkSet(c, 1, Ints); err != nil {
		return err
	}
	return sameDType(c, 0, 2)
}

func evalScatter(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	x, i, u := in[0], in[1], in[2]
	axis, index, lent, err := indexed(c, x, i)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	if len(index) == 0 {
		return resultOf(c, x), nil
	}
	more, err := borrow(c, x.Len()+3*u.Len())
	if err != nil {
		return nil, err
	}
	defer more.giveBack()
	lines := denseOf(c, x)
	stride := lines.strides[axis]
	lines.strides[axis] = 0
	at := places(c, lines, i.Shape)
	for k := range at {
		at[k] += index[k] * stride
	}
	return update(c, x, at, u), nil
}

func inferScatterND(c *Call) ([]Type, error) {
	x, i, u := c.In[0], c.In[1], c.In[2]
	if err := checkUpdates(c); err != nil {
		return nil, err
	}
	depth, err := coordinates(c, 0)
	if err != nil {
		return nil, err
	}
	if want := slices.Concat(i.Shape[:i.Rank()-1], x.Shape[depth:]); !SameShape(u.Shape, want) {
		return nil, Errorf("shape-mismatch", "u has shape %s, not %s", ShapeString(u.Shape), ShapeString(want)).
			Label(0, "%s", x).Label(1, "%s", i).Label(2, "%s", u).
			Note("the shape of u is that of i without its last axis, then the axes of x that are not indexed")
	}
	return []Type{x}, nil
}

func evalScatterND(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	blocks, block, lent, err := blocksAt(c, in[0], in[1], 0)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	more, err := borrow(c, in[0].Len()+2*in[2].Len())
	if err != nil {
		return nil, err
	}
	defer more.giveBack()
	at := room[int](c, in[2].Len())[:0]
	for _, b := range blocks {
		for k := range block {
			at = append(at, b*block+k)
		}
	}
	return update(c, in[0], at, in[2]), nil
}

// update writes the elements of u to the places of a copy of x.
func update(c *Call, x *tensor.T, at []int, u *tensor.T) []*tensor.T {
	out := resultOf(c, x)
	reduce := c.Str("reduce")
	if reduce == "none" {
		size := x.DType.Size()
		for k, p := range at {
			if k%stopEvery == 0 && c.Budget.stop() != nil {
				return out // Evaluate asks again
			}
			copy(out[0].Data[p*size:(p+1)*size], u.Data[k*size:])
		}
		return out
	}
	updaters[x.DType.Kind()](c, out[0], at, u, reduce)
	return out
}

// updaters is, by the kind of dtype, the arithmetic that is exact for it.
var updaters = [...]func(c *Call, out *tensor.T, at []int, u *tensor.T, reduce string){
	tensor.Float:    updateBy(asFloats, foldsOf[float64]()),
	tensor.Signed:   updateBy(asInts, foldsOf[int64]()),
	tensor.Unsigned: updateBy(asUints, foldsOf[uint64]()),
	tensor.Logical:  updateBy(asInts, foldsOf[int64]()),
}

// foldsOf are the reductions; of floats, max and min propagate NaN.
func foldsOf[W wide]() map[string]func(a, b W) W {
	return map[string]func(a, b W) W{
		"add": func(a, b W) W { return a + b },
		"mul": func(a, b W) W { return a * b },
		"max": func(a, b W) W { return max(a, b) },
		"min": func(a, b W) W { return min(a, b) },
	}
}

// updateBy combines in the wide type and stores only what was touched, so that
// all else stays bit for bit.
func updateBy[W wide](w width[W], folds map[string]func(a, b W) W) func(*Call, *tensor.T, []int, *tensor.T, string) {
	return func(c *Call, out *tensor.T, at []int, u *tensor.T, reduce string) {
		fold, sums, us := folds[reduce], room[W](c, out.Len()), room[W](c, u.Len())
		w.load(out, sums, 0)
		w.load(u, us, 0)
		for k, p := range at {
			if k%stopEvery == 0 && c.Budget.stop() != nil {
				return // Evaluate asks again
			}
			sums[p] = fold(sums[p], us[k])
		}
		for k, p := range at {
			if k%stopEvery == 0 && c.Budget.stop() != nil {
				return
			}
			w.store(out, p, sums[p:p+1])
		}
	}
}
