package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir/tensor"
)

// Operators that read elements by integer tensors.

const indexDoc = "; i is of any integer dtype, a negative index counts from the end, and one outside is a run-time error"

var (
	Gather = row(Op{
		Name: "gather", Group: "index", Class: Move, Unit: DMA,
		Doc:  "the slices of x along an axis that i lists (numpy.take)" + indexDoc,
		Args: []string{"x", "i"},
		Attrs: []Attr{
			{Name: "axis", Kind: KInt, Axis: OfArgument, Default: IntLit(0), Doc: "the axis that is indexed; in the result the axes of i stand there"},
		},
		Infer: inferGather, Cost: costPick, Eval: evalGather, Sample: sampleGather,
	})
	Embedding = row(Op{
		Name: "embedding", Group: "index", Class: Move, Unit: DMA,
		Doc:   "the rows of a table that i lists" + indexDoc,
		Args:  []string{"table", "i"},
		Infer: inferEmbedding, Cost: costPick, Eval: evalEmbedding, Sample: sampleEmbedding,
	})
	TakeAlong = row(Op{
		Name: "take_along", Group: "index", Class: Move, Unit: DMA,
		Doc:   "for each place of i the element of x whose position along the axis it says (numpy.take_along_axis); the other axes broadcast" + indexDoc,
		Args:  []string{"x", "i"},
		Attrs: []Attr{{Name: "axis", Kind: KInt, Axis: OfArgument, Required: true, Doc: "the axis that is indexed"}},
		Infer: inferTakeAlong, Cost: costPick, Eval: evalTakeAlong, Sample: sampleTakeAlong,
	})
	GatherND = row(Op{
		Name: "gather_nd", Group: "index", Class: Move, Unit: DMA,
		Doc:   "the elements or slices of x at the coordinates in the last axis of i" + indexDoc,
		Args:  []string{"x", "i"},
		Attrs: []Attr{{Name: "batch_dims", Kind: KInt, Default: IntLit(0), Doc: "how many leading axes x and i have in common"}},
		Infer: inferGatherND, Cost: costPick, Eval: evalGatherND, Sample: sampleGatherND,
	})
	OneHot = row(Op{
		Name: "one_hot", Group: "index", Class: Move, Unit: Vector,
		Doc:  "a new axis of size n that is on at the position that i, of any integer dtype, says, and off elsewhere",
		Args: []string{"i"},
		Attrs: []Attr{
			{Name: "n", Kind: KDim, Required: true, Doc: "the size of the new axis; an index counts from its end when negative, and is an error outside"},
			dtypeF32,
			{Name: "axis", Kind: KInt, Axis: OfResult, Default: IntLit(-1), Doc: "where the new axis stands in the result"},
			{Name: "on", Kind: KNum, Default: DimLit(N(1)), Doc: "the value at the position"},
			{Name: "off", Kind: KNum, Default: DimLit(N(0)), Doc: "the value elsewhere"},
		},
		Infer: inferOneHot, Cost: costMove, Eval: evalOneHot, Sample: sampleOneHot,
	})
)

// indices reads an index tensor and brings each index into 0 .. size-1. The
// call's budget gives the memory, which lent gives back.
func indices(c *Call, t *tensor.T, size int, axis int) (out []int, lent loan, err error) {
	if lent, err = borrow(c, 2*t.Len()); err != nil {
		return nil, loan{}, err
	}
	out = room[int](c, t.Len())
	values := room[int64](c, t.Len())
	t.LoadInts(values, 0)
	for i, v := range values {
		if out[i], err = indexIn(t, i, v, size, axis); err != nil {
			lent.giveBack()
			return nil, loan{}, err
		}
	}
	return out, lent, nil
}

// indexIn checks one index, element at of t, against the size of an axis.
func indexIn(t *tensor.T, at int, v int64, size, axis int) (int, error) {
	n := int64(size)
	// A u64 of 2**63 or more reads as negative.
	wrapped := v < 0 && t.DType.Kind() == tensor.Unsigned
	if v < -n || v >= n || wrapped {
		text := fmt.Sprint(v)
		if wrapped {
			text = fmt.Sprint(uint64(v))
		}
		return 0, Errorf("index-out-of-range", "index %s%s is outside axis %d of size %d", text, positionText(t.Shape, at), axis, size).
			Note("an index is at least %d and less than %d", -n, n)
	}
	if v < 0 {
		v += n
	}
	return int(v), nil
}

// positionText says where in an index tensor an index stands.
func positionText(shape []int, at int) string {
	if len(shape) == 0 {
		return ""
	}
	return " at position " + strings.ReplaceAll(fmt.Sprint(tensor.Index(shape, at)), " ", ",")
}

// indexed is the axis that a bound call's attribute names, and the positions
// along it that i lists; see indices.
func indexed(c *Call, x, i *tensor.T) (axis int, index []int, lent loan, err error) {
	if axis, err = axisOf(c.Int("axis"), len(x.Shape)); err != nil {
		return 0, nil, loan{}, err
	}
	index, lent, err = indices(c, i, x.Shape[axis], axis)
	return axis, index, lent, err
}

func inferGather(c *Call) ([]Type, error) {
	x, i := c.In[0], c.In[1]
	if err := checkSet(c, 1, Ints); err != nil {
		return nil, err
	}
	axis, err := axisOf(c.Int("axis"), x.Rank())
	if err != nil {
		return nil, err
	}
	return []Type{{x.DType, slices.Concat(x.Shape[:axis], i.Shape, x.Shape[axis+1:])}}, nil
}

func evalGather(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	axis, index, lent, err := indexed(c, in[0], in[1])
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	out := results(c)
	takeAxis(out[0], in[0], axis, index)
	return out, nil
}

func inferEmbedding(c *Call) ([]Type, error) {
	if err := checkRank(c, 0, 2); err != nil {
		return nil, err
	}
	if err := checkSet(c, 1, Ints); err != nil {
		return nil, err
	}
	return []Type{{c.In[0].DType, slices.Concat(c.In[1].Shape, c.In[0].Shape[1:])}}, nil
}

func evalEmbedding(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	index, lent, err := indices(c, in[1], in[0].Shape[0], 0)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	out := results(c)
	takeAxis(out[0], in[0], 0, index)
	return out, nil
}

func inferTakeAlong(c *Call) ([]Type, error) {
	x, i := c.In[0], c.In[1]
	if err := checkSet(c, 1, Ints); err != nil {
		return nil, err
	}
	axis, err := axisOf(c.Int("axis"), x.Rank())
	if err != nil {
		return nil, err
	}
	if err := checkRank(c, 1, x.Rank()); err != nil {
		return nil, err
	}
	// Along the axis itself i decides; elsewhere the two broadcast.
	slice := slices.Clone(x.Shape)
	slice[axis] = N(1)
	at := slices.Clone(i.Shape)
	at[axis] = N(1)
	shape, ok := Broadcast(slice, at)
	if !ok {
		return nil, Errorf("shape-mismatch", "shapes %s and %s do not broadcast outside axis %d", ShapeString(x.Shape), ShapeString(i.Shape), axis).
			Label(0, "%s", x).Label(1, "%s", i)
	}
	shape[axis] = i.Shape[axis]
	return []Type{{x.DType, shape}}, nil
}

// evalTakeAlong finds, for each element of the result, its index by a
// broadcast view of i, and its line of x by one of x with the axis at 0.
func evalTakeAlong(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	x, i := in[0], in[1]
	axis, index, lent, err := indexed(c, x, i)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	out := results(c)
	if out[0].Len() == 0 {
		return out, nil
	}
	more, err := borrow(c, 3*out[0].Len())
	if err != nil {
		return nil, err
	}
	defer more.giveBack()
	lines := repeated(c, x, out[0].Shape)
	lines.strides[axis] = 0
	stride := stridesOf(c, x.Shape)[axis]
	base := places(c, lines, out[0].Shape)
	which := places(c, repeated(c, i, out[0].Shape), out[0].Shape)
	source := room[int](c, out[0].Len())
	for k := range source {
		source[k] = base[k] + index[which[k]]*stride
	}
	takeAxis(reshaped(c, out[0], out[0].Len()), reshaped(c, x, x.Len()), 0, source)
	return out, nil
}

// places lists the position of each element of a view, row by row.
func places(c *Call, v view, shape []int) []int {
	if slices.Contains(shape, 0) {
		return nil
	}
	total := 1
	for _, n := range shape {
		total *= n
	}
	out := room[int](c, total)
	out[0] = v.off
	known := 1
	for axis, n := range shape {
		// Each place becomes n of them, from behind, where no other one stands.
		for i := known - 1; i >= 0; i-- {
			p := out[i]
			for k := range n {
				out[i*n+k] = p + k*v.strides[axis]
			}
		}
		known *= n
	}
	return out
}

// coordinates is what gather_nd and scatter_nd have in common: the last axis of
// i holds depth coordinates, which index x's axes behind the batch.
func coordinates(c *Call, batch int) (depth int, err error) {
	x, i := c.In[0], c.In[1]
	if err := checkSet(c, 1, Ints); err != nil {
		return 0, err
	}
	if i.Rank() <= batch {
		return 0, Errorf("rank-mismatch", "i has rank %d, but needs an axis of coordinates behind %d others", i.Rank(), batch).Label(1, "%s", i)
	}
	last := i.Shape[i.Rank()-1]
	n, known := last.Const()
	if !known {
		return 0, Errorf("not-constant", "the number of coordinates, the last size of i, is %s", last).Label(1, "%s", i)
	}
	if n > int64(x.Rank()-batch) {
		return 0, Errorf("rank-mismatch", "%d coordinates are more than the axes of %s", n, x).Label(0, "%s", x).Label(1, "%s", i)
	}
	return int(n), nil
}

func inferGatherND(c *Call) ([]Type, error) {
	x, i, batch := c.In[0], c.In[1], c.Int("batch_dims")
	if batch < 0 || batch > int64(x.Rank()) {
		return nil, Errorf("out-of-range", "batch_dims is %d for a tensor of rank %d", batch, x.Rank()).Label(0, "%s", x)
	}
	b := int(batch)
	depth, err := coordinates(c, b)
	if err != nil {
		return nil, err
	}
	if !SameShape(x.Shape[:b], i.Shape[:b]) {
		return nil, Errorf("shape-mismatch", "the first %d sizes differ: %s and %s", b, ShapeString(x.Shape[:b]), ShapeString(i.Shape[:b])).
			Label(0, "%s", x).Label(1, "%s", i)
	}
	return []Type{{x.DType, slices.Concat(i.Shape[:i.Rank()-1], x.Shape[b+depth:])}}, nil
}

func evalGatherND(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	x, batch := in[0], int(c.Int("batch_dims"))
	at, block, lent, err := blocksAt(c, x, in[1], batch)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	out := results(c)
	if out[0].Len() > 0 {
		takeAxis(reshaped(c, out[0], len(at), block), reshaped(c, x, x.Len()/max(block, 1), block), 0, at)
	}
	return out, nil
}

// blocksAt turns coordinates into numbers of blocks of x: a block is what
// stands behind the axes that are indexed. The leading batch axes of x count on
// their own. The call's budget gives the memory, which lent gives back.
func blocksAt(c *Call, x, i *tensor.T, batch int) (at []int, block int, lent loan, err error) {
	depth := i.Shape[len(i.Shape)-1]
	rows := 1 // of i
	for _, n := range i.Shape[:len(i.Shape)-1] {
		rows *= n
	}
	groups, block := 1, 1 // of x: the batch, the elements of one block
	for a, n := range x.Shape {
		switch {
		case a < batch:
			groups *= n
		case a >= batch+depth:
			block *= n
		}
	}
	if depth == 0 && block == 0 {
		return nil, 0, loan{}, nil // the rows of i hold nothing, however many there are
	}
	if lent, err = borrow(c, rows+i.Len()); err != nil {
		return nil, 0, loan{}, err
	}
	at = room[int](c, rows)
	values := room[int64](c, i.Len())
	i.LoadInts(values, 0)
	for r := range at {
		at[r] = 0
		if groups > 0 {
			at[r] = r / (rows / groups)
		}
		for k := range depth {
			axis := batch + k
			v, err := indexIn(i, r*depth+k, values[r*depth+k], x.Shape[axis], axis)
			if err != nil {
				lent.giveBack()
				return nil, 0, loan{}, err
			}
			at[r] = at[r]*x.Shape[axis] + v
		}
	}
	return at, block, lent, nil
}

func inferOneHot(c *Call) ([]Type, error) {
	if err := checkSet(c, 0, Ints); err != nil {
		return nil, err
	}
	axis, err := axisOf(c.Int("axis"), c.In[0].Rank()+1)
	if err != nil {
		return nil, err
	}
	d := c.DType("dtype")
	for _, name := range []string{"on", "off"} {
		if err := checkNum(c, name, d); err != nil {
			return nil, err
		}
	}
	return []Type{{d, slices.Insert(slices.Clone(c.In[0].Shape), axis, c.Attr("n").Dims[0])}}, nil
}

func evalOneHot(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	axis, err := axisOf(c.Int("axis"), len(in[0].Shape)+1)
	if err != nil {
		return nil, err
	}
	out := results(c)
	_, n, inner := extent(out[0].Shape, axis)
	index, lent, err := indices(c, in[0], n, axis)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	on, err := numScalar(c, "on", out[0].DType)
	if err != nil {
		return nil, err
	}
	off, err := numScalar(c, "off", out[0].DType)
	if err != nil {
		return nil, err
	}
	fillWith(c, out[0], off)
	size := len(on.Data)
	for k, i := range index {
		copy(out[0].Data[((k/inner*n+i)*inner+k%inner)*size:], on.Data)
	}
	return out, nil
}
