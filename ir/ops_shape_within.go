package ir

import "github.com/npulang/npu/ir/tensor"

// Operators whose results may be parts of their argument, as they lie there:
// whoever plans memory need not copy them.

// A stride says where the elements of a block lie in the memory of an argument.
type stride struct {
	view
	shape []int
}

// Within tells where the results of a call without symbols begin in the memory of
// its first argument, in bytes, if each result is a part of it without gaps and
// in the same order. ok is false if some result is not, or if the operator's
// results never are: these have to be computed.
func (c *Call) Within() (at []int64, ok bool) {
	if len(c.In) == 0 || c.In[0].Absent() {
		return nil, false
	}
	if c.Op.Flags&View != 0 {
		return []int64{0}, true
	}
	if c.Op.strides == nil {
		return nil, false
	}
	parts, err := c.Op.strides(c)
	if err != nil || len(parts) != len(c.Out) {
		return nil, false
	}
	size := int64(c.In[0].DType.Size())
	at = make([]int64, len(parts))
	for i, p := range parts {
		if !p.hasGaps() {
			at[i] = int64(p.off) * size
			continue
		}
		return nil, false
	}
	return at, true
}

// A Layout says where the elements of a result lie among those of an argument: the
// first one, and for each axis of a block its size and how many elements lie between
// neighbours. The block has the result's elements in row-major order, but may have
// more axes than it.
type Layout struct {
	Offset         int
	Shape, Strides []int
}

// Layouts tells where the elements of each result of a call without symbols lie in
// its first argument, gaps or not. ok is false for operators whose results have
// other elements, or are no blocks.
func (c *Call) Layouts() (list []Layout, ok bool) {
	if len(c.In) == 0 || c.In[0].Absent() {
		return nil, false
	}
	strides := c.Op.strides
	if c.Op.Flags&View != 0 {
		strides = stridesOfAll
	}
	if strides == nil {
		return nil, false
	}
	parts, err := strides(c)
	if err != nil || len(parts) != len(c.Out) {
		return nil, false
	}
	for i, p := range parts {
		// What a call promises, its evaluation checks when it runs.
		if n, ok := c.Out[i].Elements().Const(); !ok || int64(elementsOf(p.shape)) != n {
			return nil, false
		}
		list = append(list, Layout{p.off, p.shape, p.strides})
	}
	return list, true
}

func elementsOf(shape []int) int {
	n, _ := tensor.Elements(shape)
	return n
}

// MayView reports whether there are calls of the operator for which Within holds.
func (op *Op) MayView() bool { return op.Flags&View != 0 || op.strides != nil }

// hasGaps reports whether the block's elements do not lie behind each other. Axes
// of size 1 have no neighbours, and a block without elements lies anywhere: at the
// start.
func (s *stride) hasGaps() bool {
	next, gaps := 1, false
	for i := len(s.shape) - 1; i >= 0; i-- {
		if s.shape[i] == 0 {
			s.off = 0
			return false
		}
		if s.shape[i] != 1 {
			gaps = gaps || s.strides[i] != next
			next *= s.shape[i]
		}
	}
	return gaps
}

// stridesOfAll is the argument under the result's shape.
func stridesOfAll(c *Call) ([]stride, error) {
	shape := c.Out[0].Ints()
	return []stride{{view{0, tensor.Strides(shape)}, shape}}, nil
}

func stridesOfTranspose(c *Call) ([]stride, error) {
	perm, err := permOf(c)
	if err != nil {
		return nil, err
	}
	return []stride{{view{0, permuted(nil, tensor.Strides(c.In[0].Ints()), perm)}, c.Out[0].Ints()}}, nil
}

func stridesOfExpand(c *Call) ([]stride, error) {
	shape := c.Out[0].Ints()
	return []stride{{view{0, broadcastStrides(nil, c.In[0].Ints(), shape)}, shape}}, nil
}

func stridesOfSlice(c *Call) ([]stride, error) {
	from, err := sliceView(c)
	return []stride{{from, c.Out[0].Ints()}}, err
}

func stridesOfSplit(c *Call) ([]stride, error) {
	axis, err := axisOf(c.Int("axis"), c.In[0].Rank())
	if err != nil {
		return nil, err
	}
	strides, at, parts := tensor.Strides(c.In[0].Ints()), 0, make([]stride, len(c.Out))
	for i, t := range c.Out {
		shape := t.Ints()
		parts[i] = stride{view{at, strides}, shape}
		at += shape[axis] * strides[axis]
	}
	return parts, nil
}

func stridesOfTile(c *Call) ([]stride, error) {
	block, steps := tileBlock(nil, c)
	return []stride{{view{0, steps}, block}}, nil
}

func stridesOfRepeat(c *Call) ([]stride, error) {
	block, steps := repeatBlock(nil, c)
	return []stride{{view{0, steps}, block}}, nil
}
