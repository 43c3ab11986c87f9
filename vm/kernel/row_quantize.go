package kernel

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// quantizeRow makes bytes of rows, by scales of their own:
//
//	abs, max, div, quantize_linear   =>   the largest magnitude of a row, and while it
//	                                      is in the cache, what is divided by its scale
//
// The scales may have a least value, which maximum gives them. They are a result, or the
// bytes are, or both.
var quantizeRow = &Row{Name: "quantize/f32", reach: reach{heart: aReduction, rest: anElement}, Make: makeQuantize}

// A quantizeTask is the Runner of such a body.
type quantizeTask struct {
	level         isa.Level
	rows, n       int
	from          int     // the input
	by            float32 // the largest magnitude divided by this is the scale
	held          bool    // the scale is least at least
	least         float32
	bytes, scales int // results, or Absent
}

func makeQuantize(b *Body, o *Options) (*Prepared, string) {
	last := len(b.Ops) - 1
	if last < 3 || last > 4 || !b.Ops[last].Is("quantize_linear") {
		return nil, notMine
	}
	t := &quantizeTask{level: o.Level, bytes: Absent, scales: Absent}
	quantize := &b.Ops[last]
	scale, ok := b.operator(quantize.Args[1], "maximum")
	divided := scale
	if ok {
		t.least, t.held = b.number(scale.Args[1])
		ok = t.held
		divided, _ = b.operator(scale.Args[0], "div")
	} else if scale, ok = b.operator(quantize.Args[1], "div"); ok {
		divided, ok = scale, last == 3
	}
	c := quantize.Call
	switch {
	case !ok || divided == nil || !t.rowsOf(b, quantize, divided):
		return nil, "its scales are not those of its rows"
	case len(quantize.Args) > 2 && quantize.Args[2] != Absent || c.Out[0].DType != tensor.I8 || c.In[0].DType != tensor.F32:
		return nil, "it makes " + c.Out[0].DType.String() + " of " + dtypes(c)
	case b.InPlace != Absent:
		return nil, "it replaces an argument"
	}
	for i, v := range b.Out {
		switch v {
		case quantize.First:
			t.bytes = i
		case scale.First:
			t.scales = i
		default:
			return nil, "another result"
		}
	}
	return &Prepared{Work: quantizeWork(o.Level, t.rows*t.n), Runner: t}, ""
}

// rowsOf finds whether a scale is the largest magnitude of each row of what is quantized,
// divided by a number.
func (t *quantizeTask) rowsOf(b *Body, quantize, scale *Op) bool {
	x := quantize.Args[0]
	top, ok := b.operator(scale.Args[0], "max")
	if !ok || x >= len(b.In) {
		return false
	}
	abs, ok := b.operator(top.Args[0], "abs")
	if !ok || abs.Args[0] != x {
		return false
	}
	shape := b.In[x].Ints()
	y, why := layoutOf(shape, reducedAxes(top.Call.Attr("axis"), len(shape)))
	if why != "" || y.Times != 1 || y.Inner != 1 || y.Size() == 0 || len(top.Call.Out[0].Shape) != len(shape) {
		return false
	}
	if t.by, ok = b.number(scale.Args[1]); !ok {
		return false
	}
	t.from, t.n = x, y.N
	t.rows = count(shape) / t.n
	return true
}

// operator is the operator of a name that makes a value; nil for another one.
func (b *Body) operator(v int, name string) (*Op, bool) {
	if v < len(b.In) {
		return nil, false
	}
	o, _ := b.Def(v)
	if o == nil || !o.Is(name) {
		return nil, false
	}
	return o, true
}

// number is the only element of a float constant, without axes.
func (b *Body) number(v int) (x float32, ok bool) {
	t := b.Value(v)
	if t == nil || len(t.Shape) > 0 || t.DType != tensor.F32 {
		return 0, false
	}
	return float32(t.FloatAt(0)), true
}

// quantizeWork estimates nanoseconds.
func quantizeWork(level isa.Level, n int) int64 {
	pico := int64(150)
	if level == isa.Portable || level == isa.NEON {
		pico = 3000
	}
	return max(1, min(int64(n)*pico/1000, MaxWork))
}

func (t *quantizeTask) Parts(want int) int { return max(1, min(want, t.rows)) }

func (t *quantizeTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	row, rows := share(t.rows, part, parts, 1)
	src := floats(in[t.from])
	for i := row; i < row+rows; i++ {
		if i%quantizeStop == 0 {
			if err := x.Stop(); err != nil {
				return err
			}
		}
		line := src[i*t.n : (i+1)*t.n]
		top := narrow.Largest(t.level, line)
		scale := top / t.by
		if t.held {
			scale = max(scale, t.least) // of NaN and another it is NaN, as the operator's
		}
		if t.scales != Absent {
			floats(out[t.scales])[i] = scale
		}
		if t.bytes != Absent {
			narrow.QuantizeRow(t.level, tensor.Of[int8](out[t.bytes])[i*t.n:(i+1)*t.n], line, scale, top)
		}
	}
	return nil
}

// quantizeStop is after how many rows it is asked whether to go on.
const quantizeStop = 64
