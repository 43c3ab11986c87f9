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
	t := &foldTask{foldLoop: f, size: c.In[0].DType.Size(), layout: y}
	return &Prepared{Work: min(int64(count(shape))+20, MaxWork), Runner: t}, ""
}}

// A foldTask reduces N elements that lie inner elements apart, Times over, for each of
// Outer by Inner results.
type foldTask struct {
	foldLoop
	size   int // bytes of an element
	layout norm.Layout
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
	room := unsafe.Pointer(unsafe.SliceData(x.Bytes(4 * 8)))
	for end := first + n; first < end; first += 4 {
		n := min(4, end-first)
		t.four(room, from, first, n)
		copy(unsafe.Slice((*byte)(unsafe.Add(to, first*t.size)), n*t.size), unsafe.Slice((*byte)(room), n*t.size))
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// four reduces rows from first on, up to four: one stands for those that are missing.
func (t *foldTask) four(to, from unsafe.Pointer, first, n int) {
	y := &t.layout
	t.start(to, 4)
	for time := range y.Times {
		var rows [4]unsafe.Pointer
		for i := range rows {
			rows[i] = unsafe.Add(from, (time*y.Apart+(first+min(i, n-1))*y.N)*t.size)
		}
		t.rows(to, rows, y.N)
	}
	t.finish(to, 4)
}

func (t *foldTask) finish(to unsafe.Pointer, n int) {
	if t.end != nil {
		t.end(to, n, t.layout.Times*t.layout.N)
	}
}

func (t *foldTask) runColumns(x *Exec, part, parts int, to, from unsafe.Pointer) error {
	y, pieces := &t.layout, t.pieces()
	first, n := share(y.Outer*pieces, part, parts, 1)
	for item := first; item < first+n; item++ {
		outer, col := item/pieces, item%pieces*foldRun
		cols := min(foldRun, y.Inner-col)
		d := unsafe.Add(to, (outer*y.Inner+col)*t.size)
		t.start(d, cols)
		for time := range y.Times {
			at := time*y.Apart + outer*y.N*y.Inner + col
			for i := range y.N {
				t.columns(d, unsafe.Add(from, (at+i*y.Inner)*t.size), cols)
			}
		}
		t.finish(d, cols)
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return nil
}
