package kernel

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
)

// convRow runs a convolution of float32 with what follows it element by element:
// bias, norm by running statistics, residual, activation.
var convRow = &Row{Name: "conv/f32", reach: reach{heart: aConvolution, rest: anything}, ways: convWays, Make: makeConv}

func makeConv(b *Body, o *Options) (*Prepared, string) {
	heart, why := convOf(b)
	if why != "" {
		return nil, why
	}
	t, why := newConvTask(b, heart, o)
	if why != "" {
		return nil, why
	}
	t.work = t.estimate(b.Ops[heart].Call, o.Level)
	if t.tail != nil {
		t.work += t.tail.sheet.work(o.Level)
	}
	return &Prepared{Work: t.work, Within: t.within(), Runner: t}, ""
}

// convOf finds the convolution of a body: views alone stand before it, and one product,
// of which scaleOf tells.
func convOf(b *Body) (heart int, why string) {
	heart = nextCall(b, 0)
	if b.Ops[heart].Is("mul") && heart+1 < len(b.Ops) {
		heart = nextCall(b, heart+1)
	}
	c := b.Ops[heart].Call
	if !b.Ops[heart].Is("conv") {
		return 0, notMine
	}
	for _, t := range c.In {
		if !t.Absent() && t.DType != tensor.F32 {
			return 0, t.DType.String()
		}
	}
	return heart, ""
}

// nextCall is the first operator from a place on that is no view, or the last one.
func nextCall(b *Body, from int) int {
	for from < len(b.Ops)-1 && b.Ops[from].Call == nil {
		from++
	}
	return from
}

// scaleOf finds what a convolution's input is multiplied by, if there is one number for
// each channel of each image: the input that is multiplied, and that of the factors.
func scaleOf(b *Body, heart int) (x, factors int, ok bool) {
	v := b.Ops[heart].Args[0]
	if v < len(b.In) {
		return 0, 0, false
	}
	o, _ := b.Def(v)
	if !o.Is("mul") || b.Uses(v) != 1 {
		return 0, 0, false
	}
	want := o.Call.Out[0].Ints()
	factor := slices.Clone(want)
	for i := range factor[2:] {
		factor[2+i] = 1
	}
	for i, a := range o.Args {
		other := o.Args[1-i]
		if slices.Equal(b.Type(a).Ints(), want) && slices.Equal(b.Type(other).Ints(), factor) && planeSize(want) > 1 {
			x, factors = origin(b, a), origin(b, other)
			return x, factors, x != Absent && factors != Absent
		}
	}
	return 0, 0, false
}

// origin is the input that a value is a view of, or Absent.
func origin(b *Body, v int) int {
	for v >= len(b.In) {
		o, _ := b.Def(v)
		if o.Call != nil {
			return Absent
		}
		v = o.Args[0]
	}
	return v
}

// A convolver is one of package conv's kernels.
type convolver interface {
	Divide(parts int) int
	Units() int
	Room() int
	Compute(w *conv.Work, u int, x, filters []float32) conv.Tile
}

// A storer is a convolver that takes sums through an ending while it has them in registers.
type storer interface {
	Store(w *conv.Work, u int, x, filters []float32, e *conv.Ending, y, rest []float32)
	Ended(w *conv.Work, u int, x, filters []float32, e *conv.Ending) conv.Tile
}

// A convTask is the Runner of a convolution.
type convTask struct {
	convolver
	storer         storer    // the convolver, if it is one
	x, w           int       // inputs
	factors        int       // the input of what x is multiplied by, or Absent
	packed         []float32 // w as the convolver takes it; nil: as it is
	depth          int       // products of a sum
	own            int       // of convWays
	shape          conv.Shape
	constant       bool // w is
	work           int64
	channels, size int // of the result: its places in a channel

	level  isa.Level
	ending *conv.Ending
	rest   int         // the input that is added to the sums behind their steps, or Absent
	tail   *tail       // what the ending does not have; nil: nothing
	more   []*tensor.T // inputs of the tail behind those of the task
}

func newConvTask(b *Body, heart int, o *Options) (*convTask, string) {
	op := &b.Ops[heart]
	c := op.Call
	axes, err := axesOf(c)
	if err != nil {
		return nil, "it is not legal" // which its evaluation says at length
	}
	t := &convTask{x: origin(b, op.Args[0]), w: origin(b, op.Args[1]), factors: Absent}
	shape := shapeOf(c, axes)
	if t.x == Absent {
		var ok bool
		if t.x, t.factors, ok = scaleOf(b, heart); !ok || !conv.ScaledAt(shape) {
			return nil, "its input is computed in the same task"
		}
	}
	if t.w == Absent {
		return nil, "its filters are computed in the same task"
	}
	t.depth, t.channels, t.size = planeSize(c.In[1].Ints())*shape.Channels, c.Out[0].Ints()[1], planeSize(c.Out[0].Ints())
	if why := t.follow(b, heart, o.Level); why != "" {
		return nil, why
	}
	t.ready(shape, b.Const[t.w], o)
	return t, ""
}

func shapeOf(c *ir.Call, axes []conv.Axis) conv.Shape {
	x, w, groups := c.In[0].Ints(), c.In[1].Ints(), int(c.Int("groups"))
	return conv.Shape{Images: x[0], Groups: groups, Channels: w[1], Filters: w[0] / groups, Axes: axes}
}

// ready makes the convolver and packs constant filters for it.
func (t *convTask) ready(shape conv.Shape, w *tensor.T, o *Options) {
	t.shape, t.constant = shape, w != nil
	t.own = convWay(shape, t.constant, o)
	if t.own == convThin && t.factors != Absent {
		t.own = convUpright
	}
	switch t.own {
	case convThin:
		thin := conv.NewThin(o.Level, shape)
		t.convolver, t.storer = thin, thin
		return
	case convWinograd:
		t.convolver = conv.NewWinograd(o.Level, shape)
	case convFlat:
		f := conv.NewFlat(o.Level, shape)
		if t.factors != Absent {
			f.Scale()
		}
		if t.tail != nil {
			f.Tile()
		}
		f.Divide(1)
		t.convolver, t.storer = f, f
	default:
		d := conv.NewDense(o.Level, shape, t.constant)
		turned := t.own == convTurned
		again := turned != d.Turned() || t.factors != Absent
		if d.Stand(turned); t.factors != Absent {
			d.Scale()
		}
		if again {
			d.Divide(1)
		}
		t.convolver = d
	}
	if t.constant {
		t.packed = packed(o, w, func(level isa.Level) Layout { return filtersAt(level, shape, w, t.own, o) })
	}
}

// Filters are packed by what has a layout for them.
type filters interface {
	Layout() string // empty: they are taken as they are
	Packed() int
	Pack(dst, w []float32)
}

// filtersAt is how the convolver of a level takes constant filters: in the way that was
// chosen for this level, and for others as they find best.
func filtersAt(level isa.Level, shape conv.Shape, w *tensor.T, way int, o *Options) Layout {
	f := filtersOf(level, shape, way, level == o.Level)
	layout := f.Layout()
	if layout == "" {
		return Layout{}
	}
	name := fmt.Sprintf("%s v%d", layout, gemm.LayoutVersion)
	return Layout{name, f.Packed(), func(dst []float32) { f.Pack(dst, tensor.Of[float32](w)) }}
}

func filtersOf(level isa.Level, shape conv.Shape, way int, chosen bool) filters {
	if way == convWinograd {
		return conv.WinogradFiltersOf(level, shape)
	}
	if chosen && way == convFlat || !chosen && conv.FlatPays(level, shape) {
		return conv.FlatFiltersOf(level, shape)
	}
	d := conv.FiltersOf(level, shape)
	if chosen {
		d.Stand(way == convTurned)
	}
	return d
}

// follow makes the ending and the tail, if there is one, and looks whether a result may
// lie in its input's memory.
func (t *convTask) follow(b *Body, heart int, level isa.Level) (why string) {
	plain, steps, why := plainTail(b, heart)
	if why != "" {
		return why
	}
	e, ended := endOf(plain, heart)
	t.level, t.rest = level, e.rest
	t.ending = conv.NewEnding(steps, e.lo, e.hi)
	if !ended {
		t.more = plain.Const[len(b.In):]
		if t.tail, why = tailOf(plain, heart, len(b.Ops[heart].Call.Out[0].Shape)-2, level); why != "" {
			return why
		}
	}
	if i := b.InPlace; i != Absent && (i == t.x || i == t.w || i == t.factors || !t.follows(i)) {
		return "it needs the argument that it replaces until the end"
	}
	return ""
}

// follows reports whether each element of an input is needed for the same element of the
// result alone.
func (t *convTask) follows(input int) bool {
	if t.tail == nil {
		return input == t.rest
	}
	return t.tail.sheet.follows(input)
}

// within bounds the error of sums in one chain, or of transforms, and that of the tail.
func (t *convTask) within() float64 {
	w := 0x1p-23 * float64(t.depth+8)
	if t.own == convWinograd {
		w = conv.WinogradError(t.shape)
	}
	if t.tail != nil {
		w += t.tail.sheet.within
	}
	return w
}

// convWork estimates the time by nine in ten of the products that a level can do, and
// by bytes.
func convWork(c *ir.Call, level isa.Level) int64 {
	cost := c.Cost()
	flops := min(cost.Flops, MaxWork)
	return max(1, flops/convRate[level]+min(cost.In+cost.Out, MaxWork)/16)
}

// estimate is convWork, less what transforms save.
func (t *convTask) estimate(c *ir.Call, level isa.Level) int64 {
	work := convWork(c, level)
	if t.own == convWinograd {
		work = int64(float64(work) * conv.WinogradShare(t.shape))
	}
	return work
}

// convRate is floating point operations a nanosecond.
var convRate = map[isa.Level]int64{isa.Portable: 2, isa.AVX2: 80, isa.AVX512: 120, isa.NEON: 20}

// Parts cuts the places, and filters where there are few.
func (t *convTask) Parts(want int) int { return t.Divide(want) }

// Run computes the units of a part.
func (t *convTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	from, plain := tensor.Of[float32](in[t.x]), tensor.Of[float32](in[t.w])
	filters := t.packed
	if filters == nil {
		filters = plain
	}
	if len(t.more) > 0 {
		in = x.behind(in, t.more)
	}
	if room := x.Floats(t.Room()); !x.Again || !x.conv.Has(room) {
		x.conv.Begin(room, &x.gemm, plain)
	}
	if t.factors != Absent {
		x.conv.Factors = tensor.Of[float32](in[t.factors])
	}
	for u := t.Units() * part / parts; u < t.Units()*(part+1)/parts; u++ {
		if err := x.Stop(); err != nil {
			return err
		}
		t.unit(x, u, from, filters, out, in)
	}
	return nil
}

// unit computes unit number u and takes it to the results.
func (t *convTask) unit(x *Exec, u int, from, filters []float32, out, in []*tensor.T) {
	w := &x.conv
	switch {
	case t.storer != nil && t.tail == nil:
		t.storer.Store(w, u, from, filters, t.ending, tensor.Of[float32](out[0]), t.residual(in))
	case t.storer != nil:
		tile := t.storer.Ended(w, u, from, filters, t.ending)
		t.trail(x, &tile, out, in)
	default:
		tile := t.Compute(w, u, from, filters)
		t.finish(x, &tile, out, in)
	}
}

// residual is what is added to the sums; nil: nothing is.
func (t *convTask) residual(in []*tensor.T) []float32 {
	if t.rest == Absent {
		return nil
	}
	return tensor.Of[float32](in[t.rest])
}

// finish takes a tile to the results.
func (t *convTask) finish(x *Exec, tile *conv.Tile, out, in []*tensor.T) {
	if t.tail == nil {
		tile.Store(&x.conv, t.level, t.ending, tensor.Of[float32](out[0]), t.residual(in), t.channels, t.size)
		return
	}
	for i := range tile.Lines() {
		l := tile.Line(i)
		l.Upright(&x.conv, t.level, t.ending)
		t.trail(x, &l, out, in)
	}
}

// trail takes a tile of one line, which is upright, through the tail.
func (t *convTask) trail(x *Exec, l *conv.Tile, out, in []*tensor.T) {
	t.tail.box(x, []strip.View{strip.Matrix(l.Data, l.Ld)}, l.Image, l.Channel, l.Channels, l.Place, l.Places, out, in)
}
