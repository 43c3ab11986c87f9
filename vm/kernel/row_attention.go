package kernel

import (
	"cmp"
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/attn"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/move"
)

// attentionRow runs an attention, and what only moves its operands and its result:
//
//	reshape, transpose, attention, transpose, reshape   =>   one attention that reads
//	                                                         and writes by strides
//
// Halves are widened where operands are read, and rounded once where results are
// written.
var (
	attentionRow     = newAttentionRow("attention/f32", tensor.F32, nil)
	attentionBF16Row = newAttentionRow("attention/bf16", tensor.BF16, attn.BF16)
	attentionF16Row  = newAttentionRow("attention/f16", tensor.F16, attn.F16)
)

func newAttentionRow(name string, d tensor.DType, half *attn.Half) *Row {
	return &Row{
		Name: name, reach: reach{heart: anAttention, rest: aMove}, ways: attentionSizes.names("queries"),
		Make: func(b *Body, o *Options) (*Prepared, string) { return makeAttention(b, o, d, half) },
	}
}

// attentionWithin bounds the error: products of f32, and exponentials of differences
// that have been rounded.
const attentionWithin = 5e-6

func makeAttention(b *Body, o *Options, of tensor.DType, half *attn.Half) (*Prepared, string) {
	heart := slices.IndexFunc(b.Ops, func(o Op) bool { return o.Is("attention") })
	switch {
	case heart < 0:
		return nil, notMine
	case len(b.Out) != 1 || b.InPlace != Absent:
		return nil, "it has other results"
	}
	op := &b.Ops[heart]
	if d := op.Call.In[0].DType; d != of {
		return nil, "its elements are " + d.String()
	}
	t := &attentionTask{level: o.Level, half: half, causal: op.Call.Bool("causal"), work: attentionWork(op.Call, o.Level)}
	why := t.place(b, op)
	if why == "" {
		why = t.plan(op.Call, o)
	}
	if why != "" {
		return nil, why
	}
	return &Prepared{Work: t.work, Within: max(attentionWithin, withinOf[of]), Runner: t}, ""
}

// An attentionTask is the Runner of attentions.
type attentionTask struct {
	level   isa.Level
	half    *attn.Half // nil: of float32
	own     int        // of attentionSizes
	work    int64
	causal  bool
	shape   attn.Shape
	attend  *attn.Plan
	q, k, v lying
	mask    lying
	out     attn.Strides
	batch   int // units between two questions whether to stop
}

// lying says in which input an operand lies, and where.
type lying struct {
	in     int // Absent: nowhere
	offset int
	attn.Strides
}

// place finds where the operands and the result lie: what stands around the attention
// only moves elements.
func (t *attentionTask) place(b *Body, op *Op) (why string) {
	values := map[int]pieces{}
	for i, in := range b.In {
		values[i] = wholly(i, move.Dense(in.Ints()))
	}
	for i := range b.Ops {
		if o := &b.Ops[i]; o == op {
			values[o.First] = wholly(o.First, move.Dense(o.Call.Out[0].Ints()))
		} else if why := tracePieces(o, values, b); why != "" {
			return why
		}
	}
	operands := [...]*lying{&t.q, &t.k, &t.v, &t.mask}
	for i, to := range operands {
		to.in = Absent
		if i >= len(op.Args) || op.Args[i] == Absent {
			continue
		}
		shape := op.Call.In[i].Ints()
		if i == 3 {
			shape, why = maskShape(shape, op.Call.Out[0].Ints())
		}
		if why == "" {
			*to, why = lies(values[op.Args[i]], shape, len(b.In))
		}
		if why != "" {
			return why
		}
	}
	block, ok := values[b.Out[0]].whole()
	if !ok || block.in != op.First {
		return "its result is moved in pieces"
	}
	t.out, why = target(block.from, op.Call.Out[0].Ints())
	return why
}

const unevenAttention = "an operand is no block of an input"

// four takes all axes before the last three as one.
func four(shape []int) []int {
	n := len(shape) - 3
	return append([]int{count(shape[:n])}, shape[n:]...)
}

// maskShape is that of a mask, with as many axes as the scores have, those before
// the last three as one.
func maskShape(shape, out []int) ([]int, string) {
	for len(shape) < len(out) {
		shape = slices.Insert(slices.Clone(shape), 0, 1)
	}
	lead := len(out) - 3
	if n := count(shape[:lead]); n != 1 && n != count(out[:lead]) {
		return nil, "its mask is broadcast along some of the leading axes"
	}
	return shape, ""
}

// lies finds where a value of a shape lies in one of the inputs.
func lies(p pieces, shape []int, inputs int) (lying, string) {
	w, ok := p.whole()
	if !ok || w.in >= inputs || w.constant != nil {
		return lying{}, unevenAttention
	}
	at, ok := strides4(w.from, shape)
	if !ok {
		return lying{}, unevenAttention
	}
	return lying{w.in, w.from.Offset, at}, ""
}

// strides4 are the strides of a dense tensor of a shape whose elements lie in a block,
// all axes before the last three taken as one. Those of size 1 are 0.
func strides4(block move.Block, shape []int) (attn.Strides, bool) {
	dims := four(shape)
	var steps [4]int
	if count(dims) > 0 {
		in, ok := move.Dense(dims).Of(block)
		if !ok || len(in.Strides) != len(dims) {
			return attn.Strides{}, false
		}
		copy(steps[:], in.Strides)
	}
	for _, s := range steps {
		if s < 0 {
			return attn.Strides{}, false
		}
	}
	return attn.Strides{Batch: steps[0], Head: steps[1], Row: steps[2], Col: steps[3]}, true
}

// target turns round a block of all elements of the attention's result, which is a
// dense tensor itself: it says where the elements of the first lie in the second.
func target(block move.Block, shape []int) (attn.Strides, string) {
	to := move.Dense(block.Shape)
	if block.Offset != 0 || block.Len() != count(shape) || slices.Contains(block.Strides, 0) && !ones(block) {
		return attn.Strides{}, "its result is not used once"
	}
	order := upTo(len(block.Shape))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(block.Strides[b], block.Strides[a]) })
	var back move.Block
	for _, a := range order {
		if block.Shape[a] != 1 {
			back.Shape, back.Strides = append(back.Shape, block.Shape[a]), append(back.Strides, to.Strides[a])
		}
	}
	at, ok := strides4(back, shape)
	if !ok {
		return at, "its result is merged unevenly"
	}
	return at, ""
}

// ones reports whether only axes of size 1 have no stride.
func ones(b move.Block) bool {
	for i, s := range b.Strides {
		if s == 0 && b.Shape[i] > 1 {
			return false
		}
	}
	return true
}

// plan makes the attention ready.
func (t *attentionTask) plan(c *ir.Call, o *Options) (why string) {
	q, k, v := four(c.In[0].Ints()), four(c.In[1].Ints()), four(c.In[2].Ints())
	t.shape = attn.Shape{Batch: q[0], Heads: q[1], Groups: k[1], S: q[2], T: k[2], D: q[3], E: v[3]}
	scale := 1 / math.Sqrt(float64(t.shape.D)) // of queries without elements it is infinite
	if l := c.Attr("scale"); !l.IsNone() {
		scale = l.Float
	}
	// The queries are multiplied by it.
	if s := math.Abs(scale); s != 0 && !(s > 0x1p-40 && s < 0x1p40) {
		return "its scale would leave the range of floats"
	}
	var queries int
	t.own, queries = attentionSizes.wanted(o)
	t.attend = attn.New(t.level, t.shape, float32(scale), t.causal).InBlocks(queries).OfHalves(t.half)
	t.batch = max(1, 1<<22/max(1, t.shape.T*(t.shape.D+t.shape.E)*min(t.shape.S, 64)))
	return ""
}

// attentionWork supposes 50 operations of floats in a nanosecond, in Go two.
func attentionWork(c *ir.Call, level isa.Level) int64 {
	rate := int64(50)
	if level == isa.Portable {
		rate = 2
	}
	return min(c.Cost().Flops, MaxWork) / rate
}

func (t *attentionTask) Parts(want int) int { return max(1, min(want, t.attend.Units())) }

func (t *attentionTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	a := &x.attends
	a.Q, a.K, a.V = t.q.operand(in), t.k.operand(in), t.v.operand(in)
	a.Out = operandOf(out[0], 0, t.out)
	a.Mask = t.mask.mask(in)
	if !x.Again { // else it may have the keys and values of the head
		x.attn.Begin()
	}
	lo, n := share(t.attend.Units(), part, parts, 1)
	for hi := lo + n; lo < hi; lo += t.batch {
		if err := x.Stop(); err != nil {
			return err
		}
		x.attn.Run(t.attend, a, lo, min(lo+t.batch, hi))
	}
	return nil
}

func (l *lying) operand(in []*tensor.T) attn.Operand {
	return operandOf(in[l.in], l.offset, l.Strides)
}

// operandOf views a tensor of floats or halves from an element on.
func operandOf(t *tensor.T, offset int, s attn.Strides) attn.Operand {
	if t.DType == tensor.F32 {
		return attn.Operand{Data: tensor.Of[float32](t)[offset:], Strides: s}
	}
	return attn.Operand{Halves: elementsFrom[uint16](t, offset), Strides: s}
}

func (l *lying) mask(in []*tensor.T) (m attn.Mask) {
	if l.in == Absent {
		return m
	}
	if t := in[l.in]; t.DType == tensor.Bool {
		m.Allow = t.Data[l.offset:]
	} else {
		o := l.operand(in)
		m.Add, m.Halves = o.Data, o.Halves
	}
	m.Strides = l.Strides
	return m
}
