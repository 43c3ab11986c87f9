package kernel

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/move"
)

// A mover says of which pieces of its arguments a call's first result consists.
type mover func(c *ir.Call) (list []piece, why string)

// movers are operators that are not a view of their first argument; a piece's
// in is the argument.
var movers map[string]mover

func init() {
	movers = map[string]mover{
		"copy":   copyPieces,
		"flip":   flipPieces,
		"concat": concatPieces,
		"stack":  stackPieces,
		"pad":    padPieces,
		"roll":   rollPieces,
		"zeros":  func(c *ir.Call) ([]piece, string) { return allOf(c, tensor.New(c.Out[0].DType)), "" },
		"ones": func(c *ir.Call) ([]piece, string) {
			v := tensor.New(c.Out[0].DType)
			v.SetInt(0, 1)
			return allOf(c, v), ""
		},
		"full": func(c *ir.Call) ([]piece, string) {
			v, why := scalarAttr(c, "value", c.Out[0].DType)
			return allOf(c, v), why
		},
	}
}

func copyPieces(c *ir.Call) ([]piece, string) {
	return wholly(0, move.Dense(c.In[0].Ints())), ""
}

func flipPieces(c *ir.Call) ([]piece, string) {
	from := move.Dense(c.In[0].Ints())
	axes := c.Ints("axis")
	if c.Attr("axis").IsNone() {
		axes = make([]int64, len(from.Shape))
		for i := range axes {
			axes[i] = int64(i)
		}
	}
	for _, given := range axes {
		a := axisIn(given, len(from.Shape))
		from.Offset += max(0, from.Shape[a]-1) * from.Strides[a]
		from.Strides[a] = -from.Strides[a]
	}
	return wholly(0, from), ""
}

// axisIn counts a negative axis from the end; the call is legal.
func axisIn(axis int64, rank int) int {
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis)
}

func concatPieces(c *ir.Call) ([]piece, string) {
	return joinPieces(c, axisIn(c.Int("axis"), c.Out[0].Rank()), func(shape []int, _ int) []int { return shape })
}

func stackPieces(c *ir.Call) ([]piece, string) {
	return joinPieces(c, axisIn(c.Int("axis"), c.Out[0].Rank()), func(shape []int, axis int) []int { return slices.Insert(shape, axis, 1) })
}

// joinPieces lays the arguments behind each other along an axis of the result.
func joinPieces(c *ir.Call, axis int, as func(shape []int, axis int) []int) (list []piece, why string) {
	out, at := move.Dense(c.Out[0].Ints()), 0
	for i, t := range c.In {
		from := move.Dense(as(t.Ints(), axis))
		n := from.Shape[axis]
		list = append(list, piece{in: i, to: out.Part(axis, at, n), from: from})
		at += n
	}
	return list, ""
}

// A stretch is neighbours along an axis of a result that come from places along the
// same axis of the argument, in steps.
type stretch struct{ to, n, from, step int }

// combine makes a piece of each combination of runs, one of each axis.
func combine(c *ir.Call, in, out []int, axes [][]stretch) (list []piece, why string) {
	count := 1
	for _, stretches := range axes {
		if count *= len(stretches); count > maxPieces {
			return nil, fmt.Sprintf("more than %d pieces", maxPieces)
		}
	}
	list = []piece{{to: move.Dense(out), from: move.Dense(in)}}
	for a, stretches := range axes {
		var next []piece
		for _, p := range list {
			for _, r := range stretches {
				x := piece{to: p.to.Part(a, r.to, r.n), from: p.from.Part(a, r.from, r.n)}
				x.from.Strides = slices.Clone(x.from.Strides)
				x.from.Strides[a] *= r.step
				next = append(next, x)
			}
		}
		list = next
	}
	return list, ""
}

func rollPieces(c *ir.Call) ([]piece, string) {
	shifts, given, shape := c.Dims("shift"), c.Ints("axis"), c.In[0].Ints()
	if c.Attr("axis").IsNone() {
		n, _ := c.In[0].Elements().Const()
		given, shape = []int64{0}, []int{int(n)}
	}
	total := make([]int, len(shape))
	for i, g := range given {
		a := axisIn(g, len(shape))
		n, _ := shifts[min(i, len(shifts)-1)].Const()
		if shape[a] > 0 {
			total[a] = int((int64(total[a]) + n%int64(shape[a]) + int64(shape[a])) % int64(shape[a]))
		}
	}
	axes := make([][]stretch, len(shape))
	for a, n := range shape {
		axes[a] = []stretch{{total[a], n - total[a], 0, 1}, {0, total[a], n - total[a], 1}}
		if total[a] == 0 {
			axes[a] = axes[a][:1]
		}
	}
	return combine(c, shape, shape, axes)
}

// padPieces is for all modes. Which position of an axis stands where, the
// operator's own evaluation says.
func padPieces(c *ir.Call) ([]piece, string) {
	in, out := c.In[0].Ints(), c.Out[0].Ints()
	before := padsBefore(c, len(in))
	if c.Str("mode") == "constant" {
		return constantPieces(c, in, out, before)
	}
	axes := make([][]stretch, len(in))
	for a := range in {
		positions, why := padPositions(c, in[a], before[a], out[a]-in[a]-before[a])
		if why != "" {
			return nil, why
		}
		axes[a] = stretchesOf(positions)
	}
	return combine(c, in, out, axes)
}

// padsBefore is how many elements come before each axis.
func padsBefore(c *ir.Call, rank int) []int {
	pairs, list := c.Dims("pairs"), make([]int, rank)
	for a := range list {
		i := 0
		if len(pairs) == 2*rank {
			i = 2 * a
		}
		n, _ := pairs[i].Const()
		list[a] = int(n)
	}
	return list
}

// padPositions pads the positions 0 to n-1 of an axis as the call does.
func padPositions(c *ir.Call, n, before, behind int) ([]int64, string) {
	one := &ir.Call{Op: c.Op, Attrs: slices.Clone(c.Attrs), In: []ir.Type{ir.T(tensor.I64, ir.N(int64(n)))}}
	for i, a := range c.Op.Attrs {
		switch a.Name {
		case "pairs":
			one.Attrs[i] = ir.DimsLit(ir.N(int64(before)), ir.N(int64(behind)))
		case "value":
			one.Attrs[i] = a.Default
		}
	}
	if err := ir.InferCall(one); err != nil {
		return nil, err.Error()
	}
	x := tensor.New(tensor.I64, n)
	for i := range n {
		tensor.Of[int64](x)[i] = int64(i)
	}
	y, err := ir.Evaluate(one, x)
	if err != nil {
		return nil, err.Error()
	}
	return tensor.Of[int64](y[0]), ""
}

// stretchesOf cuts a list of positions into runs of equal steps.
func stretchesOf(positions []int64) (list []stretch) {
	for i := 0; i < len(positions); {
		r := stretch{to: i, n: 1, from: int(positions[i]), step: 1}
		if i+1 < len(positions) {
			r.step = int(positions[i+1] - positions[i])
		}
		for i++; i < len(positions) && positions[i] == positions[i-1]+int64(r.step); i++ {
			r.n++
		}
		list = append(list, r)
	}
	return list
}

// constantPieces are what x and the result have in common, and the borders: axis by
// axis what lies before and behind, as far as the axes before are not border.
func constantPieces(c *ir.Call, in, out, before []int) (list []piece, why string) {
	v, why := scalarAttr(c, "value", c.In[0].DType)
	if why != "" {
		return nil, why
	}
	border := func(to move.Block, axis, first, n int) {
		if n > 0 {
			to = to.Part(axis, first, n)
			list = append(list, piece{in: Absent, constant: v, to: to, from: move.Block{Shape: to.Shape, Strides: make([]int, len(to.Shape))}})
		}
	}
	to, from := move.Dense(out), move.Dense(in)
	for a, b := range before {
		low, high := max(0, min(b, out[a])), max(0, min(out[a], in[a]+b))
		high = max(low, high)
		border(to, a, 0, low)
		border(to, a, high, out[a]-high)
		to, from = to.Part(a, low, high-low), from.Part(a, max(0, low-b), high-low)
	}
	return append(list, piece{to: to, from: from}), ""
}

// allOf is one constant all over a result.
func allOf(c *ir.Call, v *tensor.T) []piece {
	to := move.Dense(c.Out[0].Ints())
	return []piece{{in: Absent, constant: v, to: to, from: move.Block{Shape: to.Shape, Strides: make([]int, len(to.Shape))}}}
}

// scalarAttr is a number of the call's attributes as one element of a dtype.
func scalarAttr(c *ir.Call, name string, d tensor.DType) (*tensor.T, string) {
	t := tensor.New(d)
	switch l := c.Attr(name); l.Kind {
	case ir.KFloat:
		t.SetFloat(0, l.Float)
	case ir.KDim:
		n, ok := l.Dims[0].Const()
		if !ok {
			return nil, name + " is not a number"
		}
		t.SetInt(0, n)
	default:
		return nil, name + " is not a number"
	}
	return t, ""
}
