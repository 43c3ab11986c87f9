package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/norm"
)

// reduceRow runs reductions along any axes that lie in one or two groups.
var reduceRow = &Row{Name: "reduce/f32", reach: reach{heart: aReduction, rest: anElement | aMove}, ways: rowsSizes.names("floats"), Make: makeReduce}

// reductions has the operators, and how far float64 that is added up in another order
// may be off once it is rounded.
var reductions = map[string]struct {
	f      norm.Reduction
	within float64
}{
	"sum":           {norm.Sum, 2e-7},
	"mean":          {norm.Mean, 2e-7},
	"sum_square":    {norm.SumSquare, 2e-7},
	"norm1":         {norm.Norm1, 2e-7},
	"norm2":         {norm.Norm2, 2e-7},
	"prod":          {norm.Prod, 2e-7},
	"max":           {norm.Max, 0},
	"min":           {norm.Min, 0},
	"variance":      {norm.Variance, 2e-7},
	"std":           {norm.Std, 2e-7},
	"logsumexp":     {norm.LogSumExp, 5e-7},
	"any":           {norm.Any, 0},
	"all":           {norm.All, 0},
	"count_nonzero": {norm.CountNonzero, 0},
	"argmax":        {norm.ArgMax, 0},
	"argmin":        {norm.ArgMin, 0},
}

func makeReduce(b *Body, o *Options) (*Prepared, string) {
	c := oneCall(b)
	if c == nil {
		return makeRows(b, o, func(name string) bool { _, ok := reductions[name]; return ok })
	}
	r, ok := reductions[c.Op.Name]
	if !ok {
		return nil, notMine
	}
	if d := c.In[0].DType; d != tensor.F32 {
		return nil, "its elements are " + d.String()
	}
	shape := c.In[0].Ints()
	y, why := layoutOf(shape, reducedAxes(c.Attr("axis"), len(shape)))
	if why == "" && (y.Size() == 0 || b.InPlace != Absent) {
		why = "there is nothing to reduce"
	}
	if why != "" {
		return nil, why
	}
	t := &reduceTask{f: r.f, layout: y, level: o.Level, correction: correctionOf(c), units: y.Units()}
	size := count(shape)
	t.batch = batchOf(t.units, size)
	return &Prepared{Work: rowsWork(o.Level, size), Within: r.within, Runner: t}, ""
}

// correctionOf is what a variance takes off the number of elements.
func correctionOf(c *ir.Call) int {
	for i, a := range c.Op.Attrs {
		if a.Name == "correction" {
			return int(c.Attrs[i].Int)
		}
	}
	return 0
}

// resultsOf are the elements of a reduction's result.
func resultsOf(t *tensor.T) (r norm.Results) {
	switch t.DType {
	case tensor.F32:
		r.F32 = tensor.Of[float32](t)
	case tensor.I64:
		r.I64 = tensor.Of[int64](t)
	default:
		r.Bool = t.Data
	}
	return r
}

// reducedAxes marks the axes of an attribute: a list, one, or absent for all.
func reducedAxes(l ir.Lit, rank int) []bool {
	marks := make([]bool, rank)
	axes := l.Ints
	switch l.Kind {
	case ir.KInts:
	case ir.KInt:
		axes = []int64{l.Int}
	default:
		for i := range marks {
			marks[i] = true
		}
	}
	for _, a := range axes {
		marks[(int(a)+rank)%rank] = true
	}
	return marks
}

// layoutOf takes neighbouring axes together that are both reduced or both not. Axes
// of size 1 are neither.
func layoutOf(shape []int, reduced []bool) (y norm.Layout, why string) {
	y = norm.Layout{Space: norm.Space{Outer: 1, N: 1, Inner: 1}, Times: 1}
	var sizes []int // of kept and reduced axes in turns, beginning with kept ones
	for i, n := range shape {
		if n == 1 {
			continue
		}
		for len(sizes) == 0 || (len(sizes)%2 == 0) != reduced[i] {
			sizes = append(sizes, 1)
		}
		sizes[len(sizes)-1] *= n
	}
	for len(sizes) < 3 {
		sizes = append(sizes, 1)
	}
	if len(sizes) == 3 {
		y.Outer, y.N, y.Inner = sizes[0], sizes[1], sizes[2]
		return y, ""
	}
	if sizes[0] != 1 || len(sizes) > 5 {
		return y, "its axes lie in several groups"
	}
	y.Times, y.Outer, y.N = sizes[1], sizes[2], sizes[3]
	if len(sizes) == 5 {
		y.Inner = sizes[4]
	}
	if y.Times == 0 {
		y.Times, y.N = 1, 0 // what is reduced is empty, so that no result has a place in it
	}
	y.Apart = y.Outer * y.N * y.Inner
	return y, ""
}

type reduceTask struct {
	f          norm.Reduction
	layout     norm.Layout
	level      isa.Level
	correction int
	units      int
	batch      int // units
}

func (t *reduceTask) Parts(want int) int { return max(1, min(want, t.units)) }

func (t *reduceTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	dst := resultsOf(out[0])
	src := tensor.Of[float32](in[0])
	lo, n := share(t.units, part, parts, 1)
	for hi := lo + n; lo < hi; lo += t.batch {
		if err := x.Stop(); err != nil {
			return err
		}
		x.rows().Fold(t.level, t.f, &t.layout, lo, min(lo+t.batch, hi), dst, src, t.correction)
	}
	return x.halted()
}
