package kernel

import (
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/conv"
)

// A tailWriter writes a body with a convolution anew, so that what follows is
// element-wise operators alone: the convolution's own bias, and norms by constant
// statistics.
//
//	y = conv x, w, b                s = conv x, w, b (whose sums alone are taken)
//	z = batchnorm y, g, h, m, v     y = add s, b
//	                            =>  z = add (mul (mul (sub y, m), 1/sqrt(v+eps)), g), h
//
// Norms that run by themselves round at the same steps (norm.Channels). A bias and a
// first norm, if they are constant, are not operators but the steps of package conv.
type tailWriter struct {
	from, to *Body
	values   []int // by value of from: that of to
	next     int   // the number of the next value
	roots    []int // by operator of from that is a norm: the input that is 1/sqrt(v+eps)
	why      string

	heart int
	steps []conv.Steps // by channel; nil: there are none
	norm0 int          // the operator that the steps have, or Absent
}

// plainTail writes a body anew. Its inputs are those of the body and further ones,
// which are constant. Steps are what sums go through before, by channel. Why says
// what can't be written.
func plainTail(b *Body, heart int) (to *Body, steps []conv.Steps, why string) {
	w := &tailWriter{
		from: b, to: &Body{InPlace: b.InPlace}, values: make([]int, values(b)), roots: make([]int, len(b.Ops)),
		heart: heart, norm0: Absent,
	}
	w.inputs()
	if w.why == "" {
		w.takeSteps()
	}
	for i := range b.Ops {
		if o := &b.Ops[i]; w.why == "" {
			w.values[o.First] = w.op(i, o)
		}
	}
	for _, v := range b.Out {
		w.to.Out = append(w.to.Out, w.values[v])
	}
	return w.to, w.steps, w.why
}

// takeSteps makes steps of a constant bias and of the norm that alone reads the
// convolution, if all of it is constant.
func (w *tailWriter) takeSteps() {
	o := &w.from.Ops[w.heart]
	steps := slices.Repeat([]conv.Steps{conv.NoSteps}, o.Call.Out[0].Ints()[1])
	if hasBias(o) {
		if !w.step(steps, 0, o.Args[2]) {
			return
		}
		w.steps = steps
	}
	for i := range w.from.Ops {
		n := &w.from.Ops[i]
		if !n.Is("batchnorm") || n.Args[0] != o.First || w.from.Uses(o.First) != 1 {
			continue
		}
		if with := slices.Clone(steps); w.step(with, 1, n.Args[normMean]) && w.step(with, 3, n.Args[normWeight]) && w.step(with, 4, n.Args[normBias]) {
			setStep(with, 2, w.to.Const[w.roots[i]])
			w.steps, w.norm0 = with, i
		}
	}
}

// hasBias reports whether a convolution adds one.
func hasBias(o *Op) bool { return len(o.Args) > 2 && o.Args[2] != Absent }

// step makes a constant one of the steps of all channels; what is absent leaves it as
// it is. It reports whether the value is constant.
func (w *tailWriter) step(steps []conv.Steps, i, v int) bool {
	if v == Absent {
		return true
	}
	value := w.from.Value(v)
	if value != nil {
		setStep(steps, i, value)
	}
	return value != nil
}

func setStep(steps []conv.Steps, i int, value *tensor.T) {
	for c, f := range tensor.Of[float32](value) {
		steps[c][i] = f
	}
}

// inputs takes the body's inputs over and adds those of norms.
func (w *tailWriter) inputs() {
	w.to.In, w.to.Const = append(w.to.In, w.from.In...), append(w.to.Const, w.from.Const...)
	for v := range w.from.In {
		w.values[v] = v
	}
	for i := range w.from.Ops {
		if o := &w.from.Ops[i]; o.Is("batchnorm") {
			w.root(i, o)
		} else if o.Results() > 1 {
			w.why = o.Call.Op.Name + " has several results"
		}
	}
	w.next = len(w.to.In)
}

// The arguments of batchnorm.
const (
	normWeight = 1 + iota
	normBias
	normMean
	normVariance
)

// root makes the input that is one divided by the roots of a norm's variances.
func (w *tailWriter) root(i int, o *Op) {
	mean, variance := w.from.Value(o.Args[normMean]), w.from.Value(o.Args[normVariance])
	if mean == nil || variance == nil {
		w.why = "a norm by statistics that are not constant"
		return
	}
	eps := o.Call.Float("eps")
	roots := tensor.New(tensor.F32, variance.Shape...)
	for c, v := range tensor.Of[float32](variance) {
		root := math.Sqrt(float64(v) + eps)
		if !plainNorm(float64(tensor.Of[float32](mean)[c]), root) {
			w.why = "a norm by statistics that need float64"
			return
		}
		tensor.Of[float32](roots)[c] = float32(1 / root)
	}
	w.roots[i] = len(w.to.In)
	w.to.In, w.to.Const = append(w.to.In, o.Call.In[normVariance]), append(w.to.Const, roots)
}

// plainNorm reports whether float32 does on the way of a norm: the bounds are those of
// package norm, which computes what is beyond them in float64.
func plainNorm(mean, root float64) bool {
	return root >= 0x1p-60 && root <= 0x1p60 && math.Abs(mean) <= 0x1p90
}

// op writes one operator and gives its result.
func (w *tailWriter) op(i int, o *Op) int {
	switch {
	case i == w.norm0:
		return w.values[o.Args[0]]
	case o.Is("batchnorm"):
		return w.norm(i, o)
	}
	args := make([]int, len(o.Args))
	for j, a := range o.Args {
		if args[j] = a; a != Absent {
			args[j] = w.values[a]
		}
	}
	y := w.put(Op{Call: o.Call, As: o.As, Args: args})
	if i == w.heart && hasBias(o) && w.steps == nil {
		y = w.channels("add", o.Call.Out[0], y, args[2])
	}
	return y
}

// norm writes a norm by steps.
func (w *tailWriter) norm(i int, o *Op) int {
	t, y := o.Call.Out[0], w.values[o.Args[0]]
	y = w.channels("sub", t, y, w.values[o.Args[normMean]])
	y = w.channels("mul", t, y, w.roots[i])
	if a := o.Args[normWeight]; a != Absent {
		y = w.channels("mul", t, y, w.values[a])
	}
	if a := o.Args[normBias]; a != Absent {
		y = w.channels("add", t, y, w.values[a])
	}
	return y
}

// channels writes an operator of y, which is [N, C, spatial...] of type t, and of one
// element for each channel.
func (w *tailWriter) channels(name string, t ir.Type, y, each int) int {
	as := ir.Type{DType: t.DType, Shape: []ir.Dim{t.Shape[1]}}
	for range t.Shape[2:] {
		as.Shape = append(as.Shape, ir.N(1))
	}
	c, err := Bind(name, "", []ir.Type{t, as}, []ir.Type{t})
	if err != nil {
		w.why = err.Error()
		return y
	}
	view := w.put(Op{Args: []int{each}, As: as})
	return w.put(Op{Call: c, Args: []int{y, view}})
}

// put adds an operator of one result.
func (w *tailWriter) put(o Op) int {
	o.First = w.next
	w.next++
	w.to.Ops = append(w.to.Ops, o)
	return o.First
}
