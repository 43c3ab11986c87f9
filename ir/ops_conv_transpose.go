package ir

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

// The transposed convolution puts x where the places of a convolution are, and gives what
// that would have seen there: each element of x adds a window to the result. Of stride 2,
// every other result sees the same elements of the window, so that it is one convolution
// for the even results and one for the odd ones (see Phase), which is how it is computed.

var ConvTranspose = row(Op{
	Name: "conv_transpose", Group: "convolution", Class: Contract, Unit: Cube, Over: Numbers,
	Doc: "each element of x [N, C, spatial...] times its filters w [C, M/groups, kernel...], added up where the windows of neighbours lie over each other, plus b [M]; " +
		"of n elements (n-1)*stride + dilation*(kernel-1) + 1 - padding + output_pad; sums in float64 (integers wrap), rounded once",
	Args: []string{"x", "w", "b?"},
	Attrs: []Attr{
		{Name: "stride", Kind: KInts, Default: IntsLit(1), Doc: "the distance of the windows of two neighbours in the result, one number or one for each axis"},
		{Name: "pad", Kind: KInts, Default: IntsLit(0), Doc: "how much of the result is left out, one number, one for each axis, or a pair before and behind for each"},
		{Name: "output_pad", Kind: KInts, Default: IntsLit(0), Doc: "how much longer the result is behind, less than the stride, one number or one for each axis"},
		dilationAttr,
		{Name: "groups", Kind: KInt, Default: IntLit(1), Doc: "channels are parted into that many groups, each with its own filters"},
	},
	Infer: inferConvTranspose, Asserts: assertConvTranspose, Cost: costConvTranspose, Eval: evalConvTranspose, Sample: sampleConvTranspose,
})

// A stretch is the way of the windows along one axis: a slide of which x has the places,
// and how much longer the result is.
type stretch struct {
	slide
	more Dim
}

func stretchesOf(c *Call) ([]stretch, error) {
	slides, err := paddedSlides(c, c.In[1].Shape[2:])
	if err != nil {
		return nil, err
	}
	more, err := perAxis(c, "output_pad", len(slides), 0)
	if err != nil {
		return nil, err
	}
	out := room[stretch](c, len(slides))
	for i, s := range slides {
		if out[i] = (stretch{s, N(more[i])}); !LessEq(N(more[i]+1), s.step) {
			return nil, Errorf("out-of-range", "output_pad is %d, not less than the stride of %s", more[i], s.step)
		}
	}
	return out, nil
}

// length is how many results there are of d elements of x.
func (s stretch) length(d Dim) Dim {
	return d.Sub(N(1)).Mul(s.step).Add(s.reach()).Sub(s.before).Sub(s.behind).Add(s.more)
}

func inferConvTranspose(c *Call) ([]Type, error) {
	if err := sameDType(c); err != nil {
		return nil, err
	}
	if err := checkSpatial(c); err != nil {
		return nil, err
	}
	x, w := c.In[0], c.In[1]
	if x.Rank() != w.Rank() {
		return nil, Errorf("rank-mismatch", "x has rank %d, the filters have rank %d", x.Rank(), w.Rank()).
			Label(0, "%s", x).Label(1, "%s", w).Note("%s", transposedForm)
	}
	if err := checkTransposedChannels(c); err != nil {
		return nil, err
	}
	stretches, err := stretchesOf(c)
	if err != nil {
		return nil, err
	}
	shape := []Dim{x.Shape[0], w.Shape[1].Mul(N(c.Int("groups")))}
	for i, s := range stretches {
		d := s.length(x.Shape[2+i])
		if n, known := d.Const(); s.size.Is(0) || known && n < 0 {
			return nil, Errorf("shape-mismatch", "windows of %s elements leave nothing of axis %d of size %s with padding %s and %s", s.reach(), 2+i, x.Shape[2+i], s.before, s.behind).
				Label(0, "%s", x)
		}
		shape = append(shape, d)
	}
	return []Type{{x.DType, shape}}, nil
}

const transposedForm = "conv_transpose(x: [N, C, spatial...], w: [C, M/groups, kernel...])"

// checkTransposedChannels checks what x, w and b must agree on.
func checkTransposedChannels(c *Call) error {
	x, w, groups := c.In[0], c.In[1], c.Int("groups")
	if groups < 1 {
		return Errorf("out-of-range", "groups is %d, not at least 1", groups)
	}
	if !x.Shape[1].Equal(w.Shape[0]) {
		return Errorf("shape-mismatch", "x has %s channels, the filters take %s", x.Shape[1], w.Shape[0]).
			Label(0, "%s, C = %s", x, x.Shape[1]).Label(1, "%s", w).Note("%s", transposedForm)
	}
	if n, known := x.Shape[1].Const(); known && n%groups != 0 {
		return Errorf("shape-mismatch", "%d channels do not divide into %d groups", n, groups).Label(0, "%s", x)
	}
	if !c.has(2) {
		return nil
	}
	if err := checkRank(c, 2, 1); err != nil {
		return err
	}
	if b, m := c.In[2], w.Shape[1].Mul(N(groups)); !b.Shape[0].Equal(m) {
		return Errorf("shape-mismatch", "there are %s filters and %s biases", m, b.Shape[0]).Label(1, "%s", w).Label(2, "%s", b)
	}
	return nil
}

// assertConvTranspose is that channels divide into groups, that each window has elements,
// and that padding leaves no less than nothing, where that depends on symbols.
func assertConvTranspose(c *Call) []Assert {
	stretches, err := stretchesOf(c)
	if err != nil {
		return nil
	}
	as := assertDivides(c.In[0].Shape[1], N(c.Int("groups")))
	for i, s := range stretches {
		as = append(as, assertSome(s.size)...)
		if out := s.length(c.In[0].Shape[2+i]); !LessEq(N(0), out) {
			as = append(as, Assert{Left: N(0), Rel: "<=", Right: out})
		}
	}
	return as
}

// costConvTranspose counts two flops for each product: each element of x meets the window
// of each of its filters.
func costConvTranspose(c *Call) Cost {
	filter := T(c.In[1].DType, c.In[1].Shape[1:]...)
	cost := DefaultCost(c, 0)
	cost.Flops, _ = c.In[0].Elements().Mul(filter.Elements()).Mul(N(2)).Const()
	return cost
}

func evalConvTranspose(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	if err := checkTransposedChannels(c); err != nil {
		return nil, err
	}
	stretches, err := stretchesOf(c)
	if err != nil {
		return nil, err
	}
	axes := room[spatial](c, len(stretches))
	for i, s := range stretches {
		axes[i] = s.bind(c.In[0].Shape[2+i], c.Out[0].Shape[2+i])
	}
	out := results(c)
	var bias *tensor.T
	if len(in) > 2 {
		bias = in[2]
	}
	if out[0].DType.IsFloat() {
		return out, convolvePhases(c, asFloats, out[0], in[0], in[1], bias, axes)
	}
	return out, convolvePhases(c, asInts, out[0], in[0], in[1], bias, axes)
}

// convolvePhases computes the convolutions that out consists of, one after the other.
func convolvePhases[W float64 | int64](c *Call, wd width[W], out, x, w, b *tensor.T, axes []spatial) error {
	if out.Len() == 0 {
		return nil
	}
	if b != nil {
		repeatBias(out, b)
	}
	if w.Len() == 0 {
		return nil
	}
	phases, windows, at := room[Phase](c, len(axes)), room[spatial](c, len(axes)), zeros[int](c, len(axes))
	for more := true; more; more = nextPhase(at, axes) {
		if err := c.Budget.stop(); err != nil {
			return err
		}
		taps := 1
		for i, a := range axes {
			phases[i] = a.phase(at[i])
			taps *= min(phases[i].Size, 1)
		}
		if taps == 0 {
			continue
		}
		shape := room[int](c, len(out.Shape))
		copy(shape, out.Shape[:2])
		for i, a := range axes {
			windows[i] = phases[i].window(a.in, (a.out-at[i]+a.step-1)/a.step)
			shape[2+i] = windows[i].out
		}
		lent, err := borrow(c, out.Len()/out.Shape[0]+w.Len())
		if err != nil {
			return err
		}
		y := tensorRoom(c, out.DType, shape)
		err = convolve(c, wd, y, x, mirroredFilters(c, w, phases), b, windows)
		lent.giveBack()
		if err != nil {
			return err
		}
		spreadPhase(out, y, axes, at)
	}
	return nil
}

// repeatBias gives each result its bias, which is all of those that see nothing of the
// window.
func repeatBias(out, b *tensor.T) {
	size := out.DType.Size()
	places := out.Len() / out.Shape[0] / out.Shape[1]
	for i := range out.Len() {
		m := i / places % out.Shape[1]
		copy(out.Data[i*size:(i+1)*size], b.Data[m*size:])
	}
}

// nextPhase counts phases, of the last axis fastest. An axis has no more than results.
func nextPhase(at []int, axes []spatial) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < min(axes[i].step, axes[i].out) {
			return true
		}
		at[i] = 0
	}
	return false
}

// mirroredFilters are the filters [M, C/groups, size...] of the convolution that some
// phases are, one for each axis.
func mirroredFilters(c *Call, w *tensor.T, phases []Phase) *tensor.T {
	groups := int(c.Int("groups"))
	inputs, outputs := w.Shape[0]/groups, w.Shape[1]
	shape := room[int](c, len(w.Shape))
	shape[0], shape[1] = groups*outputs, inputs
	taps, kernel := 1, 1
	for i, p := range phases {
		shape[2+i] = p.Size
		taps, kernel = taps*p.Size, kernel*w.Shape[2+i]
	}
	from := room[int](c, taps) // in a filter of w
	for t := range from {
		rest, stride := t, 1
		from[t] = 0
		for i := len(phases) - 1; i >= 0; i-- {
			p := phases[i]
			from[t] += (p.First + (p.Size-1-rest%p.Size)*p.Each) * stride
			rest, stride = rest/p.Size, stride*w.Shape[2+i]
		}
	}
	out, size := tensorRoom(c, w.DType, shape), w.DType.Size()
	to := out.Data
	for m := range shape[0] {
		for ch := range inputs {
			filter := w.Data[((m/outputs*inputs+ch)*outputs+m%outputs)*kernel*size:]
			for _, f := range from {
				copy(to[:size], filter[f*size:])
				to = to[size:]
			}
		}
	}
	return out
}

// spreadPhase takes the results of a phase to where they belong.
func spreadPhase(out, y *tensor.T, axes []spatial, at []int) {
	last := len(axes) - 1
	line, size := axes[last], out.DType.Size()
	each := y.Shape[2+last]
	if y.Len() == 0 {
		return
	}
	for r := range y.Len() / each {
		row, to, stride := r, at[last], line.out
		for i := last - 1; i >= 0; i-- {
			n := y.Shape[2+i]
			to += (row%n*axes[i].step + at[i]) * stride
			row, stride = row/n, stride*axes[i].out
		}
		to += row * stride // the channels of all images
		for q := range each {
			copy(out.Data[(to+q*line.step)*size:][:size], y.Data[(r*each+q)*size:])
		}
	}
}

// sampleConvTranspose draws windows of which something is left.
func sampleConvTranspose(r *rand.Rand) Call {
	s := &sampler{r}
	n := 1 + s.IntN(3)
	groups := int64(1 + s.IntN(2))
	d := s.dtype(Numbers)
	channels, per := N(groups*(1+s.Int64N(3))), N(1+s.Int64N(3))
	x, w := T(d, s.dim(), channels), T(d, channels, per)
	var stride, pad, more, dilation []int64
	for range n {
		kernel, spread, step := 1+s.Int64N(4), 1+s.Int64N(2), 1+s.Int64N(3)
		reach := (kernel-1)*spread + 1
		x.Shape = append(x.Shape, N(1+s.Int64N(4)))
		w.Shape = append(w.Shape, N(kernel))
		stride, dilation = append(stride, step), append(dilation, spread)
		pad = append(pad, s.Int64N(reach), 0)
		more = append(more, s.Int64N(step))
	}
	c := Call{In: []Type{x, w}, Attrs: []Lit{IntsLit(stride...), IntsLit(pad...), IntsLit(more...), IntsLit(dilation...), IntLit(groups)}}
	if s.chance(2) {
		c.In = append(c.In, T(d, per.Mul(N(groups))))
	}
	return c
}
