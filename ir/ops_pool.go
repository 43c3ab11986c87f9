package ir

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Pooling: the largest element or the mean under each place of a window. Both
// fold one axis after the other, from the last, so that a window of k x k costs
// 2k steps a place. Sums are in float64 and rounded once.

var (
	kernelAttr = Attr{Name: "kernel", Kind: KInts, Required: true, Doc: "the size of the window, one number or one for each axis"}
	strideAttr = Attr{Name: "stride", Kind: KInts, Doc: "the distance of two places, one number or one for each axis; absent: the window's size"}
	ceilAttr   = Attr{Name: "ceil", Kind: KBool, Default: BoolLit(false), Doc: "whether the number of places is rounded up: the last window may reach over the end"}
)

var (
	MaxPool = row(Op{
		Name: "max_pool", Group: "convolution", Class: Reduce, Unit: Vector, Over: Numbers,
		Doc:   "the largest element of each window of x [N, C, spatial...]; NaN if one is, and padding is never the largest",
		Args:  []string{"x"},
		Attrs: []Attr{kernelAttr, strideAttr, padAttr, ceilAttr, dilationAttr, autoPadAttr},
		Infer: inferPool, Asserts: assertPool, Cost: costPool, Eval: evalMaxPool,
		Sample: func(r *rand.Rand) Call { return samplePool(r, Numbers) },
	})
	AvgPool = row(Op{
		Name: "avg_pool", Group: "convolution", Class: Reduce, Unit: Vector, Over: Floats,
		Doc:  "the mean of each window of x [N, C, spatial...]",
		Args: []string{"x"},
		Attrs: []Attr{kernelAttr, strideAttr, padAttr, ceilAttr,
			{Name: "count_pad", Kind: KBool, Default: BoolLit(false), Doc: "whether padding counts as zeros; what a rounded-up last window has beyond the padding never counts"},
			dilationAttr, autoPadAttr},
		Infer: inferPool, Asserts: assertPool, Cost: costPool, Eval: evalAvgPool,
		Sample: func(r *rand.Rand) Call {
			c := samplePool(r, Floats)
			c.Attrs = slices.Insert(c.Attrs, 4, (&sampler{r}).flag())
			return c
		},
	})
	GlobalMaxPool = row(Op{
		Name: "global_max_pool", Group: "convolution", Class: Reduce, Unit: Vector, Over: Numbers,
		Doc:   "the largest element of each channel of x [N, C, spatial...], NaN if one is; of none it is -inf, or the dtype's smallest integer",
		Args:  []string{"x"},
		Infer: inferGlobalPool, Cost: costGlobalPool, Eval: evalGlobalMax,
		Sample: func(r *rand.Rand) Call { return sampleOf((&sampler{r}).typ(Numbers, 3, 5)) },
	})
	GlobalAvgPool = row(Op{
		Name: "global_avg_pool", Group: "convolution", Class: Reduce, Unit: Vector, Over: Floats,
		Doc:   "the mean of each channel of x [N, C, spatial...]; of none it is NaN",
		Args:  []string{"x"},
		Infer: inferGlobalPool, Cost: costGlobalPool, Eval: evalGlobalAvg,
		Sample: func(r *rand.Rand) Call { return sampleOf((&sampler{r}).typ(Floats, 3, 5)) },
	})
)

// poolSlides is slidesOf for a pool. Padding as wide as the window would make
// places that see nothing.
func poolSlides(c *Call) ([]slide, error) {
	kernel, err := perAxis(c, "kernel", c.In[0].Rank()-2, 1)
	if err != nil {
		return nil, err
	}
	size := room[Dim](c, len(kernel))
	for i, n := range kernel {
		size[i] = N(n)
	}
	slides, err := slidesOf(c, size)
	if err != nil {
		return nil, err
	}
	for i := range slides {
		s := &slides[i]
		s.ceil = c.Bool("ceil")
		if !LessEq(MaxOf(s.before, s.behind).Add(N(1)), s.reach()) {
			return nil, Errorf("out-of-range", "padding %s and %s is not smaller than the window of %s", s.before, s.behind, s.reach())
		}
	}
	return slides, nil
}

func inferPool(c *Call) ([]Type, error) {
	if err := checkOver(c, 0); err != nil {
		return nil, err
	}
	if err := checkSpatial(c); err != nil {
		return nil, err
	}
	slides, err := poolSlides(c)
	if err != nil {
		return nil, err
	}
	x := c.In[0]
	spatial, err := slideAll(c, slides)
	return []Type{{x.DType, append(slices.Clone(x.Shape[:2]), spatial...)}}, err
}

func assertPool(c *Call) []Assert {
	slides, err := poolSlides(c)
	if err != nil {
		return nil
	}
	return assertSlides(c, slides)
}

// costPool counts a step for each element of the window.
func costPool(c *Call) Cost {
	kernel, _ := perAxis(c, "kernel", c.In[0].Rank()-2, 1)
	steps := c.Out[0].Elements()
	for _, k := range kernel {
		steps = steps.Mul(N(k)) // saturates
	}
	cost := DefaultCost(c, 0)
	cost.Flops, _ = steps.Const()
	return cost
}

func inferGlobalPool(c *Call) ([]Type, error) {
	if err := checkOver(c, 0); err != nil {
		return nil, err
	}
	if err := checkSpatial(c); err != nil {
		return nil, err
	}
	x := c.In[0]
	return []Type{{x.DType, append(slices.Clone(x.Shape[:2]), slices.Repeat([]Dim{N(1)}, x.Rank()-2)...)}}, nil
}

// costGlobalPool counts a step for each element.
func costGlobalPool(c *Call) Cost {
	cost := DefaultCost(c, 0)
	cost.Flops, _ = c.In[0].Elements().Const()
	return cost
}

// A pooling is what a pool does with elements, from an initial value on.
type pooling[W wide] struct {
	width  width[W]
	start  W
	across func(to, from []W)                // to[i] = to[i] with from[i]
	along  func(acc W, line []W, step int) W // acc with every step-th of line
}

func maxPooling[W wide](w width[W], lowest W) pooling[W] {
	return pooling[W]{w, lowest, maxAcross[W], maxAlong[W]}
}

func maxAcross[W wide](to, from []W) {
	for i, v := range from {
		to[i] = max(to[i], v)
	}
}

func maxAlong[W wide](acc W, line []W, step int) W {
	for i := 0; i < len(line); i += step {
		acc = max(acc, line[i])
	}
	return acc
}

var sumPooling = pooling[float64]{asFloats, 0, sumAcross, sumAlong}

func sumAcross(to, from []float64) {
	for i, v := range from {
		to[i] += v
	}
}

func sumAlong(acc float64, line []float64, step int) float64 {
	for i := 0; i < len(line); i += step {
		acc += line[i]
	}
	return acc
}

// span is which elements of the axis the window sees at a place: from first on
// to before end, in steps of spread; none if end is not behind first.
func (s spatial) span(place int) (first, end int) {
	first = place*s.step - s.before
	end = min(s.in, first+(s.size-1)*s.spread+1)
	if first < 0 {
		first += (-first + s.spread - 1) / s.spread * s.spread
	}
	return first, max(first, end)
}

// axis folds one axis of x, which is [outer, in, inner].
func (f pooling[W]) axis(to, x []W, outer int, s spatial, inner int) []W {
	to = to[:outer*s.out*inner]
	for i := range to {
		to[i] = f.start
	}
	for o := range outer {
		from := x[o*s.in*inner:]
		for place := range s.out {
			at := (o*s.out + place) * inner
			first, end := s.span(place)
			if inner == 1 {
				if first < end {
					to[at] = f.along(f.start, from[first:end], s.spread)
				}
				continue
			}
			for q := first; q < end; q += s.spread {
				f.across(to[at:at+inner], from[q*inner:(q+1)*inner])
			}
		}
	}
	return to
}

// pool folds each channel's plane, last axis first, lets finish see it, and
// stores it.
func (f pooling[W]) pool(c *Call, out, x *tensor.T, axes []spatial, finish func([]W)) error {
	if out.Len() == 0 {
		return nil
	}
	planes := x.Shape[0] * x.Shape[1]
	size, places := x.Len()/planes, out.Len()/planes
	if size == 0 {
		none := allTheSame(c, f.start, places)
		finish(none)
		for p := range planes {
			f.width.store(out, p*places, none)
		}
		return nil
	}
	most := size // of any plane on the way
	for i, n := len(axes)-1, 1; i >= 0; i-- {
		n *= axes[i].out
		before, _, _ := extent(x.Shape[2:], i)
		most = max(most, before*n)
	}
	lent, err := borrow(c, size+2*most)
	if err != nil {
		return err
	}
	defer lent.giveBack()
	plane, next, other := room[W](c, size), room[W](c, most), room[W](c, most)
	before := room[int](c, len(axes)) // elements of the axes before each one
	for i := range axes {
		before[i], _, _ = extent(x.Shape[2:], i)
	}
	for p := range planes {
		if p*size/stopEvery != (p+1)*size/stopEvery {
			if err := c.Budget.stop(); err != nil {
				return err
			}
		}
		f.width.load(x, plane, p*size)
		to, inner := plane, 1
		for i := len(axes) - 1; i >= 0; i-- {
			to = f.axis(next, to, before[i], axes[i], inner)
			next, other = other, next
			inner *= axes[i].out
		}
		finish(to)
		f.width.store(out, p*places, to)
	}
	return nil
}

// boundSlides is poolSlides of a bound call.
func boundSlides(c *Call) ([]spatial, error) {
	slides, err := poolSlides(c)
	if err != nil {
		return nil, err
	}
	return bindAll(c, slides)
}

func evalMaxPool(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	axes, err := boundSlides(c)
	if err != nil {
		return nil, err
	}
	out := results(c)
	return out, maxPools[in[0].DType.Kind()](c, out[0], in[0], axes)
}

// maxPools is, by the kind of dtype, the maximum in the type that holds every
// element.
var maxPools = [...]func(c *Call, out, x *tensor.T, axes []spatial) error{
	tensor.Float: func(c *Call, out, x *tensor.T, axes []spatial) error {
		return maxPooling(asFloats, math.Inf(-1)).pool(c, out, x, axes, func([]float64) {})
	},
	tensor.Signed: func(c *Call, out, x *tensor.T, axes []spatial) error {
		return maxPooling(asInts, tensor.MinInt(x.DType)).pool(c, out, x, axes, func([]int64) {})
	},
	tensor.Unsigned: func(c *Call, out, x *tensor.T, axes []spatial) error {
		return maxPooling(asUints, 0).pool(c, out, x, axes, func([]uint64) {})
	},
}

func evalAvgPool(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	axes, err := boundSlides(c)
	if err != nil {
		return nil, err
	}
	out := results(c)
	if out[0].Len() == 0 {
		return out, nil
	}
	divisors := windowCounts(c, axes, c.Bool("count_pad"))
	return out, sumPooling.pool(c, out[0], in[0], axes, func(sums []float64) {
		for i := range sums {
			sums[i] /= divisors[i]
		}
	})
}

// windowCounts is how many elements each place's window counts: the product of
// those along each axis.
func windowCounts(c *Call, axes []spatial, padding bool) []float64 {
	counts := allTheSame(c, 1.0, 1)
	for _, s := range axes {
		next := room[float64](c, len(counts)*s.out)[:0]
		for _, n := range counts {
			for place := range s.out {
				next = append(next, n*float64(s.counted(place, padding)))
			}
		}
		counts = next
	}
	return counts
}

func (s spatial) counted(place int, padding bool) int {
	first, end := s.span(place)
	if padding {
		first = place*s.step - s.before
		end = min(s.last, first+(s.size-1)*s.spread+1)
	}
	return (end - first + s.spread - 1) / s.spread
}

// whole is the one window that covers each spatial axis of x.
func whole(c *Call, x *tensor.T) []spatial {
	axes := room[spatial](c, len(x.Shape)-2)
	for i := range axes {
		n := x.Shape[2+i]
		axes[i] = spatial{in: n, out: 1, size: n, step: 1, spread: 1, last: n}
	}
	return axes
}

func evalGlobalMax(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	return out, maxPools[in[0].DType.Kind()](c, out[0], in[0], whole(c, in[0]))
}

func evalGlobalAvg(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	if out[0].Len() == 0 {
		return out, nil
	}
	n := float64(in[0].Len() / out[0].Len())
	return out, sumPooling.pool(c, out[0], in[0], whole(c, in[0]), func(sums []float64) { sums[0] /= n })
}

// samplePool draws windows that fit, with padding smaller than them.
func samplePool(r *rand.Rand, over DTypes) Call {
	s := &sampler{r}
	x := T(s.dtype(over), s.dim(), s.dim())
	var kernel, stride, pad, dilation []int64
	for range 1 + s.IntN(3) {
		k, spread := 1+s.Int64N(3), 1+s.Int64N(2)
		reach := (k-1)*spread + 1
		x.Shape = append(x.Shape, N(reach+s.Int64N(4)))
		kernel, dilation = append(kernel, k), append(dilation, spread)
		stride = append(stride, 1+s.Int64N(3))
		pad = append(pad, s.Int64N(reach), s.Int64N(reach))
	}
	return sampleOf(x, IntsLit(kernel...), s.orNone(IntsLit(stride...)), IntsLit(pad...), s.flag(), IntsLit(dilation...), s.autoPad())
}
