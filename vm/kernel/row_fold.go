package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/norm"
)

// foldRow takes reductions of integers and of floats of eight bytes. It adds up in the
// order of the reference, one chain of sums for each result, and has four of them under
// way at a time, so that none waits for the sum before: not a bit differs.
var foldRow = &Row{Name: "fold", reach: reach{heart: aReduction, alone: true}, Make: func(b *Body, _ *Options) (*Prepared, string) {
	c, why := onlyCall(b)
	if why != "" {
		return nil, why
	}
	if _, ok := reductions[c.Op.Name]; !ok {
		return nil, notMine
	}
	f, ok := foldings[c.In[0].DType][c.Op.Name]
	if !ok {
		return nil, c.Op.Name + " of " + c.In[0].DType.String() + " has no loop"
	}
	shape := c.In[0].Ints()
	y, why := layoutOf(shape, reducedAxes(c.Attr("axis"), len(shape)))
	if why != "" {
		return nil, why
	}
	t := &foldTask{foldLoop: f, size: c.In[0].DType.Size(), layout: y, correction: correctionOf(c)}
	return &Prepared{Work: min(int64(count(shape))+20, MaxWork), Runner: t}, ""
}}

// A foldTask reduces N elements that lie inner elements apart, Times over, for each of
// Outer by Inner results.
type foldTask struct {
	foldLoop
	size       int // bytes of an element
	layout     norm.Layout
	correction int // of a variance
}

// A foldLoop reduces elements of a type.
type foldLoop struct {
	// rows takes n elements to each of four results that lie behind each other.
	rows func(to unsafe.Pointer, from [4]unsafe.Pointer, n int)
	// columns takes n elements to n results.
	columns func(to, from unsafe.Pointer, n int)
	start   func(to unsafe.Pointer, n int)
	// end makes n results of sums of so many elements; nil: they are.
	end func(to unsafe.Pointer, n, of int)
	// spread, if it is there, is the second pass of what works around the mean, which the
	// first gives.
	spread *spreadLoop
}

// foldRun is how many neighbouring results are under way at a time.
const foldRun = 512

// pieces is into how many runs the inner results are cut.
func (t *foldTask) pieces() int { return (t.layout.Inner + foldRun - 1) / foldRun }

func (t *foldTask) Parts(want int) int {
	if t.layout.Inner == 1 {
		return max(1, min(want, t.layout.Outer/4))
	}
	return max(1, min(want, t.layout.Outer*t.pieces()))
}

func (t *foldTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	to, from := unsafe.Pointer(unsafe.SliceData(out[0].Data)), unsafe.Pointer(unsafe.SliceData(in[0].Data))
	if t.layout.Inner != 1 {
		return t.runColumns(x, part, parts, to, from)
	}
	first, n := share(t.layout.Outer, part, parts, 4)
	room := unsafe.Pointer(unsafe.SliceData(x.Bytes(2 * 4 * 8)))
	for end := first + n; first < end; first += 4 {
		n := min(4, end-first)
		if err := t.four(x, room, from, first, n); err != nil {
			return err
		}
		copy(unsafe.Slice((*byte)(unsafe.Add(to, first*t.size)), n*t.size), unsafe.Slice((*byte)(room), n*t.size))
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// foldStop is after how many elements it is asked whether to go on.
const foldStop = 1 << 16

// four reduces rows from first on, up to four: one stands for those that are missing.
// Behind the four results there is room for as many means.
func (t *foldTask) four(x *Exec, to, from unsafe.Pointer, first, n int) error {
	rows := func(at int) (rows [4]unsafe.Pointer) {
		for i := range rows {
			rows[i] = unsafe.Add(from, (at+(first+min(i, n-1))*t.layout.N)*t.size)
		}
		return rows
	}
	t.start(to, 4)
	if err := t.along(x, func(at, n int) { t.rows(to, rows(at), n) }); err != nil {
		return err
	}
	t.finish(to, 4)
	if t.spread == nil {
		return nil
	}
	means := unsafe.Add(to, 4*8)
	*(*[4]float64)(means) = *(*[4]float64)(to)
	t.start(to, 4)
	err := t.along(x, func(at, n int) { t.spread.rows(to, means, rows(at), n) })
	t.spread.end(to, 4, t.layout.Times*t.layout.N, t.correction)
	return err
}

// along goes through the elements of a row in pieces of n that begin at an element.
func (t *foldTask) along(x *Exec, f func(at, n int)) error {
	y := &t.layout
	for time := range y.Times {
		for i := 0; i < y.N; i += foldStop / 4 {
			f(time*y.Apart+i, min(foldStop/4, y.N-i))
			if i+foldStop/4 < y.N || time&1023 == 1023 {
				if err := x.Stop(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (t *foldTask) finish(to unsafe.Pointer, n int) {
	if t.end != nil {
		t.end(to, n, t.layout.Times*t.layout.N)
	}
}

func (t *foldTask) runColumns(x *Exec, part, parts int, to, from unsafe.Pointer) error {
	y, pieces := &t.layout, t.pieces()
	means := x.Bytes(8 * foldRun)
	first, n := share(y.Outer*pieces, part, parts, 1)
	for item := first; item < first+n; item++ {
		outer, col := item/pieces, item%pieces*foldRun
		cols := min(foldRun, y.Inner-col)
		d, s := unsafe.Add(to, (outer*y.Inner+col)*t.size), unsafe.Add(from, (outer*y.N*y.Inner+col)*t.size)
		t.start(d, cols)
		if err := t.each(x, s, func(row unsafe.Pointer) { t.columns(d, row, cols) }); err != nil {
			return err
		}
		t.finish(d, cols)
		if t.spread != nil {
			copy(means, unsafe.Slice((*byte)(d), 8*cols))
			t.start(d, cols)
			m := unsafe.Pointer(unsafe.SliceData(means))
			if err := t.each(x, s, func(row unsafe.Pointer) { t.spread.columns(d, m, row, cols) }); err != nil {
				return err
			}
			t.spread.end(d, cols, y.Times*y.N, t.correction)
		}
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// each goes through the rows of columns that begin at a place.
func (t *foldTask) each(x *Exec, from unsafe.Pointer, f func(row unsafe.Pointer)) error {
	y := &t.layout
	for time := range y.Times {
		for i := range y.N {
			f(unsafe.Add(from, (time*y.Apart+i*y.Inner)*t.size))
			if i%(foldStop/foldRun) == foldStop/foldRun-1 {
				if err := x.Stop(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
