package kernel

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/move"
)

// moves takes bodies that give elements other places and compute nothing:
//
//	reshape, transpose, reshape      =>   one copy from a block of the input to the
//	                                      result
//	concat of two slices             =>   two copies
//	pad with a constant              =>   a copy, and one for each border
//
// Every value is a list of pieces of inputs. One of a single piece may be moved on
// by a view of it, as far as a view of a view is one.
var moves = &Row{Name: "move", reach: reach{heart: aMove}, Make: makeMoves}

// A piece of a value: the elements of a block of an input, or of a constant.
type piece struct {
	in       int       // an input of the body; Absent: constant
	constant *tensor.T // one element
	to, from move.Block
}

// A value is what is known of one: its pieces, none of which overlap.
type pieces []piece

// whole is the one piece of a value that has all of it, in order.
func (p pieces) whole() (piece, bool) {
	if len(p) != 1 || p[0].to.Strides != nil {
		return piece{}, false
	}
	return p[0], true
}

// wholly is the value that is one piece; the zero block stands for all of it.
func wholly(in int, from move.Block) pieces { return pieces{{in: in, from: from}} }

// maxPieces bounds the pieces of a value: each is a copy with a cost of its own.
const maxPieces = 4096

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

func makeMoves(b *Body, o *Options) (*Prepared, string) {
	values := map[int]pieces{}
	for i, t := range b.In {
		values[i] = wholly(i, move.Dense(t.Ints()))
	}
	for i := range b.Ops {
		if why := tracePieces(&b.Ops[i], values, b); why != "" {
			return nil, why
		}
	}
	m := &moving{}
	for i, v := range b.Out {
		if i == 0 && b.InPlace != Absent {
			if !isInput(values[v], b.InPlace) {
				return nil, "the argument gives its memory away"
			}
			continue
		}
		m.add(o, b.Type(v), i, values[v])
	}
	return &Prepared{Work: m.work(), Runner: m}, ""
}

// isInput reports whether a value is an input as it lies.
func isInput(p pieces, in int) bool {
	w, ok := p.whole()
	if !ok || w.in != in || w.from.Offset != 0 {
		return false
	}
	flat := move.Dense([]int{w.from.Len()})
	joined, ok := flat.Of(w.from)
	return ok && slices.Equal(joined.Strides, flat.Strides)
}

// tracePieces finds the pieces of an operator's results.
func tracePieces(o *Op, values map[int]pieces, b *Body) string {
	if o.Call == nil {
		values[o.First] = values[o.Args[0]]
		return ""
	}
	if list, ok := o.Call.Layouts(); ok && keepsSize(o.Call) {
		for i, l := range list {
			of, ok := blockOf(values[o.Args[0]], move.Block{Offset: l.Offset, Shape: l.Shape, Strides: l.Strides})
			if !ok {
				return "a view of " + o.Call.Op.Name + " lies in pieces"
			}
			values[o.First+i] = of
		}
		return ""
	}
	f := movers[o.Call.Op.Name]
	if f == nil {
		return notMine
	}
	list, why := f(o.Call)
	if why == "" {
		values[o.First], why = placePieces(list, o, values)
	}
	return why
}

// keepsSize reports whether elements keep their size.
func keepsSize(c *ir.Call) bool { return c.In[0].DType.Size() == c.Out[0].DType.Size() }

// blockOf is a block of a value. Where that has pieces it must be all of it.
func blockOf(p pieces, block move.Block) (pieces, bool) {
	w, ok := p.whole()
	if !ok {
		flat := move.Dense([]int{block.Len()})
		same, ok := flat.Of(block)
		return p, ok && block.Offset == 0 && slices.Equal(same.Strides, flat.Strides) && block.Len() == countPieces(p)
	}
	from, ok := block.Of(w.from)
	return wholly(w.in, from), ok
}

func countPieces(p pieces) (n int) {
	for _, x := range p {
		n += x.from.Len()
	}
	return n
}

// placePieces takes pieces of arguments to those of the body's inputs.
func placePieces(list []piece, o *Op, values map[int]pieces) (pieces, string) {
	var out pieces
	for _, x := range list {
		if x.constant != nil {
			out = append(out, x)
			continue
		}
		arg, ok := values[o.Args[x.in]].whole()
		if ok {
			x.from, ok = x.from.Of(arg.from)
		}
		if !ok {
			return nil, "what " + o.Call.Op.Name + " takes lies in pieces"
		}
		x.in = arg.in
		out = append(out, x)
	}
	return out, ""
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

// A moving is the Runner of moves.
type moving struct {
	list move.List
	ends []moveEnd // of the list's copies
}

// A moveEnd says between which tensors a copy goes.
type moveEnd struct {
	out, in  int
	constant []byte // in place of an input
}

// add appends the copies of a result's pieces.
func (m *moving) add(o *Options, t ir.Type, out int, p pieces) {
	for _, x := range p {
		to := x.to
		if to.Strides == nil {
			to = move.Dense(x.from.Shape)
		}
		c := move.NewCopy(o.Level, t.DType.Size(), to, x.from)
		if c.Bytes() == 0 {
			continue
		}
		m.list.Add(c)
		e := moveEnd{out: out, in: x.in}
		if x.constant != nil {
			e.constant = x.constant.Data
		}
		m.ends = append(m.ends, e)
	}
}

// work supposes 20 bytes read or written in a nanosecond, and some nanoseconds for
// each copy.
func (m *moving) work() int64 { return int64(m.list.Bytes()/10 + 20*m.list.Len()) }

func (m *moving) Parts(want int) int { return m.list.Parts(want) }

func (m *moving) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	room := x.Bytes(m.list.Room())
	for i := range m.ends {
		e := &m.ends[i]
		src := e.constant
		if src == nil {
			src = in[e.in].Data
		}
		c, first, last := m.list.Share(i, part, parts)
		for pace := c.Pace(); first < last; first += pace {
			c.Items(out[e.out].Data, src, room, first, min(first+pace, last))
			if first+pace < last {
				if err := x.Stop(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
