package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/isa"
)

// poolRow runs pools of float32: windows by package conv's Pool, whole planes by its
// sums and largest elements.
var poolRow = &Row{Name: "pool/f32", reach: reach{heart: aPool, alone: true}, Make: makePool}

// pools are the operators that it knows.
var pools = map[string]func(c *ir.Call, level isa.Level) (Runner, string){
	"max_pool":        func(c *ir.Call, level isa.Level) (Runner, string) { return newPool(c, level, false) },
	"avg_pool":        func(c *ir.Call, level isa.Level) (Runner, string) { return newPool(c, level, true) },
	"global_max_pool": func(c *ir.Call, level isa.Level) (Runner, string) { return newWholePool(c, level, false), "" },
	"global_avg_pool": func(c *ir.Call, level isa.Level) (Runner, string) { return newWholePool(c, level, true), "" },
}

// poolWithin bounds what a mean is off: by the sum of up to a thousand floats in one
// chain, of which more make a chain of chains; what is largest is exact, but for the
// bits of NaN.
const poolWithin = 1e-5

func makePool(b *Body, o *Options) (*Prepared, string) {
	c := oneCall(b)
	if c == nil || pools[c.Op.Name] == nil {
		return nil, notMine
	}
	if c.In[0].DType != tensor.F32 {
		return nil, c.In[0].DType.String()
	}
	if b.InPlace != Absent {
		return nil, "it needs its argument until the end"
	}
	r, why := pools[c.Op.Name](c, o.Level)
	if r == nil {
		return nil, why
	}
	return &Prepared{Work: poolWork(c), Within: poolWithin, Runner: r}, ""
}

// poolWork estimates a quarter of a nanosecond for each element of the input and
// half a one for each of the result.
func poolWork(c *ir.Call) int64 {
	cost := c.Cost()
	return min(MaxWork, max(1, cost.In/16+cost.Out/8))
}

// axesOf are the spatial axes of a call with windows.
func axesOf(c *ir.Call) ([]conv.Axis, error) {
	windows, err := ir.WindowsOf(c)
	axes := make([]conv.Axis, len(windows))
	for i, w := range windows {
		axes[i] = conv.Axis(w)
	}
	return axes, err
}

// A windowPool is the Runner of max_pool and avg_pool.
type windowPool struct{ *conv.Pool }

func newPool(c *ir.Call, level isa.Level, mean bool) (Runner, string) {
	axes, err := axesOf(c)
	if err != nil {
		return nil, "it is not legal" // which its evaluation says at length
	}
	out := c.Out[0].Ints()
	planes := out[0] * out[1]
	if !mean {
		return &windowPool{conv.NewMaxPool(level, planes, axes)}, ""
	}
	var counts [][]int
	for _, a := range axes {
		counts = append(counts, a.Counts(c.Bool("count_pad")))
	}
	return &windowPool{conv.NewMeanPool(level, planes, axes, counts)}, ""
}

// Parts cuts the planes, or rows of them.
func (p *windowPool) Parts(want int) int { return p.Divide(want) }

// Run computes the units of a part.
func (p *windowPool) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	from, y := tensor.Of[float32](in[0]), tensor.Of[float32](out[0])
	w := &x.conv
	w.Begin(x.Floats(p.Room()), nil, nil)
	for u := p.Units() * part / parts; u < p.Units()*(part+1)/parts; u++ {
		if err := x.Stop(); err != nil {
			return err
		}
		p.Compute(w, u, from, y)
	}
	return nil
}

// A wholePool is the Runner of pools over whole planes.
type wholePool struct {
	level        isa.Level
	mean         bool
	planes, size int // of x
}

func newWholePool(c *ir.Call, level isa.Level, mean bool) Runner {
	in := c.In[0].Ints()
	return &wholePool{level, mean, in[0] * in[1], planeSize(in)}
}

// Parts cuts the planes.
func (p *wholePool) Parts(want int) int { return max(1, min(want, p.planes)) }

// stopEvery is how many elements are looked at before the budget is asked again, but for
// those of a plane.
const stopEvery = 1 << 20

func (p *wholePool) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	from, y := tensor.Of[float32](in[0]), tensor.Of[float32](out[0])
	lanes := (*[16]float32)(x.Floats(16))
	first, end := p.planes*part/parts, p.planes*(part+1)/parts
	each := max(1, stopEvery/max(1, p.size))
	for at := first; at < end; at += each {
		if err := x.Stop(); err != nil {
			return err
		}
		to := y[at:min(end, at+each)]
		p.compute(lanes, to, from[at*p.size:(at+len(to))*p.size])
	}
	return nil
}

// compute computes some planes.
func (p *wholePool) compute(lanes *[16]float32, y, x []float32) {
	if p.mean {
		conv.MeansOf(p.level, lanes, y, x, p.size)
		return
	}
	for i := range y {
		y[i] = conv.MostOf(p.level, lanes, x[i*p.size:(i+1)*p.size])
	}
}

// planeSize is the places of a plane of [N, C, spatial...].
func planeSize(shape []int) int {
	n := 1
	for _, s := range shape[2:] {
		n *= s
	}
	return n
}
