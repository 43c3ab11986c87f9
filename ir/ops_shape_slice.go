package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Operators that take a part of each axis, in steps, backwards or rotated.

// A bound of a slice at or beyond ±farAway means "as far as there is": no
// tensor is that large (see MaxBytes). x[::-1] ends at -farAway.
const farAway = 1 << 41

var (
	Slice = row(Op{
		Name: "slice", Group: "shape", Class: Move, Unit: DMA,
		Doc:  "from starts to before ends in steps, along some axes; bounds are clamped as in NumPy",
		Args: []string{"x"},
		Attrs: []Attr{
			{Name: "starts", Kind: KDims, Required: true, Doc: "the first position along each axis; a negative constant counts from the end"},
			{Name: "ends", Kind: KDims, Required: true, Doc: "the first position that is left out; a constant of 2**41 or more, or of -2**41 or less, is as far as there is"},
			{Name: "axes", Kind: KInts, Axis: OfArgument, Doc: "the axes; absent: the first ones"},
			{Name: "steps", Kind: KInts, Doc: "the steps, not 0; absent: 1"},
		},
		Infer: inferSlice, Cost: costPick, Eval: evalSlice, strides: stridesOfSlice, Sample: sampleSlice,
	})
	Flip = row(Op{
		Name: "flip", Group: "shape", Class: Move, Unit: DMA,
		Doc:   "in reverse order along the axes",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "axis", Kind: KInts, Axis: OfArgument, Doc: "the axes; absent: all"}},
		Infer: inferFlip, Cost: costMove, Eval: evalFlip, Sample: sampleFlip,
	})
	Roll = row(Op{
		Name: "roll", Group: "shape", Class: Move, Unit: DMA,
		Doc:  "moved along the axes; what leaves at one end comes in at the other",
		Args: []string{"x"},
		Attrs: []Attr{
			{Name: "shift", Kind: KDims, Required: true, Doc: "how far, one for each axis or one for all"},
			{Name: "axis", Kind: KInts, Axis: OfArgument, Doc: "the axes; absent: x is taken as a vector"},
		},
		Infer: inferRoll, Cost: costMove, Eval: evalRoll, Sample: sampleRoll,
	})
)

// A cut is what a slice takes of one axis of size d.
type cut struct {
	axis       int
	start, end Dim // as they are written
	step       int64
}

// cutsOf reads and checks the attributes of slice.
func cutsOf(c *Call) ([]cut, error) {
	x, starts, ends := c.In[0], c.Dims("starts"), c.Dims("ends")
	n := len(starts)
	axes, steps := c.Ints("axes"), c.Ints("steps")
	if c.Attr("axes").IsNone() {
		axes = room[int64](c, n)
		for i := range axes {
			axes[i] = int64(i)
		}
	}
	if c.Attr("steps").IsNone() {
		steps = room[int64](c, n)
		for i := range steps {
			steps[i] = 1
		}
	}
	if len(ends) != n || len(axes) != n || len(steps) != n {
		return nil, Errorf("wrong-arguments", "got %d starts, %d ends, %d axes and %d steps", n, len(ends), len(axes), len(steps)).
			Note("each axis has one start, one end and one step")
	}
	if _, err := axesFor(c, axes, x.Rank()); err != nil {
		return nil, err
	}
	cuts := room[cut](c, n)
	for i := range cuts {
		if steps[i] == 0 {
			return nil, Errorf("out-of-range", "the step along axis %d is 0", axes[i])
		}
		axis, _ := axisOf(axes[i], x.Rank())
		cuts[i] = cut{axis, starts[i], ends[i], max(-farAway, min(farAway, steps[i]))}
	}
	return cuts, nil
}

// count is how many positions the cut takes of an axis of size d.
func (k cut) count(d Dim) (Dim, error) {
	start, err := positionOf(k.start, d)
	if err != nil {
		return Dim{}, err
	}
	end, err := positionOf(k.end, d)
	if err != nil {
		return Dim{}, err
	}
	if k.step < 0 {
		length := MinOf(start, d.Sub(N(1))).Sub(MaxOf(end, N(-1)))
		return CeilDiv(atLeast0(length, d), N(-k.step)), nil
	}
	end = MinOf(end, d)
	length := end.Sub(start)
	if !start.NonNeg() {
		length = MinOf(length, end) // a start before the first position is that
	}
	return CeilDiv(atLeast0(length, d), N(k.step)), nil
}

// atLeast0 is max(length, 0), and d itself where it is all of an axis: that
// d = S-2 is not negative cannot be seen in its form.
func atLeast0(length, d Dim) Dim {
	if length.Equal(d) {
		return d
	}
	return MaxOf(length, N(0))
}

// positionOf turns a bound into a position of an axis of size d, perhaps outside. A
// symbolic bound means the same for every binding only if it is never negative,
// if it is d or d-1, which are negative only where that makes no difference, or
// if it is -d-1, which is always before the first position.
func positionOf(bound, d Dim) (Dim, error) {
	n, known := bound.Const()
	switch {
	case known && n >= farAway:
		return d, nil
	case known && n <= -farAway:
		return N(-1), nil
	case known && n < 0:
		return d.Add(bound), nil
	case known, bound.NonNeg(), bound.Equal(d), bound.Equal(d.Sub(N(1))):
		return bound, nil
	case bound.Add(d).Equal(N(-1)):
		return N(-1), nil
	}
	return Dim{}, Errorf("out-of-range", "the bound %s may be negative, and would then count from the end", bound).
		Note("a symbolic bound must not be negative for any value of its dimensions").
		Help("write max(%s, 0)", bound)
}

func inferSlice(c *Call) ([]Type, error) {
	cuts, err := cutsOf(c)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(c.In[0].Shape)
	for _, k := range cuts {
		n, err := k.count(shape[k.axis])
		if err != nil {
			return nil, err.(*Error).Label(0, "%s", c.In[0])
		}
		shape[k.axis] = n
	}
	return []Type{{c.In[0].DType, shape}}, nil
}

func evalSlice(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	from, err := sliceView(c)
	if err != nil {
		return nil, err
	}
	copyView(out[0], denseOf(c, out[0]), in[0], from, out[0].Shape)
	return out, nil
}

// sliceView is where the elements of a slice lie in its argument.
func sliceView(c *Call) (view, error) {
	from := view{0, stridesOf(c, intsOf(c, c.In[0]))}
	cuts, err := cutsOf(c)
	if err != nil {
		return from, err
	}
	for _, k := range cuts {
		d := c.In[0].Shape[k.axis]
		start, err := positionOf(k.start, d)
		if err != nil {
			return from, err
		}
		at, _ := start.Const()
		if n, _ := d.Const(); k.step < 0 {
			at = min(at, n-1)
		}
		from.off += int(max(at, 0)) * from.strides[k.axis]
		from.strides[k.axis] *= int(k.step)
	}
	return from, nil
}

func inferFlip(c *Call) ([]Type, error) {
	_, err := axesOf(c.Ints("axis"), c.In[0].Rank())
	return []Type{c.In[0]}, err
}

func evalFlip(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out, from := results(c), denseOf(c, in[0])
	given := c.Ints("axis")
	if c.Attr("axis").IsNone() {
		given = firstAxes[int64](c, len(in[0].Shape))
	}
	axes, err := axesFor(c, given, len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	for _, a := range axes {
		from.off += (in[0].Shape[a] - 1) * from.strides[a]
		from.strides[a] = -from.strides[a]
	}
	copyView(out[0], denseOf(c, out[0]), in[0], from, out[0].Shape)
	return out, nil
}

func inferRoll(c *Call) ([]Type, error) {
	shifts, axes := c.Dims("shift"), c.Ints("axis")
	for _, a := range axes {
		if _, err := axisOf(a, c.In[0].Rank()); err != nil {
			return nil, err
		}
	}
	want := len(axes)
	if c.Attr("axis").IsNone() {
		want = 1
	}
	if len(shifts) != want && len(shifts) != 1 {
		return nil, Errorf("wrong-arguments", "got %d shifts for %d axes", len(shifts), want).Note("one shift for each axis, or one for all")
	}
	return []Type{c.In[0]}, nil
}

// evalRoll rolls axis by axis; an axis that is given twice moves by the sum.
func evalRoll(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	shifts, x := c.Dims("shift"), in[0]
	lent, err := borrow(c, 2*((len(x.Data)+7)/8)) // two steps: from, to
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	if c.Attr("axis").IsNone() {
		n, _ := shifts[0].Const()
		return resultOf(c, rollAxis(c, reshaped(c, x, x.Len()), 0, n)), nil
	}
	for i, a := range c.Ints("axis") {
		axis, err := axisOf(a, len(x.Shape))
		if err != nil {
			return nil, err
		}
		n, _ := shifts[min(i, len(shifts)-1)].Const()
		x = rollAxis(c, x, axis, n)
	}
	return resultOf(c, x), nil
}

// rollAxis copies the slices before the split behind those from it on.
func rollAxis(c *Call, x *tensor.T, axis int, shift int64) *tensor.T {
	out := tensorRoom(c, x.DType, x.Shape)
	n := x.Shape[axis]
	if n == 0 {
		return out
	}
	k := int((shift%int64(n) + int64(n)) % int64(n))
	from, shape := denseOf(c, x), roomCopy(c, x.Shape)
	late := denseOf(c, out)
	late.off = k * late.strides[axis]
	shape[axis] = n - k
	copyView(out, late, x, from, shape)
	from.off = (n - k) * from.strides[axis]
	shape[axis] = k
	copyView(out, denseOf(c, out), x, from, shape)
	return out
}
