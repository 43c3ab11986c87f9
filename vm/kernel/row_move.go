package kernel

import (
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

// A moving is the Runner of moves.
type moving struct {
	list   move.List
	ends   []moveEnd // of the list's copies
	weaves []weaving
}

// A weaving is a result whose elements come from several inputs by turns.
type weaving struct {
	*move.Weave
	out int
	in  []int
}

// A moveEnd says between which tensors a copy goes.
type moveEnd struct {
	out, in  int
	constant []byte // in place of an input
}

// add appends the copies of a result's pieces.
func (m *moving) add(o *Options, t ir.Type, out int, p pieces) {
	if w := weavingOf(o, t, out, p); w != nil {
		m.weaves = append(m.weaves, *w)
		return
	}
	for _, x := range p {
		c := move.NewCopy(o.Level, t.DType.Size(), x.place(), x.from)
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

// place is where a piece belongs: all over the value if nothing is said.
func (x *piece) place() move.Block {
	if x.to.Strides == nil {
		return move.Dense(x.from.Shape)
	}
	return x.to
}

// weavingOf is that of a result's pieces; nil: they are no elements by turns.
func weavingOf(o *Options, t ir.Type, out int, p pieces) *weaving {
	w := &weaving{out: out}
	var to, from []move.Block
	for i := range p {
		if p[i].constant != nil {
			return nil
		}
		to, from, w.in = append(to, p[i].place()), append(from, p[i].from), append(w.in, p[i].in)
	}
	if w.Weave = move.NewWeave(o.Level, t.DType.Size(), to, from); w.Weave == nil {
		return nil
	}
	return w
}

// work supposes 20 bytes read or written in a nanosecond, and some nanoseconds for
// each copy.
func (m *moving) work() int64 {
	bytes := m.list.Bytes()
	for _, w := range m.weaves {
		bytes += w.Bytes()
	}
	return int64(bytes/10 + 20*(m.list.Len()+len(m.weaves)))
}

func (m *moving) Parts(want int) int {
	if len(m.weaves) > 0 {
		return max(1, want)
	}
	return m.list.Parts(want)
}

func (m *moving) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	room := x.Bytes(m.list.Room())
	turns := m.list.Turns(parts)
	for turn := range turns {
		for i := range m.ends {
			c, first, last := m.list.Share(i, part, parts, turn, turns)
			if err := m.ends[i].copy(x, c, room, first, last, out, in); err != nil {
				return err
			}
		}
	}
	for i := range m.weaves {
		if err := m.weaves[i].run(x, part, parts, out, in); err != nil {
			return err
		}
	}
	return nil
}

// run does a part of a weaving: some whole lines of groups.
func (w *weaving) run(x *Exec, part, parts int, out, in []*tensor.T) error {
	var few [4][]byte // as many as a group has at most
	src, room := few[:len(w.in)], x.Bytes(w.Room())
	for i, k := range w.in {
		src[i] = in[k].Data
	}
	first, n := share(w.Groups(), part, parts, 64)
	for end, pace := first+n, w.Pace(); first < end; first += pace {
		w.Run(out[w.out].Data, src, room, first, min(first+pace, end))
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// copy does the items of a copy from first to before last.
func (e *moveEnd) copy(x *Exec, c *move.Copy, room []byte, first, last int, out, in []*tensor.T) error {
	src := e.constant
	if src == nil {
		src = in[e.in].Data
	}
	for pace := c.Pace(); first < last; first += pace {
		c.Items(out[e.out].Data, src, room, first, min(first+pace, last))
		if first+pace < last {
			if err := x.Stop(); err != nil {
				return err
			}
		}
	}
	return nil
}
