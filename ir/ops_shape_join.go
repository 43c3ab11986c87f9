package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Operators that join tensors, part them, and repeat them.

// MaxParts bounds the results of one operator: more are a mistake, and each
// costs memory before anything is known to be right.
const MaxParts = 1 << 14

var axis0 = Attr{Name: "axis", Kind: KInt, Axis: OfArgument, Default: IntLit(0), Doc: "the axis along which they lie"}

var (
	Concat = row(Op{
		Name: "concat", Group: "shape", Class: Move, Unit: DMA,
		Doc:   "tensors behind each other along an axis",
		Args:  []string{"xs..."},
		Attrs: []Attr{axis0},
		Infer: inferConcat, Cost: costMove, Eval: evalConcat, Sample: sampleConcat,
	})
	Stack = row(Op{
		Name: "stack", Group: "shape", Class: Move, Unit: DMA,
		Doc:   "tensors of one shape behind each other along a new axis",
		Args:  []string{"xs..."},
		Attrs: []Attr{{Name: "axis", Kind: KInt, Axis: OfResult, Default: IntLit(0), Doc: "where the new axis stands in the result"}},
		Infer: inferStack, Cost: costMove, Eval: evalStack, Sample: sampleStack,
	})
	Split = row(Op{
		Name: "split", Group: "shape", Class: Move, Unit: DMA,
		Doc:  "the tensor in parts along an axis: so many equal ones, or of the given sizes",
		Args: []string{"x"},
		Attrs: []Attr{
			{Name: "parts", Kind: KInt, Default: IntLit(0), Doc: "the number of equal parts; 0: sizes says it"},
			{Name: "sizes", Kind: KDims, Doc: "the size of each part"},
			axis0,
		},
		Infer: inferSplit, Asserts: assertSplit, Cost: costMove, Eval: evalSplit, strides: stridesOfSplit, Sample: sampleSplit,
	})
	Chunk = row(Op{
		Name: "chunk", Group: "shape", Class: Move, Unit: DMA,
		Doc:  "n parts along an axis, each of ceildiv(size, n); the last ones may be smaller or empty",
		Args: []string{"x"},
		Attrs: []Attr{
			{Name: "n", Kind: KInt, Required: true, Doc: "the number of parts; all of them are results, whatever the size"},
			axis0,
		},
		Infer: inferChunk, Cost: costMove, Eval: evalSplit, strides: stridesOfSplit, Sample: sampleChunk,
	})
	Tile = row(Op{
		Name: "tile", Group: "shape", Class: Move, Unit: DMA,
		Doc:   "the whole tensor repeated along each axis",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "reps", Kind: KDims, Required: true, Variadic: true, Doc: "how often, for the last axes of x; more than it has axes make new leading ones"}},
		Infer: inferTile, Cost: costMove, Eval: evalTile, strides: stridesOfTile, Sample: sampleTile,
	})
	Repeat = row(Op{
		Name: "repeat", Group: "shape", Class: Move, Unit: DMA,
		Doc:  "each slice along an axis n times behind itself (numpy.repeat, torch.repeat_interleave)",
		Args: []string{"x"},
		Attrs: []Attr{
			{Name: "n", Kind: KDim, Required: true, Doc: "how often"},
			{Name: "axis", Kind: KInt, Axis: OfArgument, Doc: "the axis; absent: x is taken as a vector"},
		},
		Infer: inferRepeat, Cost: costMove, Eval: evalRepeat, strides: stridesOfRepeat, Sample: sampleRepeat,
	})
)

// someOf checks the arguments of concat and stack: one at least, one dtype,
// one rank, and one size along each axis but skip.
func someOf(c *Call, rule string, skip func(rank int) (int, error)) (axis int, err error) {
	if len(c.In) == 0 {
		return 0, Errorf("missing-argument", "no tensor is given").Note("the list must hold one tensor at least")
	}
	if err := sameDType(c); err != nil {
		return 0, err
	}
	first := c.In[0]
	if axis, err = skip(first.Rank()); err != nil {
		return 0, err
	}
	for i, t := range c.In {
		if t.Rank() != first.Rank() {
			return 0, Errorf("rank-mismatch", "tensors have ranks %d and %d", first.Rank(), t.Rank()).
				Label(0, "%s", first).Label(i, "%s", t)
		}
		for a, d := range t.Shape {
			if a != axis && !d.Equal(first.Shape[a]) {
				return 0, Errorf("shape-mismatch", "sizes along axis %d differ: %s and %s", a, first.Shape[a], d).
					Label(0, "%s", first).Label(i, "%s", t).
					Note("%s", rule)
			}
		}
	}
	return axis, nil
}

func inferConcat(c *Call) ([]Type, error) {
	axis, err := someOf(c, "concat joins tensors that differ along its axis only", func(rank int) (int, error) { return axisOf(c.Int("axis"), rank) })
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(c.In[0].Shape)
	for _, t := range c.In[1:] {
		shape[axis] = shape[axis].Add(t.Shape[axis])
	}
	return []Type{{c.In[0].DType, shape}}, nil
}

func evalConcat(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	axis, err := axisOf(c.Int("axis"), len(out[0].Shape))
	if err != nil {
		return nil, err
	}
	placeAll(c, out[0], axis, in)
	return out, nil
}

// placeAll copies tensors behind each other along an axis of out.
func placeAll(c *Call, out *tensor.T, axis int, in []*tensor.T) {
	to := denseOf(c, out)
	for _, x := range in {
		copyView(out, to, x, denseOf(c, x), x.Shape)
		to.off += x.Shape[axis] * to.strides[axis]
	}
}

func inferStack(c *Call) ([]Type, error) {
	if _, err := someOf(c, "stack joins tensors of one shape", func(int) (int, error) { return -1, nil }); err != nil {
		return nil, err
	}
	axis, err := axisOf(c.Int("axis"), c.In[0].Rank()+1)
	if err != nil {
		return nil, err
	}
	return []Type{{c.In[0].DType, slices.Insert(slices.Clone(c.In[0].Shape), axis, N(int64(len(c.In))))}}, nil
}

func evalStack(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	axis, err := axisOf(c.Int("axis"), len(out[0].Shape))
	if err != nil {
		return nil, err
	}
	slabs := room[*tensor.T](c, len(in))
	for i, x := range in {
		shape := append(room[int](c, len(x.Shape)+1)[:0], x.Shape[:axis]...)
		shape = append(append(shape, 1), x.Shape[axis:]...)
		slabs[i] = reshaped(c, x, shape...)
	}
	placeAll(c, out[0], axis, slabs)
	return out, nil
}

func inferSplit(c *Call) ([]Type, error) {
	axis, err := axisOf(c.Int("axis"), c.In[0].Rank())
	if err != nil {
		return nil, err
	}
	parts, sizes := c.Int("parts"), c.Attr("sizes")
	switch {
	case sizes.IsNone() == (parts == 0):
		return nil, Errorf("wrong-arguments", "needs either the number of parts or their sizes")
	case sizes.IsNone():
		return equalParts(c, axis, parts)
	}
	return sizedParts(c, axis, sizes.Dims)
}

func assertSplit(c *Call) []Assert {
	axis, err := axisOf(c.Int("axis"), c.In[0].Rank())
	if err != nil || c.Int("parts") == 0 {
		return nil
	}
	return assertDivides(c.In[0].Shape[axis], N(c.Int("parts")))
}

func equalParts(c *Call, axis int, n int64) ([]Type, error) {
	if err := checkParts(n); err != nil {
		return nil, err
	}
	d := c.In[0].Shape[axis]
	size := d.Div(N(n))
	if !symbolic(size) && !size.IsConst() {
		return nil, Errorf("shape-mismatch", "size %s of axis %d does not divide into %d parts", d, axis, n).
			Label(0, "%s", c.In[0]).
			Help("give the sizes, or use chunk, whose last part may be smaller")
	}
	return partTypes(c.In[0], axis, slices.Repeat([]Dim{size}, int(n))), nil
}

func sizedParts(c *Call, axis int, sizes []Dim) ([]Type, error) {
	if err := checkParts(int64(len(sizes))); err != nil {
		return nil, err
	}
	sum := N(0)
	for _, d := range sizes {
		sum = sum.Add(d)
	}
	if d := c.In[0].Shape[axis]; !sum.Equal(d) {
		return nil, Errorf("shape-mismatch", "the sizes sum up to %s, not to %s, the size of axis %d", sum, d, axis).Label(0, "%s", c.In[0])
	}
	return partTypes(c.In[0], axis, sizes), nil
}

func checkParts(n int64) error {
	if n < 1 {
		return Errorf("out-of-range", "%d parts are asked for", n).Note("at least one part")
	}
	if n > MaxParts {
		return Errorf("limit", "%d parts are asked for, above the limit of %d", n, MaxParts)
	}
	return nil
}

// partTypes are x's type with each of the sizes along the axis.
func partTypes(x Type, axis int, sizes []Dim) []Type {
	ts := make([]Type, len(sizes))
	for i, d := range sizes {
		shape := slices.Clone(x.Shape)
		shape[axis] = d
		ts[i] = Type{x.DType, shape}
	}
	return ts
}

// inferChunk gives n results even where fewer would hold all: their number
// must not depend on a size that is known only when the program runs.
func inferChunk(c *Call) ([]Type, error) {
	axis, err := axisOf(c.Int("axis"), c.In[0].Rank())
	if err != nil {
		return nil, err
	}
	n := c.Int("n")
	if err := checkParts(n); err != nil {
		return nil, err
	}
	d := c.In[0].Shape[axis]
	size := CeilDiv(d, N(n))
	sizes := make([]Dim, n)
	for i := range sizes {
		sizes[i] = MinOf(size, MaxOf(d.Sub(size.Mul(N(int64(i)))), N(0)))
	}
	return partTypes(c.In[0], axis, sizes), nil
}

// evalSplit serves split and chunk: the parts lie behind each other.
func evalSplit(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	axis, err := axisOf(c.Int("axis"), len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	from, left := denseOf(c, in[0]), in[0].Shape[axis]
	for _, part := range out {
		n := part.Shape[axis]
		if left -= n; left < 0 {
			return nil, Errorf("dimension-mismatch", "the parts are larger than axis %d of %s", axis, c.In[0]).Label(0, "%s", c.In[0])
		}
		copyView(part, denseOf(c, part), in[0], from, part.Shape)
		from.off += n * from.strides[axis]
	}
	return out, nil
}

func inferTile(c *Call) ([]Type, error) {
	shape, reps := alignReps(c)
	out := make([]Dim, len(shape))
	for i, d := range shape {
		if n, known := reps[i].Const(); known && n < 0 {
			return nil, negativeCount(n)
		}
		out[i] = d.Mul(reps[i])
	}
	return []Type{{c.In[0].DType, out}}, nil
}

func negativeCount(n int64) error {
	return Errorf("out-of-range", "%d repetitions are asked for", n).Note("a number of repetitions is at least 0")
}

// alignReps gives the shape of x and the repetitions one length, with ones in
// front.
func alignReps(c *Call) (shape, reps []Dim) {
	shape, reps = c.In[0].Shape, c.Dims("reps")
	rank := max(len(shape), len(reps))
	pad := func(ds []Dim) []Dim { return append(slices.Repeat([]Dim{N(1)}, rank-len(ds)), ds...) }
	return pad(shape), pad(reps)
}

func evalTile(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	block, steps := tileBlock(c, c)
	copyView(out[0], view{0, stridesOf(c, block)}, in[0], view{0, steps}, block)
	return out, nil
}

// tileBlock is the result as [reps, size] for each axis, and where its elements
// lie in x. The lists are memory on the way of an evaluation; nil: new ones.
func tileBlock(way, c *Call) (block, steps []int) {
	shape, reps := c.In[0].Shape, c.Dims("reps")
	n := 2 * max(len(shape), len(reps))
	block, steps = room[int](way, n), zeros[int](way, n)
	stride := 1
	for i := 0; 2*i < n; i++ { // from the last axis on
		size := fromBehind(shape, i)
		block[n-2-2*i], block[n-1-2*i], steps[n-1-2*i] = fromBehind(reps, i), size, stride
		stride *= size
	}
	return block, steps
}

// fromBehind is the i-th of a bound list from behind; 1 in front of it.
func fromBehind(ds []Dim, i int) int {
	if i >= len(ds) {
		return 1
	}
	n, _ := ds[len(ds)-1-i].Const()
	return int(n)
}

func inferRepeat(c *Call) ([]Type, error) {
	x, n := c.In[0], c.Attr("n").Dims[0]
	if k, known := n.Const(); known && k < 0 {
		return nil, negativeCount(k)
	}
	if c.Attr("axis").IsNone() {
		return []Type{T(x.DType, x.Elements().Mul(n))}, nil
	}
	axis, err := axisOf(c.Int("axis"), x.Rank())
	if err != nil {
		return nil, err
	}
	return partTypes(x, axis, []Dim{x.Shape[axis].Mul(n)}), nil
}

func evalRepeat(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	block, steps := repeatBlock(c, c)
	copyView(out[0], view{0, stridesOf(c, block)}, in[0], view{0, steps}, block)
	return out, nil
}

// repeatBlock is the result as [outer, slices, n, inner], and where its elements
// lie in x.
func repeatBlock(way, c *Call) (block, steps []int) {
	x, axis := c.In[0], 0
	shape := intsOf(way, x)
	if c.Attr("axis").IsNone() {
		n, _ := x.Elements().Const()
		shape = allTheSame(way, int(n), 1)
	} else {
		axis, _ = axisOf(c.Int("axis"), len(shape))
	}
	times, _ := c.Attr("n").Dims[0].Const()
	outer, d, inner := extent(shape, axis)
	return roomCopy(way, []int{outer, d, int(times), inner}), roomCopy(way, []int{d * inner, inner, 0, 1})
}
