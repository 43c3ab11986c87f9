package kernel

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A tailWriter writes a body with a convolution anew, so that what follows is
// element-wise operators alone: the convolution's own bias, and norms by constant
// statistics.
//
//	y = conv x, w, b                s = conv x, w, b (whose sums alone are taken)
//	z = batchnorm y, g, h, m, v     y = add s, b
//	                            =>  z = add (mul (mul (sub y, m), 1/sqrt(v+eps)), g), h
//
// Norms that run by themselves round at the same steps (norm.Channels).
type tailWriter struct {
	from, to *Body
	values   []int // by value of from: that of to
	next     int   // the number of the next value
	roots    []int // by operator of from that is a norm: the input that is 1/sqrt(v+eps)
	why      string
}

// plainTail writes a body anew. Its inputs are those of the body and further ones,
// which are constant. Why says what can't be written.
func plainTail(b *Body, heart int) (to *Body, why string) {
	w := &tailWriter{from: b, to: &Body{InPlace: b.InPlace}, values: make([]int, values(b)), roots: make([]int, len(b.Ops))}
	w.inputs()
	for i := range b.Ops {
		if o := &b.Ops[i]; w.why == "" {
			w.values[o.First] = w.op(i, o, i == heart)
		}
	}
	for _, v := range b.Out {
		w.to.Out = append(w.to.Out, w.values[v])
	}
	return w.to, w.why
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
func (w *tailWriter) op(i int, o *Op, heart bool) int {
	if o.Is("batchnorm") {
		return w.norm(i, o)
	}
	args := make([]int, len(o.Args))
	for j, a := range o.Args {
		if args[j] = a; a != Absent {
			args[j] = w.values[a]
		}
	}
	y := w.put(Op{Call: o.Call, As: o.As, Args: args})
	if heart && len(args) > 2 && args[2] != Absent {
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
