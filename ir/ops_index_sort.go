package ir

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Operators that order elements along an axis. Among floats NaN is the largest
// and -0 equals 0, as in NumPy and PyTorch; equals keep their order, whichever
// the direction.

var lastAxis = Attr{Name: "axis", Kind: KInt, Axis: OfArgument, Default: IntLit(-1), Doc: "the axis to sort along"}

var descendingAttr = Attr{Name: "descending", Kind: KBool, Default: BoolLit(false), Doc: "whether the largest come first"}

var (
	Sort = row(Op{
		Name: "sort", Group: "index", Class: Move, Unit: Vector,
		Doc:   "in ascending order along an axis, stable; NaN is the largest",
		Args:  []string{"x"},
		Attrs: []Attr{lastAxis, descendingAttr},
		Infer: func(c *Call) ([]Type, error) { return inferSort(c, c.In[0].DType) },
		Cost:  costSort, Sample: sampleSort,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			return evalOrder(c, in[0], c.Bool("descending"), func(out []*tensor.T) (v, i *tensor.T) { return out[0], nil })
		},
	})
	ArgSort = row(Op{
		Name: "argsort", Group: "index", Class: Move, Unit: Vector,
		Doc:   "the positions along an axis, i64, that sort x, stable; NaN is the largest",
		Args:  []string{"x"},
		Attrs: []Attr{lastAxis, descendingAttr},
		Infer: func(c *Call) ([]Type, error) { return inferSort(c, tensor.I64) },
		Cost:  costSort, Sample: sampleSort,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			return evalOrder(c, in[0], c.Bool("descending"), func(out []*tensor.T) (v, i *tensor.T) { return nil, out[0] })
		},
	})
	TopK = row(Op{
		Name: "topk", Group: "index", Class: Move, Unit: Vector,
		Doc:  "the k largest elements along an axis, the largest first, and their positions, i64; of equals the lower position first; NaN is the largest",
		Args: []string{"x"},
		Attrs: []Attr{
			{Name: "k", Kind: KDim, Required: true, Doc: "how many"},
			lastAxis,
			{Name: "largest", Kind: KBool, Default: BoolLit(true), Doc: "whether the largest are meant; else the smallest, the smallest first"},
			{Name: "sorted", Kind: KBool, Default: BoolLit(true), Doc: "whether they are in order; they always are"},
		},
		Infer: inferTopK, Asserts: assertTopK, Cost: costSort, Eval: evalTopK, Sample: sampleTopK,
	})
)

// costSort counts one comparison an element and level of a merge.
func costSort(c *Call) Cost {
	axis, _ := axisOf(c.Int("axis"), c.In[0].Rank())
	size, _ := c.In[0].Shape[axis].Const()
	cost := DefaultCost(c, 0)
	n, _ := c.In[0].Elements().Const()
	cost.Flops = n * int64(bits.Len64(uint64(size)))
	return cost
}

func inferSort(c *Call, d tensor.DType) ([]Type, error) {
	_, err := axisOf(c.Int("axis"), c.In[0].Rank())
	return []Type{{d, c.In[0].Shape}}, err
}

func inferTopK(c *Call) ([]Type, error) {
	x, k := c.In[0], c.Attr("k").Dims[0]
	axis, err := axisOf(c.Int("axis"), x.Rank())
	if err != nil {
		return nil, err
	}
	n, known := k.Const()
	if d, sized := x.Shape[axis].Const(); known && (n < 0 || sized && n > d) {
		return nil, tooMany(c, axis)
	}
	shape := slices.Clone(x.Shape)
	shape[axis] = k
	return []Type{{x.DType, shape}, {tensor.I64, shape}}, nil
}

// assertTopK is that there are k elements.
func assertTopK(c *Call) []Assert {
	k := c.Attr("k").Dims[0]
	axis, err := axisOf(c.Int("axis"), c.In[0].Rank())
	if err != nil || LessEq(k, c.In[0].Shape[axis]) {
		return nil
	}
	return []Assert{{Left: k, Rel: "<=", Right: c.In[0].Shape[axis]}}
}

func tooMany(c *Call, axis int) error {
	return Errorf("out-of-range", "k is %s, but axis %d has size %s", c.Attr("k").Dims[0], axis, c.In[0].Shape[axis]).Label(0, "%s", c.In[0])
}

func evalTopK(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	axis, err := axisOf(c.Int("axis"), len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	if n, _ := c.Attr("k").Dims[0].Const(); n > int64(in[0].Shape[axis]) {
		return nil, tooMany(c, axis)
	}
	return evalOrder(c, in[0], c.Bool("largest"), func(out []*tensor.T) (v, i *tensor.T) { return out[0], out[1] })
}

// stopEvery is after how many elements a long evaluation asks whether to go on.
const stopEvery = 1 << 16

// evalOrder sorts the lines of x along the attribute axis and stores the first
// ones of each, as values, as positions, or both: pick says which result is
// which.
func evalOrder(c *Call, x *tensor.T, descending bool, pick func([]*tensor.T) (values, positions *tensor.T)) ([]*tensor.T, error) {
	axis, err := axisOf(c.Int("axis"), len(x.Shape))
	if err != nil {
		return nil, err
	}
	out := results(c)
	values, positions := pick(out)
	outer, n, inner := extent(x.Shape, axis)
	k := out[0].Shape[axis]
	if k == 0 {
		return out, nil
	}
	spare := 0 // what lines are merged into
	if n > stopEvery {
		spare = n
	}
	lent, err := borrow(c, x.Len()+n+spare)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	sorter := sorters[x.DType.Kind()](c, x)
	order, other := room[int](c, n), room[int](c, spare)
	for line := range outer * inner {
		if line*n/stopEvery != (line+1)*n/stopEvery {
			if err := c.Budget.stop(); err != nil {
				return nil, err
			}
		}
		from := line/inner*n*inner + line%inner
		for i := range order {
			order[i] = i
		}
		sorted, err := sorter.sort(c, order, other, from, inner, descending)
		if err != nil {
			return nil, err
		}
		to := line/inner*k*inner + line%inner
		storeLine(values, positions, to, x, from, inner, sorted[:k])
	}
	return out, nil
}

// storeLine writes one line of the results from to on, in steps of inner.
func storeLine(values, positions *tensor.T, to int, x *tensor.T, from, inner int, order []int) {
	size := x.DType.Size()
	for j, p := range order {
		if values != nil {
			at := from + p*inner
			copy(values.Data[(to+j*inner)*size:], x.Data[at*size:(at+1)*size])
		}
		if positions != nil {
			tensor.Of[int64](positions)[to+j*inner] = int64(p)
		}
	}
}

// A lineSorter sorts positions, which ascend, by the elements of one line of a tensor,
// which begins at from and goes in steps. The result lies in order, or in spare, which
// is as long if the line is long. The error is that of a call that is to stop.
type lineSorter interface {
	sort(c *Call, order, spare []int, from, step int, descending bool) ([]int, error)
}

// sorters is, by the kind of dtype, the widest type that holds every element.
var sorters = [...]func(c *Call, x *tensor.T) lineSorter{
	tensor.Float:    sortBy(asFloats, compareFloats),
	tensor.Signed:   sortBy(asInts, cmp.Compare[int64]),
	tensor.Unsigned: sortBy(asUints, cmp.Compare[uint64]),
	tensor.Logical:  sortBy(asInts, cmp.Compare[int64]),
}

// A sorting has all elements of a tensor.
type sorting[W wide] struct {
	all     []W
	compare func(a, b W) int
}

func sortBy[W wide](w width[W], compare func(a, b W) int) func(*Call, *tensor.T) lineSorter {
	return func(c *Call, x *tensor.T) lineSorter {
		s := &room[sorting[W]](c, 1)[0]
		*s = sorting[W]{room[W](c, x.Len()), compare}
		w.load(x, s.all, 0)
		return s
	}
}

// sort sorts pieces of a line and merges them, so that it can stop in between. Of
// equals the first position comes first.
func (s *sorting[W]) sort(c *Call, order, spare []int, from, step int, descending bool) ([]int, error) {
	compare := func(p, q int) int {
		a, b := s.all[from+p*step], s.all[from+q*step]
		if descending {
			a, b = b, a
		}
		if r := s.compare(a, b); r != 0 {
			return r
		}
		return p - q
	}
	for piece := range slices.Chunk(order, stopEvery) {
		if err := stopLong(c, order); err != nil {
			return nil, err
		}
		slices.SortFunc(piece, compare)
	}
	for size := stopEvery; size < len(order); size *= 2 {
		for at := 0; at < len(order); at += 2 * size {
			middle, end := min(at+size, len(order)), min(at+2*size, len(order))
			if err := merge(c, spare[at:end], order[at:middle], order[middle:end], compare); err != nil {
				return nil, err
			}
		}
		order, spare = spare, order
	}
	return order, nil
}

// stopLong asks whether to go on, if a line is long.
func stopLong(c *Call, line []int) error {
	if len(line) <= stopEvery {
		return nil
	}
	return c.Budget.stop()
}

// merge writes two sorted lists as one.
func merge(c *Call, to, a, b []int, compare func(p, q int) int) error {
	for i := range to {
		if i%stopEvery == 0 {
			if err := c.Budget.stop(); err != nil {
				return err
			}
		}
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0 {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
	return nil
}

// compareFloats puts NaN behind all others; cmp.Compare would put it first.
func compareFloats(a, b float64) int {
	switch {
	case a < b || a == a && b != b:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}
