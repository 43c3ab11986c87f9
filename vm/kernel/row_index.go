package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/move"
)

// indexes takes operators that read or write elements by integer tensors. Indices
// are read some hundred at a time, checked, and used while they are in the cache.
// An index that is outside is an error of the reference, which is asked for it.
var indexes = &Row{Name: "index", reach: reach{heart: anIndex, alone: true}, Make: func(b *Body, o *Options) (*Prepared, string) {
	c, why := onlyCall(b)
	if why != "" {
		return nil, why
	}
	f := indexers[c.Op.Name]
	if f == nil {
		return nil, notMine
	}
	r, why := f(c, placer{o.Level})
	if why != "" {
		return nil, why
	}
	cost := c.Cost()
	return &Prepared{
		Work:   min(cost.In+cost.Out, MaxWork)/10 + 50,
		Runner: &indexing{indexer: r, reference: evaluation{call: c, args: spreadOf(&b.Ops[0], len(b.In))}},
	}, ""
}}

// onlyCall is oneCall in the order of the body's inputs, none of which gives its memory
// away.
func onlyCall(b *Body) (*ir.Call, string) {
	c := oneCall(b)
	switch {
	case c == nil:
		return nil, notMine
	case b.InPlace != Absent:
		return nil, "the argument gives its memory away"
	case spreadOf(&b.Ops[0], len(b.In)) != nil:
		return nil, "arguments are absent or in another order"
	}
	return c, ""
}

// indexers are the operators with indices.
var indexers map[string]func(*ir.Call, placer) (indexer, string)

func init() {
	indexers = map[string]func(*ir.Call, placer) (indexer, string){
		"gather":     newGather,
		"embedding":  newGather,
		"take_along": newTakeAlong,
		"gather_nd":  newGatherND,
		"one_hot":    newOneHot,
		"scatter":    newScatter,
		"scatter_nd": newScatterND,
	}
}

// An indexer computes items, of which parts are ranges.
type indexer interface {
	// items is how many there are.
	items() int
	// run computes the items from first to before end; it reports whether all their
	// indices are inside. More than once it asks x whether to stop, and its error is
	// what that says.
	run(x *Exec, first, end int, out, in []*tensor.T) (ok bool, err error)
}

// An indexing is the Runner of an indexer.
type indexing struct {
	indexer
	reference evaluation
}

func (i *indexing) Parts(want int) int { return max(1, min(want, i.items())) }

func (i *indexing) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	n := int64(i.items())
	ok, err := i.run(x, int(n*int64(part)/int64(parts)), int(n*int64(part+1)/int64(parts)), out, in)
	if ok || err != nil {
		return err
	}
	if parts > 1 {
		return errOutside // the whole is computed again, for its error
	}
	return i.reference.Run(x, 0, 1, out, in)
}

var errOutside = ir.Errorf("index-out-of-range", "an index is outside")

// indexRun is how many indices are read at a time: 4 KB of them.
const indexRun = 512

// indexRoom is memory for that many.
func indexRoom(x *Exec) []int64 {
	b := x.Bytes(8 * indexRun)
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b))), indexRun)
}

// A placer reads indices by the functions of a level.
type placer struct{ level isa.Level }

// load reads the elements of t from at on as indices of an axis of a size: negative ones
// count from its end. ok is false if one is outside.
func (p placer) load(to []int64, t *tensor.T, at, size int) (ok bool) {
	n := int64(size)
	switch t.DType { // the usual ones are placed as they are read
	case tensor.I64:
		return move.Place(p.level, to, tensor.Of[int64](t)[at:], n, n)
	case tensor.I32:
		return move.Place(p.level, to, tensor.Of[int32](t)[at:], n, n)
	}
	t.LoadInts(to, at)
	return move.Place(p.level, to, to, n, behindOf(t.DType, size))
}

// behindOf is what is added to a negative index of a dtype. A u64 of 2**63 or more reads as
// negative, and is outside.
func behindOf(d tensor.DType, size int) int64 {
	if d.Kind() == tensor.Unsigned {
		return 0
	}
	return int64(size)
}

// extents splits a shape at an axis: what is before it, its size, what is behind
// it.
func extents(shape []int, axis int) (outer, n, inner int) {
	outer, n, inner = 1, shape[axis], 1
	for i, d := range shape {
		switch {
		case i < axis:
			outer *= d
		case i > axis:
			inner *= d
		}
	}
	return outer, n, inner
}

// A gather takes the slices of x along an axis that i lists. Its items are those of
// the longer of two lists: the indices, and what is before the axis.
type gather struct {
	placer
	outer, n, count, block int // count indices; bytes of a slice
	byOuter                bool
}

func newGather(c *ir.Call, p placer) (indexer, string) {
	axis := 0
	if c.Op.Name == "gather" {
		axis = axisIn(c.Int("axis"), c.In[0].Rank())
	}
	outer, n, inner := extents(c.In[0].Ints(), axis)
	count, _ := c.In[1].Elements().Const()
	return &gather{p, outer, n, int(count), inner * c.In[0].DType.Size(), outer > int(count)}, ""
}

func (g *gather) items() int { return max(g.outer, g.count) }

func (g *gather) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	o, oEnd, k, kEnd := 0, g.outer, first, end
	if g.byOuter {
		o, oEnd, k, kEnd = first, end, 0, g.count
	}
	room := indexRoom(x)
	for ; k < kEnd; k += indexRun {
		list := room[:min(indexRun, kEnd-k)]
		if !g.load(list, in[1], k, g.n) {
			return false, nil
		}
		for i := o; i < oEnd; i++ {
			move.Take(out[0].Data[(i*g.count+k)*g.block:], in[0].Data[i*g.n*g.block:(i+1)*g.n*g.block], g.block, list)
		}
		if err := x.Stop(); err != nil {
			return true, err
		}
	}
	return true, nil
}

// A takeAlong goes along rows of the result, its last axis: outer are the axes
// before, with the elements from one to the next in x and in i.
type takeAlong struct {
	placer
	shape, xSteps, iSteps []int
	stride, n, size       int // of x along the axis; bytes of an element
	rows, row             int
	xRow, iRow            int // steps along a row; of x without the axis itself
}

func newTakeAlong(c *ir.Call, p placer) (indexer, string) {
	x, i, out := c.In[0].Ints(), c.In[1].Ints(), c.Out[0].Ints()
	axis, last := axisIn(c.Int("axis"), len(x)), len(x)-1
	t := &takeAlong{placer: p, n: x[axis], size: c.In[0].DType.Size(), rows: 1, row: out[last]}
	t.shape = out[:last]
	for _, n := range t.shape {
		t.rows *= n
	}
	xs, is := tensor.Strides(x), tensor.Strides(i)
	t.stride = xs[axis]
	for a := range x {
		if x[a] == 1 || a == axis {
			xs[a] = 0
		}
		if i[a] == 1 && a != axis {
			is[a] = 0
		}
	}
	t.xSteps, t.iSteps, t.xRow, t.iRow = xs[:last], is[:last], xs[last], is[last]
	if t.rows*t.row == 0 {
		return nil, "the result is empty" // and its indices may be wrong all the same
	}
	return t, ""
}

func (t *takeAlong) items() int { return t.rows }

func (t *takeAlong) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	room, steps := indexRoom(x), 0
	for row := first; row < end; row++ {
		xAt, iAt := 0, 0
		for a, rest := len(t.shape)-1, row; a >= 0; a-- {
			k := rest % t.shape[a]
			rest /= t.shape[a]
			xAt, iAt = xAt+k*t.xSteps[a], iAt+k*t.iSteps[a]
		}
		for k := 0; k < t.row; k += indexRun {
			list := room[:min(indexRun, t.row-k)]
			if !t.places(list, in[1], iAt+k*t.iRow, k*t.xRow) {
				return false, nil
			}
			move.Take(out[0].Data[(row*t.row+k)*t.size:], in[0].Data[xAt*t.size:], t.size, list)
		}
		if steps += t.row; steps > 1<<16 {
			steps = 0
			if err := x.Stop(); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

// places are those of elements of x that belong into a piece of a row, counted from
// the row's first; at is where their indices begin.
func (t *takeAlong) places(list []int64, i *tensor.T, at, first int) bool {
	if t.iRow == 0 {
		if !t.load(list[:1], i, at, t.n) {
			return false
		}
		for k := range list {
			list[k] = list[0]
		}
	} else if !t.load(list, i, at, t.n) {
		return false
	}
	if t.stride != 1 || t.xRow != 0 {
		place := int64(first)
		for k := range list {
			list[k] = list[k]*int64(t.stride) + place
			place += int64(t.xRow)
		}
	}
	return true
}

// A oneHot fills a row or, if the new axis is not the last, several at once, and
// switches one element of each on. Its items are what is before the axis.
type oneHot struct {
	placer
	outer, n, inner, size int
	on, off               []byte
}

func newOneHot(c *ir.Call, p placer) (indexer, string) {
	d := c.Out[0].DType
	on, why := scalarAttr(c, "on", d)
	if why != "" {
		return nil, why
	}
	off, why := scalarAttr(c, "off", d)
	if why != "" {
		return nil, why
	}
	outer, n, inner := extents(c.Out[0].Ints(), axisIn(c.Int("axis"), c.Out[0].Rank()))
	return &oneHot{p, outer, n, inner, d.Size(), on.Data, off.Data}, ""
}

func (h *oneHot) items() int { return h.outer }

// oneHotBytes is how much is written before the budget is asked again.
const oneHotBytes = 1 << 20

func (h *oneHot) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	room, row := indexRoom(x), h.n*h.inner*h.size
	// Short rows are done together, as many as indices are read at a time.
	each := max(1, min(indexRun/max(h.inner, 1), oneHotBytes/max(row, 1)))
	for ; first < end; first += each {
		rows := min(each, end-first)
		to := out[0].Data[first*row : (first+rows)*row]
		move.Fill(to, h.off)
		for k := 0; k < rows*h.inner; k += indexRun {
			list := room[:min(indexRun, rows*h.inner-k)]
			if !h.load(list, in[0], first*h.inner+k, h.n) {
				return false, nil
			}
			h.places(list, k)
			move.Set(to, h.on, list)
		}
		if err := x.Stop(); err != nil {
			return true, err
		}
	}
	return true, nil
}

// places takes the indices from the k-th of some rows on to elements of those rows.
func (h *oneHot) places(list []int64, k int) {
	if h.inner == 1 {
		row := int64(k * h.n)
		for j, at := range list {
			list[j] = row + at
			row += int64(h.n)
		}
		return
	}
	o, c := k/h.inner, k%h.inner
	for j, at := range list {
		list[j] = int64((o*h.n+int(at))*h.inner + c)
		if c++; c == h.inner {
			o, c = o+1, 0
		}
	}
}
