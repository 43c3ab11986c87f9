package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/norm"
)

// normRow runs softmax and the norms along any axis.
var normRow = &Row{Name: "norm/f32", reach: reach{heart: aNorm, rest: anElement | aMove}, ways: rowsSizes.names("floats"), Make: makeNorm}

// normWithin bounds the error of the norms: each step of them is rounded once, and
// their sums are float64.
const normWithin = 1e-6

// A normCall is one operator as package norm computes it: by units.
type normCall struct {
	units int
	run   normFunc
}

type normFunc = func(x *norm.Scratch, level isa.Level, lo, hi int, dst []float32, in [][]float32)

// rowNorms has the operators along axes that lie side by side: which those are, and
// the call on f32 for a space.
var rowNorms = map[string]struct {
	space func(c *ir.Call) (s norm.Space, ok bool)
	bind  func(s norm.Space, c *ir.Call) normFunc
}{
	"softmax": {alongAxis, func(s norm.Space, _ *ir.Call) normFunc {
		return func(x *norm.Scratch, l isa.Level, lo, hi int, dst []float32, in [][]float32) {
			x.Softmax(l, s, lo, hi, dst, in[0])
		}
	}},
	"log_softmax": {alongAxis, func(s norm.Space, _ *ir.Call) normFunc {
		return func(x *norm.Scratch, l isa.Level, lo, hi int, dst []float32, in [][]float32) {
			x.LogSoftmax(l, s, lo, hi, dst, in[0])
		}
	}},
	"l2_normalize": {alongAxis, func(s norm.Space, c *ir.Call) normFunc {
		eps := c.Float("eps")
		return func(x *norm.Scratch, l isa.Level, lo, hi int, dst []float32, in [][]float32) {
			x.L2Normalize(l, s, lo, hi, dst, in[0], eps)
		}
	}},
	"layernorm": {alongAxes, func(s norm.Space, c *ir.Call) normFunc {
		eps := c.Float("eps")
		return func(x *norm.Scratch, l isa.Level, lo, hi int, dst []float32, in [][]float32) {
			x.LayerNorm(l, s, lo, hi, dst, in[0], affineOf(in), eps)
		}
	}},
	"rmsnorm": {alongLast, func(s norm.Space, c *ir.Call) normFunc {
		eps := c.Float("eps")
		return func(x *norm.Scratch, l isa.Level, lo, hi int, dst []float32, in [][]float32) {
			x.RMSNorm(l, s, lo, hi, dst, in[0], affineOf(in), eps)
		}
	}},
}

func alongAxis(c *ir.Call) (norm.Space, bool) {
	return neighbours(c.In[0].Ints(), []int64{c.Int("axis")})
}

func alongAxes(c *ir.Call) (norm.Space, bool) { return neighbours(c.In[0].Ints(), c.Ints("axis")) }

func alongLast(c *ir.Call) (norm.Space, bool) { return neighbours(c.In[0].Ints(), []int64{-1}) }

// channelNorms has the operators on channels.
var channelNorms = map[string]func(c *ir.Call) normCall{
	"batchnorm":    batchNorm,
	"instancenorm": func(c *ir.Call) normCall { return groupNorm(c, c.In[0].Ints()[1]) },
	"groupnorm":    func(c *ir.Call) normCall { return groupNorm(c, int(c.Int("groups"))) },
}

// normCallOf makes an operator ready that is a norm.
func normCallOf(c *ir.Call) (n normCall, why string) {
	if f := channelNorms[c.Op.Name]; f != nil {
		return f(c), ""
	}
	row, ok := rowNorms[c.Op.Name]
	if !ok {
		return n, notMine
	}
	s, ok := row.space(c)
	if !ok {
		return n, "its axes do not lie side by side"
	}
	return normCall{s.Units(), row.bind(s, c)}, ""
}

// affineOf are the weight and the bias behind the first argument.
func affineOf(in [][]float32) (a norm.Affine) {
	if len(in) > 1 {
		a.Weight = in[1]
	}
	if len(in) > 2 {
		a.Bias = in[2]
	}
	return a
}

// neighbours is the space of axes that follow each other; negative ones count from the
// end.
func neighbours(shape []int, axes []int64) (s norm.Space, ok bool) {
	s = norm.Space{Outer: 1, N: 1, Inner: 1}
	first, next := 0, 0
	for i, a := range axes {
		at := int(a)
		if at < 0 {
			at += len(shape)
		}
		if i == 0 {
			first, next = at, at
		}
		if at != next {
			return s, false
		}
		next++
	}
	s.Outer, s.N, s.Inner = count(shape[:first]), count(shape[first:next]), count(shape[next:])
	return s, true
}

func channelsOf(c *ir.Call) norm.Channels {
	shape := c.In[0].Ints()
	return norm.Channels{Images: shape[0], Channels: shape[1], Inner: count(shape[2:])}
}

func batchNorm(c *ir.Call) normCall {
	s, eps := channelsOf(c), c.Float("eps")
	return normCall{s.BatchUnits(), func(x *norm.Scratch, l isa.Level, lo, hi int, dst []float32, in [][]float32) {
		x.Batch(l, s, lo, hi, dst, in[0], affineOf(in), norm.Moments{Mean: in[3], Variance: in[4]}, eps)
	}}
}

func groupNorm(c *ir.Call, groups int) normCall {
	s, eps := channelsOf(c), c.Float("eps")
	per := s.Channels / max(groups, 1)
	return normCall{s.Images * groups, func(x *norm.Scratch, l isa.Level, lo, hi int, dst []float32, in [][]float32) {
		x.Groups(l, s, per, lo, hi, dst, in[0], affineOf(in), eps)
	}}
}

func makeNorm(b *Body, o *Options) (*Prepared, string) {
	c := oneCall(b)
	if c == nil {
		return makeRows(b, o, func(name string) bool { return rowNorms[name].bind != nil })
	}
	n, why := normCallOf(c)
	if why != "" {
		return nil, why
	}
	if d := c.In[0].DType; d != tensor.F32 {
		return nil, "its elements are " + d.String()
	}
	if b.InPlace != Absent && b.InPlace != b.Ops[0].Args[0] {
		return nil, "it replaces another argument than x"
	}
	size := count(c.In[0].Ints())
	t := &normTask{normCall: n, level: o.Level, args: b.Ops[0].Args, batch: batchOf(n.units, size)}
	return &Prepared{Work: rowsWork(o.Level, size), Within: normWithin, Runner: t}, ""
}

// rowsWork is about what a pass over elements takes that is computed in float64.
func rowsWork(l isa.Level, elements int) int64 {
	if l == isa.Portable {
		return min(4*int64(elements), MaxWork)
	}
	return min(int64(elements)/2, MaxWork)
}

// batchOf is how many units are computed between two questions whether to stop.
func batchOf(units, size int) int {
	const elements = 1 << 17
	return max(1, elements/max(1, size/max(1, units)))
}

type normTask struct {
	normCall
	level isa.Level
	args  []int
	batch int // units
}

func (t *normTask) twin(*Body, *Options) Runner { return t }

func (t *normTask) Parts(want int) int { return max(1, min(want, t.units)) }

func (t *normTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	dst, args := tensor.Of[float32](out[0]), x.slices(t.args, in)
	lo, n := share(t.units, part, parts, 1)
	for hi := lo + n; lo < hi; lo += t.batch {
		if err := x.Stop(); err != nil {
			return err
		}
		t.run(x.rows(), t.level, lo, min(lo+t.batch, hi), dst, args)
	}
	return x.halted()
}

// slices are the elements of arguments of f32; nil for what is absent.
func (x *Exec) slices(args []int, in []*tensor.T) [][]float32 {
	if len(x.floats) < len(args) {
		x.floats = make([][]float32, len(args))
	}
	for i, a := range args {
		x.floats[i] = nil
		if a != Absent {
			x.floats[i] = tensor.Of[float32](in[a])
		}
	}
	return x.floats[:len(args)]
}
