package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// halvesRow runs single operators of half floats that other rows know of floats of four
// bytes only: norms, reductions, pools, convolutions, sums along an axis; and of bytes those
// that choose among elements. It widens some rows of the arguments, which is exact, lets the
// other row's kernel compute them, and rounds the results.
//
//	softmax f16[512,512]   =>   softmax f32[32,512] of rows 0 to 31, of 32 to 63, ...
var halvesRow = &Row{Name: "halves", reach: reach{alone: true}, Make: makeHalves}

// halvesAt is how many elements of the first argument are widened at a time, about: as
// floats they stay in the second cache.
const halvesAt = 32 << 10

// halvesMost bounds the bytes of all that is widened at a time, where rows can't be cut.
const halvesMost = 64 << 20

func makeHalves(b *Body, o *Options) (*Prepared, string) {
	c := oneCall(b)
	if c == nil || c.Op.Class == ir.Elementwise || c.Op.Class == ir.Move || b.InPlace != Absent || len(c.Out) != 1 {
		return nil, notMine
	}
	if widened(c) == nil {
		return nil, notMine
	}
	t := &halvesTask{args: b.Ops[0].Args, level: o.Level, op: c.Op.Name}
	if isByte(c.In[0].DType) {
		if t.up, t.down = byteWays(c.In[0].DType, o.Level); t.up == nil {
			return nil, notMine
		}
	}
	t.cut(c)
	within := 0.0
	for i, part := range t.shapes {
		if part == nil {
			continue
		}
		if t.bytes(part) > halvesMost {
			return nil, "a row is too large to be widened"
		}
		why := t.inner(i, part, b, o)
		if why != "" {
			return nil, why
		}
		within = max(within, t.kernels[i].Within)
	}
	switch name := c.Op.Name; {
	case chooses[name]:
		within = 0
	case name != "max" && name != "min": // which choose among halves
		within += withinOf[c.Out[0].DType]
	}
	work := int64(t.parts) * (t.kernels[0].Work + t.bytes(t.shapes[0])/16)
	return &Prepared{Work: min(work, MaxWork), Within: within, Runner: t}, ""
}

// chooses are the operators that give elements of their argument, or the least number: they
// make no other numbers of bytes than bytes.
var chooses = map[string]bool{"max_pool": true, "global_max_pool": true}

// widens reports whether an operator's elements become floats of four bytes.
func widens(op string, d tensor.DType) bool { return isHalf(d) || isByte(d) && chooses[op] }

// byteWays are the programs that make floats of bytes, and bytes of floats that are bytes
// or infinite.
func byteWays(d tensor.DType, level isa.Level) (wide, small *strip.Program) {
	up, down := strip.New(level), strip.New(level)
	up.Result(up.Op(vec.FromInt, up.Input(elems[d])), strip.F32)
	lo, _ := byteEnds(d)
	down.Result(down.Op(vec.MaxInt, down.Op(vec.ToInt, down.Input(strip.F32)), down.Int(lo)), elems[d])
	wide, err := up.Compile()
	if err != nil {
		return nil, nil
	}
	if small, err = down.Compile(); err != nil {
		return nil, nil
	}
	return wide, small
}

// widened is the call with floats of four bytes in the place of halves, or of bytes; nil if
// there are none, or if the operator would give something else.
func widened(c *ir.Call) *ir.Call {
	found := false
	widen := func(types []ir.Type) []ir.Type {
		list := make([]ir.Type, len(types))
		for i, t := range types {
			if list[i] = t; !t.Absent() && widens(c.Op.Name, t.DType) {
				list[i], found = ir.T(tensor.F32, t.Shape...), true
			}
		}
		return list
	}
	wide := &ir.Call{Op: c.Op, Attrs: c.Attrs, In: widen(c.In)}
	out := widen(c.Out)
	if !found || ir.InferCall(wide) != nil || !sameTypes(wide.Out, out) {
		return nil
	}
	return wide
}

func isHalf(d tensor.DType) bool { return d == tensor.F16 || d == tensor.BF16 }

// A halvesTask computes a call by parts of some rows, each of which is widened.
type halvesTask struct {
	args    []int // the body's inputs, or Absent, by argument of the call
	level   isa.Level
	op      string
	split   *Split // nil: there is one part
	parts   int
	shapes  [2]*ir.Call // of full parts and of those with what is left, as in Split
	kernels [2]*Prepared
	types   [2][]slice // by operand, the result first; in the call's own types
	wide    [2][]ir.Type
	consts  []*tensor.T // by argument: what is constant, widened; nil: it is not
	same    []bool      // by argument: every part needs all of it

	up, down *strip.Program // of bytes to floats, and back
}

// cut decides on the parts.
func (t *halvesTask) cut(c *ir.Call) {
	elements := count(c.In[0].Ints())
	want := min((elements+halvesAt-1)/halvesAt, 4096)
	if t.split = SplitOf(c, want); t.split != nil {
		t.parts, t.shapes, t.types = t.split.Parts(), t.split.shapes, t.split.types
	} else {
		t.parts, t.shapes = 1, [2]*ir.Call{c}
		for _, typ := range append([]ir.Type{c.Out[0]}, c.In...) {
			s := slice{}
			if !typ.Absent() {
				s.shape = typ.Ints()
				s.bytes, _ = typ.Bytes().Const()
			}
			t.types[0] = append(t.types[0], s)
		}
	}
	t.same = make([]bool, len(c.In))
	for j := range t.same {
		t.same[j] = t.always(j + 1)
	}
}

// always reports whether an operand is the same in every part.
func (t *halvesTask) always(operand int) bool {
	if t.split == nil {
		return true
	}
	for _, at := range t.split.at {
		if at[operand] != 0 {
			return false
		}
	}
	return t.types[1] == nil || t.types[0][operand].bytes == t.types[1][operand].bytes
}

// bytes is how much room a part's operands take as floats.
func (t *halvesTask) bytes(c *ir.Call) (n int64) {
	for _, typ := range append([]ir.Type{c.Out[0]}, c.In...) {
		if !typ.Absent() && widens(t.op, typ.DType) {
			n += 4 * int64(count(typ.Ints()))
		}
	}
	return n
}

// inner makes the parts of a shape ready.
func (t *halvesTask) inner(i int, part *ir.Call, b *Body, o *Options) (why string) {
	wide := widened(part)
	if wide == nil {
		return notMine
	}
	if t.consts == nil {
		t.consts = t.constants(b, wide)
	}
	with := *o
	with.Choose, with.way, with.Threads = nil, 0, 1
	p := Prepare(Single(wide, t.consts, Absent), &with)
	if p == nil || p.Kind == Reference {
		return "nothing is faster on floats of four bytes"
	}
	t.kernels[i], t.wide[i] = p, append([]ir.Type{wide.Out[0]}, wide.In...)
	return ""
}

// constants are, by argument, those that every part needs whole.
func (t *halvesTask) constants(b *Body, wide *ir.Call) []*tensor.T {
	list := make([]*tensor.T, len(wide.In))
	for j := range list {
		if c := b.Value(t.args[j]); c != nil && t.same[j] {
			if list[j] = c; widens(t.op, c.DType) {
				list[j] = tensor.Cast(c, tensor.F32)
			}
		}
	}
	return list
}

func (t *halvesTask) Parts(want int) int { return max(1, min(want, t.parts)) }

func (t *halvesTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	w := &x.halves
	w.begin(t, x)
	defer w.end()
	first, n := share(t.parts, part, parts, 1)
	for p := first; p < first+n; p++ {
		if err := x.Stop(); err != nil {
			return err
		}
		if err := w.part(p, p == first, out[0], in); err != nil {
			return err
		}
	}
	return nil
}

// A widening is the run of some parts, within what an executor computes with.
type widening struct {
	task     *halvesTask
	x        *Exec
	operands []tensor.T // the result first
	list     []*tensor.T
	result   [1]*tensor.T
	views    [2]strip.View // of what is made of bytes, or becomes some

	at, want, most int // of the executor's memory, before a part and at most
	again          bool
}

// begin finds room for what is widened.
func (w *widening) begin(t *halvesTask, x *Exec) {
	w.task, w.x = t, x
	if n := len(t.args) + 1; len(w.operands) < n {
		w.operands, w.list = make([]tensor.T, n), make([]*tensor.T, n)
	}
	for i, typ := range t.wide[0] {
		if w.operands[i] = (tensor.T{}); !typ.Absent() && t.half(i) && (i == 0 || t.consts[i-1] == nil) {
			w.operands[i] = tensor.T{DType: tensor.F32, Data: x.Bytes(4 * count(t.types[0][i].shape))}
		}
	}
	w.at, w.want, w.most, w.again = x.at, x.want, x.want, x.Again
	x.Again = false
}

// end leaves as much memory wanted as the part that took most.
func (w *widening) end() {
	w.x.Again, w.x.want = w.again, w.most
	clear(w.operands)
	clear(w.list)
	w.task, w.x, w.result[0], w.views = nil, nil, nil, [2]strip.View{}
}

// half reports whether an operand is of halves, or of bytes.
func (t *halvesTask) half(operand int) bool {
	typ := t.shapes[0].Out[0]
	if operand > 0 {
		typ = t.shapes[0].In[operand-1]
	}
	return widens(t.op, typ.DType)
}

// part computes a part: arguments that all parts need are widened for the first.
func (w *widening) part(p int, first bool, out *tensor.T, in []*tensor.T) error {
	t, kind := w.task, 0
	if t.split != nil && t.shapes[1] != nil && p%t.split.chunks == t.split.chunks-1 {
		kind = 1
	}
	list := w.list[:0]
	for j, a := range t.args {
		if a == Absent {
			continue
		}
		list = append(list, w.argument(j, kind, p, first, in[a]))
	}
	result := w.operand(0, kind, p, out)
	w.result[0] = result
	w.x.at, w.x.want = w.at, w.want
	err := t.kernels[kind].Run(w.x, 0, 1, w.result[:], list)
	w.most = max(w.most, w.x.want)
	if err == nil && t.half(0) {
		n := t.types[kind][0].bytes
		at := t.offset(p, 0)
		w.round(out.DType, out.Data[at:at+n], tensor.Of[float32](result))
	}
	return err
}

// argument is one of a part, widened.
func (w *widening) argument(j, kind, p int, first bool, whole *tensor.T) *tensor.T {
	t := w.task
	if t.consts[j] != nil {
		return t.consts[j]
	}
	to := w.operand(j+1, kind, p, whole)
	if t.half(j+1) && (first || !t.same[j]) {
		at := t.offset(p, j+1)
		w.widen(whole.DType, tensor.Of[float32](to), whole.Data[at:at+t.types[kind][j+1].bytes])
	}
	return to
}

// operand shows a part's operand: the room that it is widened into, or where it lies.
func (w *widening) operand(i, kind, p int, whole *tensor.T) *tensor.T {
	t, to := w.task, &w.operands[i]
	s := t.types[kind][i]
	to.Shape = s.shape
	if t.half(i) {
		to.Data = to.Data[:4*count(s.shape)]
		return to
	}
	at := t.offset(p, i)
	to.DType, to.Data = whole.DType, whole.Data[at:at+s.bytes]
	return to
}

// offset is where a part begins in an operand, in bytes.
func (t *halvesTask) offset(p, operand int) int64 {
	if t.split == nil {
		return 0
	}
	return t.split.at[p][operand]
}

// widen makes floats of halves or of bytes.
func (w *widening) widen(d tensor.DType, to []float32, from []byte) {
	switch level := w.task.level; d {
	case tensor.F16:
		narrow.FromF16(level, to, halfWords(from, len(to)))
	case tensor.BF16:
		narrow.FromBF16(level, to, halfWords(from, len(to)))
	default:
		w.run(w.task.up, bytesView(from), floatsView(to), len(to))
	}
}

// round makes halves or bytes of floats.
func (w *widening) round(d tensor.DType, to []byte, from []float32) {
	switch level := w.task.level; d {
	case tensor.F16:
		narrow.ToF16(level, halfWords(to, len(from)), from)
	case tensor.BF16:
		narrow.ToBF16(level, halfWords(to, len(from)), from)
	default:
		w.run(w.task.down, floatsView(from), bytesView(to), len(from))
	}
}

func halfWords(b []byte, n int) []uint16 {
	return elements[uint16](unsafe.Pointer(unsafe.SliceData(b)), n)
}

func bytesView(b []byte) strip.View {
	return strip.View{Ptr: unsafe.Pointer(unsafe.SliceData(b)), Col: 1}
}
func floatsView(f []float32) strip.View { return strip.Matrix(f, 0) }

// run runs a program of one operand on a row.
func (w *widening) run(p *strip.Program, from, to strip.View, n int) {
	w.views = [2]strip.View{from, to}
	p.Box(&w.x.strips, w.views[:], 1, n)
}
