package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/move"
)

// plainRow takes single element-wise operators on integers and floats of eight bytes,
// casts among all but half floats, and where: a loop in Go for each dtype.
var plainRow = &Row{Name: "plain", reach: reach{heart: anElement | aMove, alone: true}, Make: func(b *Body, o *Options) (*Prepared, string) {
	c := oneCall(b)
	if c == nil || len(c.In) == 0 || len(b.In) > 3 || spreadOf(&b.Ops[0], len(b.In)) != nil {
		return nil, notMine
	}
	loop := plainLoopOf(c, o.Level)
	switch {
	case loop == nil && c.Op.Class != ir.Elementwise:
		return nil, notMine
	case loop == nil:
		return nil, c.Op.Name + " has no loop for " + c.In[0].DType.String()
	case b.InPlace != Absent && !c.InPlace(b.InPlace):
		return nil, "it replaces an argument of another type"
	}
	t := newPlain(c, longLoopOf(o.Level, c, loop))
	each := int64(1)
	if t.guard != nil {
		each = 4 // divisions are slow
	}
	return &Prepared{Work: min(each*int64(t.total), MaxWork) + 20, Runner: t}, ""
}}

// plainLoopOf finds the loop of a call; nil: there is none.
func plainLoopOf(c *ir.Call, level isa.Level) plainLoop {
	switch c.Op.Name {
	case "cast":
		return plainCasts[c.In[0].DType][c.Out[0].DType]
	case "where":
		return plainWheres[c.Out[0].DType.Size()]
	}
	if f := attributed[c.Op.Name]; f != nil && c.In[0].DType == tensor.F64 {
		return f(c)
	}
	if f := longFunctions[c.Op.Name]; f != nil && c.In[0].DType == tensor.F64 {
		return functionLoop(level, c.Op.Name, f)
	}
	return plainLoops[c.In[0].DType][c.Op.Name]
}

// A plainTask goes through the result in order. axes has, by axis of the result and
// argument, the bytes from one element to the next: 0 where an argument is
// broadcast.
type plainTask struct {
	loop        plainLoop
	guard       plainGuard // of the second argument; nil: any will do
	whole       evaluation // for the error of one that it refuses
	axes        []axis
	total       int // elements
	size        int // bytes of one of the result
	sizes       [3]int
	args, inner int // inner elements are along the last axis
}

// plainRun is how many elements are computed at a time: what is broadcast along
// the last axis is written out for so many.
const plainRun = 512

func newPlain(c *ir.Call, loop plainLoop) *plainTask {
	shape := c.Out[0].Ints()
	t := &plainTask{loop: loop, size: c.Out[0].DType.Size(), args: len(c.In), total: count(shape)}
	t.guard, t.whole.call = plainGuards[c.In[0].DType][c.Op.Name], c
	axes := make([]axis, len(shape))
	for a, n := range shape {
		axes[a] = axis{n, make([]int, len(c.In))}
	}
	for i, typ := range c.In {
		t.sizes[i] = typ.DType.Size()
		from := typ.Ints()
		for a, stride := range tensor.Strides(from) {
			if from[a] != 1 {
				axes[len(shape)-len(from)+a].steps[i] = stride * t.sizes[i]
			}
		}
	}
	if t.axes = join2(nil, axes); len(t.axes) == 0 {
		t.axes = []axis{{1, make([]int, len(c.In))}}
	}
	t.inner = t.axes[len(t.axes)-1].size
	return t
}

func (t *plainTask) Parts(want int) int { return max(1, min(want, t.total/plainRun)) }

// errOfWhole ends a part of a task that has an error: the whole is computed again, for
// what the evaluation says.
var errOfWhole = ir.Errorf("internal", "a part of an operator has no result")

func (t *plainTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	switch refused := t.guard != nil && t.guard(in[1]); {
	case refused && parts > 1:
		return errOfWhole
	case refused:
		return t.whole.Run(x, 0, 1, out, in)
	}
	first, end := int(int64(t.total)*int64(part)/int64(parts)), int(int64(t.total)*int64(part+1)/int64(parts))
	room := x.Bytes(3 * 8 * plainRun)
	d := unsafe.Pointer(unsafe.SliceData(out[0].Data))
	var from [3]unsafe.Pointer
	for done := 0; first < end; {
		n := min(t.inner-first%t.inner, end-first, plainRun)
		for i := range t.args {
			from[i] = t.show(room[i*8*plainRun:(i+1)*8*plainRun], in[i], i, first, n)
		}
		t.loop(unsafe.Add(d, first*t.size), from, n)
		first += n
		if done += n; done > 1<<16 {
			done = 0
			if err := x.Stop(); err != nil {
				return err
			}
		}
	}
	return nil
}

// show gives n elements of argument i for those of the result from first on, along
// one axis.
func (t *plainTask) show(room []byte, arg *tensor.T, i, first, n int) unsafe.Pointer {
	last := len(t.axes) - 1
	at := 0
	for a, rest := last, first; a >= 0; a-- {
		at += rest % t.axes[a].size * t.axes[a].steps[i]
		rest /= t.axes[a].size
	}
	if t.axes[last].steps[i] != 0 || n == 1 {
		return unsafe.Pointer(unsafe.SliceData(arg.Data[at:]))
	}
	move.Fill(room[:n*t.sizes[i]], arg.Data[at:at+t.sizes[i]])
	return unsafe.Pointer(unsafe.SliceData(room))
}
