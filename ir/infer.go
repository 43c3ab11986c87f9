package ir

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// What the inference functions of many operators ask. Each returns an *Error
// with the words that a user needs.

// axisOf brings an axis into 0 .. rank-1; negative ones count from the end.
func axisOf(axis int64, rank int) (int, error) {
	if axis < int64(-rank) || axis >= int64(rank) {
		return 0, Errorf("out-of-range", "axis %d is outside a tensor of rank %d", axis, rank).
			Note("an axis of rank %d is %s", rank, axisRange(rank))
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), nil
}

func axisRange(rank int) string {
	if rank == 0 {
		return "none: a scalar has no axes"
	}
	return fmt.Sprintf("%d to %d", -rank, rank-1)
}

// axesOf brings a list of axes into 0 .. rank-1, sorted; one given twice is an
// error.
func axesOf(axes []int64, rank int) ([]int, error) { return axesFor(nil, axes, rank) }

// axesFor is axesOf on the way of an evaluation.
func axesFor(c *Call, axes []int64, rank int) ([]int, error) {
	out := room[int](c, len(axes))[:0]
	for _, a := range axes {
		axis, err := axisOf(a, rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, axis) {
			return nil, Errorf("wrong-arguments", "axis %d is given twice", a)
		}
		out = append(out, axis)
	}
	slices.Sort(out)
	return out, nil
}

// axesInOrder is axesOf without sorting, where the order given has a meaning.
func axesInOrder(c *Call, axes []int64, rank int) ([]int, error) {
	if _, err := axesFor(c, axes, rank); err != nil {
		return nil, err
	}
	out := room[int](c, len(axes))
	for i, a := range axes {
		out[i], _ = axisOf(a, rank)
	}
	return out, nil
}

// firstAxes is 0 to n-1.
func firstAxes[I int | int64](c *Call, n int) []I {
	axes := room[I](c, n)
	for i := range axes {
		axes[i] = I(i)
	}
	return axes
}

// checkOver checks that argument i has a dtype that the operator computes with.
func checkOver(c *Call, i int) error { return checkSet(c, i, c.Op.Over) }

// checkSet checks that argument i has a dtype of the set.
func checkSet(c *Call, i int, set DTypes) error {
	if t := c.In[i]; !t.Absent() && !set.Has(t.DType) {
		name, _, _, _ := c.Op.argAt(i)
		return Errorf("dtype-mismatch", "%s has dtype %s, but must have %s", name, t.DType, set).Label(i, "%s", t)
	}
	return nil
}

// sameDType checks that the present ones of the given arguments (none: all)
// have one dtype, of the operator's set.
func sameDType(c *Call, args ...int) error {
	if len(args) == 0 {
		for i := range c.In {
			args = append(args, i)
		}
	}
	first := -1
	for _, i := range args {
		if i >= len(c.In) || c.In[i].Absent() {
			continue
		}
		if first < 0 {
			first = i
		}
		if a, b := c.In[first], c.In[i]; a.DType != b.DType {
			return Errorf("dtype-mismatch", "operands have dtypes %s and %s", a.DType, b.DType).
				Label(first, "%s", a).Label(i, "%s", b).
				Note("there is no implicit conversion between dtypes")
		}
	}
	if first < 0 {
		return nil
	}
	return checkOver(c, first)
}

// checkRank checks that argument i has the rank.
func checkRank(c *Call, i, rank int) error {
	if t := c.In[i]; t.Rank() != rank {
		name, _, _, _ := c.Op.argAt(i)
		return Errorf("rank-mismatch", "%s has rank %d, but must have rank %d", name, t.Rank(), rank).Label(i, "%s", t)
	}
	return nil
}

// has reports whether argument i was given.
func (c *Call) has(i int) bool { return i < len(c.In) && !c.In[i].Absent() }

// broadcastAll joins the shapes of the arguments, or says which two disagree.
func broadcastAll(c *Call) ([]Dim, error) {
	var shape []Dim
	from := -1 // the argument that gave the shape so far
	for i, t := range c.In {
		if t.Absent() {
			continue
		}
		joined, ok := Broadcast(shape, t.Shape)
		if !ok {
			return nil, Errorf("shape-mismatch", "shapes %s and %s do not broadcast", ShapeString(shape), ShapeString(t.Shape)).
				Label(from, "%s", c.In[from]).Label(i, "%s", t).
				Note("from the last dimension on, two sizes are equal or one of them is the literal 1")
		}
		if !SameShape(joined, shape) || from < 0 {
			from = i
		}
		shape = joined
	}
	return shape, nil
}

// resultOf makes t's elements the only result of a bound call.
func resultOf(c *Call, t *tensor.T) []*tensor.T {
	out := into(c)
	copy(out[0].Data, t.Data)
	return out
}

// results gives the tensors of a bound call's results, all zero, and once only:
// a second time they are the same where Call.Into says where they lie.
func results(c *Call) []*tensor.T {
	for _, t := range c.Into {
		clear(t.Data)
	}
	return into(c)
}

// into is results for evaluations that write every element: what Call.Into
// holds stays there until then, since it may be an argument (see Call.InPlace).
func into(c *Call) []*tensor.T {
	if c.Into != nil {
		return c.Into
	}
	out := make([]*tensor.T, len(c.Out))
	for i, t := range c.Out {
		out[i] = tensor.New(t.DType, t.Ints()...)
	}
	return out
}
