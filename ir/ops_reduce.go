package ir

import (
	"math"
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

var (
	keepAttr  = Attr{Name: "keepdims", Kind: KBool, Default: BoolLit(false), Doc: "whether the reduced axes stay, with size 1"}
	axisAttrs = []Attr{{Name: "axis", Kind: KInts, Axis: OfArgument, Doc: "the axis or axes to reduce; absent: all"}, keepAttr}
)

// Reductions: axis is one axis or a list; absent means all, an empty list
// none. Floats are accumulated in float64, in the order of memory, and rounded
// once; integers keep their dtype and wrap.
var (
	Sum          = reduction("sum", Numbers, "sum; 0 of nothing", sums)
	Mean         = reduction("mean", Floats, "sum divided by the number of elements; NaN of nothing", foldNumbers(mean, nil, nil))
	Prod         = reduction("prod", Numbers, "product; 1 of nothing", foldNumbers(prod[float64], prod[int64], prod[uint64]))
	Max          = reduction("max", Numbers, "largest element, NaN if one is; of nothing -inf or the dtype's smallest", foldNumbers(largest(lowFloat), largest(lowInt), largest(lowUint)))
	Min          = reduction("min", Numbers, "smallest element, NaN if one is; of nothing inf or the dtype's largest", foldNumbers(smallest(highFloat), smallest(highInt), smallest(highUint)))
	SumSquare    = reduction("sum_square", Numbers, "sum of squares", foldNumbers(sumSquare[float64], sumSquare[int64], sumSquare[uint64]))
	Norm1        = reduction("norm1", Numbers, "sum of absolute values", foldNumbers(norm1(math.Abs), norm1(absInt), sum[uint64]))
	Norm2        = reduction("norm2", Floats, "square root of the sum of squares, without overflow", foldNumbers(norm2, nil, nil))
	LogSumExp    = reduction("logsumexp", Floats, "log of the sum of exponentials, without overflow; -inf of nothing", foldNumbers(logSumExp, nil, nil))
	Variance     = spread("variance", "mean square distance from the mean; NaN where correction leaves no elements", variance)
	Std          = spread("std", "square root of the variance", func(c *Call, l *line[float64]) float64 { return math.Sqrt(variance(c, l)) })
	All          = truth("all", "whether no element is zero; true of nothing", foldTruth(asBools, allTrue))
	Any          = truth("any", "whether some element is not zero, as NaN is not; false of nothing", foldTruth(asBools, anyTrue))
	CountNonzero = reduceRow(Op{Name: "count_nonzero", Over: AnyDType, Attrs: axisAttrs, Doc: "how many elements are not zero, as i64"},
		foldTruth(asInts, countTrue), func(tensor.DType) tensor.DType { return tensor.I64 })

	ArgMax = extremum("argmax", "position of the largest element as i64: of the first NaN, else of the first of equals", foldPlaces(
		placeOf(math.Inf(-1), func(v, best float64) bool { return v > best || v != v && best == best }),
		placeOf(math.MinInt64, func(v, best int64) bool { return v > best }),
		placeOf(0, func(v, best uint64) bool { return v > best })))
	ArgMin = extremum("argmin", "position of the smallest element as i64: of the first NaN, else of the first of equals", foldPlaces(
		placeOf(math.Inf(1), func(v, best float64) bool { return v < best || v != v && best == best }),
		placeOf(math.MaxInt64, func(v, best int64) bool { return v < best }),
		placeOf(math.MaxUint64, func(v, best uint64) bool { return v < best })))

	CumSum  = cumulative("cumsum", "sums of the elements up to each one along axis", accumulated(func(a, b float64) float64 { return a + b }), accumulated(func(a, b int64) int64 { return a + b }))
	CumProd = cumulative("cumprod", "products of the elements up to each one along axis", accumulated(func(a, b float64) float64 { return a * b }), accumulated(func(a, b int64) int64 { return a * b }))
)

func reduction(name string, over DTypes, doc string, f folds) *Op {
	return reduceRow(Op{Name: name, Doc: doc, Over: over, Attrs: axisAttrs}, f, nil)
}

// truth is a reduction of any dtype to bool.
func truth(name, doc string, f folds) *Op {
	return reduceRow(Op{Name: name, Doc: doc, Over: AnyDType, Attrs: axisAttrs}, f, boolResult)
}

// spread is a reduction with PyTorch's attribute correction; its default is
// NumPy's, 0, so that the variance is the one that norms divide by.
func spread(name, doc string, f fold[float64, float64]) *Op {
	attrs := append(axisAttrs[:len(axisAttrs):len(axisAttrs)],
		Attr{Name: "correction", Kind: KInt, Default: IntLit(0), Doc: "what is taken off the number of elements; 1: the unbiased estimate"})
	return reduceRow(Op{Name: name, Doc: doc, Over: Floats, Attrs: attrs}, foldNumbers(f, nil, nil), nil)
}

// reduceRow makes a row. result gives the result's dtype; nil: the argument's.
func reduceRow(op Op, f folds, result func(tensor.DType) tensor.DType) *Op {
	op.Group, op.Class, op.Args, op.Cost = "reduction", Reduce, []string{"x"}, costInput
	op.Infer = func(c *Call) ([]Type, error) { return inferReduce(c, result) }
	op.Eval = f.eval
	op.Sample = func(r *rand.Rand) Call {
		s := &sampler{r}
		shape := s.shape(0, 4)
		c := Call{In: []Type{T(s.dtype(op.Over), Dims(shape...)...)}, Attrs: s.attrs(op.Attrs)}
		if s.chance(2) {
			c.Attrs[0] = IntsLit(s.axes(len(shape))...)
		}
		if len(op.Attrs) > 2 { // correction
			c.Attrs[2] = IntLit(int64(s.IntN(3)))
		}
		return c
	}
	return row(op)
}

// eval reduces along the attribute axis.
func (f *folds) eval(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	axes, err := reducedAxes(c, len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	rows, lent, err := rowsFor(c, in[0], axes)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	out := results(c)
	f[in[0].DType.Kind()](c, out[0], rows)
	return out, nil
}

// costInput counts one flop per element that is read.
func costInput(c *Call) Cost {
	cost := DefaultCost(c, 1)
	cost.Flops, _ = c.In[0].Elements().Const()
	return cost
}

func inferReduce(c *Call, result func(tensor.DType) tensor.DType) ([]Type, error) {
	if err := checkOver(c, 0); err != nil {
		return nil, err
	}
	x := c.In[0]
	axes, err := reducedAxes(c, x.Rank())
	if err != nil {
		return nil, err
	}
	t := T(x.DType, withoutAxes(x.Shape, axes, c.Bool("keepdims"))...)
	if result != nil {
		t.DType = result(t.DType)
	}
	return []Type{t}, nil
}

// reducedAxes reads the attribute axis: a list, one axis, or absent for all.
func reducedAxes(c *Call, rank int) ([]int, error) {
	switch l := c.Attr("axis"); l.Kind {
	case KInts:
		return axesFor(c, l.Ints, rank)
	case KInt:
		axis, err := axisOf(l.Int, rank)
		return oneAxis(c, axis), err
	}
	all := room[int](c, rank)
	for i := range all {
		all[i] = i
	}
	return all, nil
}

// withoutAxes drops the axes, or makes them 1. axes are sorted.
func withoutAxes(shape []Dim, axes []int, keep bool) []Dim {
	out := []Dim{}
	for i, d := range shape {
		switch {
		case len(axes) == 0 || axes[0] != i:
			out = append(out, d)
		case keep:
			out, axes = append(out, N(1)), axes[1:]
		default:
			axes = axes[1:]
		}
	}
	return out
}

// extremum is argmax or argmin: over one axis, or over all elements in the
// order of memory.
func extremum(name, doc string, f folds) *Op {
	attrs := []Attr{{Name: "axis", Kind: KInt, Axis: OfArgument, Doc: "the axis to search along; absent: all elements, counted in memory order"}, keepAttr}
	return row(Op{
		Name: name, Doc: doc, Group: "reduction", Class: Reduce, Args: []string{"x"}, Over: Numbers, Attrs: attrs, Cost: costInput,
		Infer: func(c *Call) ([]Type, error) {
			out, err := inferReduce(c, func(tensor.DType) tensor.DType { return tensor.I64 })
			if err != nil {
				return nil, err
			}
			axes, _ := reducedAxes(c, c.In[0].Rank())
			return out, checkNotEmpty(c, axes)
		},
		Asserts: assertNotEmpty,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			axes, err := reducedAxes(c, len(in[0].Shape))
			if err == nil {
				err = checkNotEmpty(c, axes)
			}
			if err != nil {
				return nil, err
			}
			return f.eval(c, in...)
		},
		Sample: func(r *rand.Rand) Call {
			s := &sampler{r}
			shape := s.shape(0, 4)
			axis := None
			if len(shape) > 0 && s.chance(2) {
				axis = IntLit(s.axis(len(shape)))
			}
			for i := range shape {
				shape[i] = max(shape[i], 1)
			}
			return Call{In: []Type{T(s.dtype(Numbers), Dims(shape...)...)}, Attrs: []Lit{axis, s.flag()}}
		},
	})
}

// checkNotEmpty refuses to search nothing, as NumPy does.
func checkNotEmpty(c *Call, axes []int) error {
	for _, a := range axes {
		if c.In[0].Shape[a].Is(0) {
			return Errorf("out-of-range", "there is no %s of an axis without elements", c.Op.Name).
				Label(0, "%s, axis %d is empty", c.In[0], a)
		}
	}
	return nil
}

func assertNotEmpty(c *Call) []Assert {
	axes, err := reducedAxes(c, c.In[0].Rank())
	if err != nil {
		return nil
	}
	var as []Assert
	for _, a := range axes {
		as = append(as, assertSome(c.In[0].Shape[a])...)
	}
	return as
}

// assertSome is that a size is not 0, unless that is known.
func assertSome(d Dim) []Assert {
	if LessEq(N(1), d) {
		return nil
	}
	return []Assert{{Left: N(1), Rel: "<=", Right: d}}
}

func cumulative(name, doc string, f rowLoop[float64], i rowLoop[int64]) *Op {
	return row(Op{
		Name: name, Doc: doc, Group: "reduction", Class: Reduce, Args: []string{"x"}, Over: Numbers,
		Attrs: []Attr{{Name: "axis", Kind: KInt, Axis: OfArgument, Required: true, Doc: "the axis to run along"}},
		Infer: inferAlongAxis,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			axis, err := axisOf(c.Int("axis"), len(in[0].Shape))
			if err != nil {
				return nil, err
			}
			if in[0].DType.IsFloat() {
				return mapRows(c, asFloats, in[0], oneAxis(c, axis), f)
			}
			return mapRows(c, asInts, in[0], oneAxis(c, axis), i)
		},
		Sample: sampleAlongAxis(Numbers),
	})
}

// inferAlongAxis is the inference of operators that keep the shape and work
// along the attribute axis.
func inferAlongAxis(c *Call) ([]Type, error) {
	if err := checkOver(c, 0); err != nil {
		return nil, err
	}
	if _, err := axisOf(c.Int("axis"), c.In[0].Rank()); err != nil {
		return nil, err
	}
	return []Type{c.In[0]}, nil
}

func sampleAlongAxis(over DTypes, more ...Lit) func(*rand.Rand) Call {
	return func(r *rand.Rand) Call {
		s := &sampler{r}
		shape := s.shape(1, 4)
		return Call{
			In:    []Type{T(s.dtype(over), Dims(shape...)...)},
			Attrs: append([]Lit{IntLit(s.axis(len(shape)))}, more...),
		}
	}
}
