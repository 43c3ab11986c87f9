package ir

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

var Conv = row(Op{
	Name: "conv", Group: "convolution", Class: Contract, Unit: Cube, Over: Numbers,
	Doc:  "cross-correlation of x [N, C, spatial...] with filters w [M, C/groups, kernel...], plus b [M]; sums in float64 (integers wrap), rounded once",
	Args: []string{"x", "w", "b?"},
	Attrs: []Attr{
		{Name: "stride", Kind: KInts, Default: IntsLit(1), Doc: "the distance of two places of the window, one number or one for each axis"},
		padAttr,
		dilationAttr,
		{Name: "groups", Kind: KInt, Default: IntLit(1), Doc: "channels are parted into that many groups, each with its own filters"},
		autoPadAttr,
	},
	Infer: inferConv, Asserts: assertConv, Cost: costConv, Eval: evalConv, Sample: sampleConv,
})

func inferConv(c *Call) ([]Type, error) {
	if err := sameDType(c); err != nil {
		return nil, err
	}
	if err := checkSpatial(c); err != nil {
		return nil, err
	}
	x, w := c.In[0], c.In[1]
	if x.Rank() != w.Rank() {
		return nil, Errorf("rank-mismatch", "x has rank %d, the filters have rank %d", x.Rank(), w.Rank()).
			Label(0, "%s", x).Label(1, "%s", w).
			Note("conv(x: [N, C, spatial...], w: [M, C/groups, kernel...])")
	}
	if err := checkChannels(c); err != nil {
		return nil, err
	}
	slides, err := slidesOf(c, w.Shape[2:])
	if err != nil {
		return nil, err
	}
	spatial, err := slideAll(c, slides)
	return []Type{{x.DType, append([]Dim{x.Shape[0], w.Shape[0]}, spatial...)}}, err
}

func assertConv(c *Call) []Assert {
	slides, err := slidesOf(c, c.In[1].Shape[2:])
	if err != nil {
		return nil
	}
	return append(assertDivides(c.In[1].Shape[0], N(c.Int("groups"))), assertSlides(c, slides)...)
}

// checkChannels checks what x, w and b must agree on.
func checkChannels(c *Call) error {
	x, w, groups := c.In[0], c.In[1], c.Int("groups")
	if groups < 1 {
		return Errorf("out-of-range", "groups is %d, not at least 1", groups)
	}
	if want := w.Shape[1].Mul(N(groups)); !x.Shape[1].Equal(want) {
		return Errorf("shape-mismatch", "x has %s channels, the filters take %s", x.Shape[1], want).
			Label(0, "%s, C = %s", x, x.Shape[1]).Label(1, "%s, groups = %d", w, groups).
			Note("conv(x: [N, C, spatial...], w: [M, C/groups, kernel...])")
	}
	if m, known := w.Shape[0].Const(); known && m%groups != 0 {
		return Errorf("shape-mismatch", "%d filters do not divide into %d groups", m, groups).Label(1, "%s", w)
	}
	if !c.has(2) {
		return nil
	}
	if err := checkRank(c, 2, 1); err != nil {
		return err
	}
	if b := c.In[2]; !b.Shape[0].Equal(w.Shape[0]) {
		return Errorf("shape-mismatch", "there are %s filters and %s biases", w.Shape[0], b.Shape[0]).Label(1, "%s", w).Label(2, "%s", b)
	}
	return nil
}

// costConv counts two flops for each product.
func costConv(c *Call) Cost {
	filter := T(c.In[1].DType, c.In[1].Shape[1:]...)
	cost := DefaultCost(c, 0)
	cost.Flops, _ = c.Out[0].Elements().Mul(filter.Elements()).Mul(N(2)).Const()
	return cost
}

func evalConv(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	if err := checkChannels(c); err != nil {
		return nil, err
	}
	slides, err := slidesOf(c, c.In[1].Shape[2:])
	if err != nil {
		return nil, err
	}
	axes, err := bindAll(c, slides)
	if err != nil {
		return nil, err
	}
	out := results(c)
	var bias *tensor.T
	if len(in) > 2 {
		bias = in[2]
	}
	if out[0].DType.IsFloat() {
		return out, convolve(c, asFloats, out[0], in[0], in[1], bias, axes)
	}
	return out, convolve(c, asInts, out[0], in[0], in[1], bias, axes)
}

// convolve computes, for each image and group, the product of the filters
// [M, K] and the patches [K, places], tile by tile: the patches of a tile are
// laid out when it is their turn, so that no matrix of all of them is held.
func convolve[W float64 | int64](c *Call, wd width[W], out, x, w, b *tensor.T, axes []spatial) error {
	if out.Len() == 0 {
		return nil
	}
	groups := int(c.Int("groups"))
	images, filters := out.Shape[0], out.Shape[1]/groups
	places := out.Len() / out.Shape[0] / out.Shape[1]
	depth := w.Len() / w.Shape[0]
	channels := w.Shape[1]
	lent, err := borrow(c, x.Len()/images/groups)
	if err != nil {
		return err
	}
	defer lent.giveBack()
	p := newPatches[W](c, axes, channels)
	mul := newMultiplier(c, wd, filters, depth, places, false)
	bias := zeros[W](c, out.Shape[1])
	if b != nil {
		wd.load(b, bias, 0)
	}
	for i := range images * groups {
		wd.load(x, p.x, i*len(p.x))
		first := i % groups * filters
		if err := mul.patches(c, out, i*filters*places, w, first*depth, p, bias[first:first+filters]); err != nil {
			return err
		}
	}
	return nil
}

// patches is run with the patches of p instead of a matrix b, and with a bias
// for each row.
func (m *multiplier[W]) patches(c *Call, out *tensor.T, oAt int, w *tensor.T, wAt int, p *patches[W], bias []W) error {
	for j := 0; j < m.n; j += tileN {
		n := min(tileN, m.n-j)
		for i := 0; i < m.m; i += tileM {
			rows := min(tileM, m.m-i)
			if err := m.patch(c, w, wAt+i*m.k, p, j, rows, n); err != nil {
				return err
			}
			for r := range rows {
				sums := m.to[r*n : (r+1)*n]
				for q := range sums {
					sums[q] += bias[i+r]
				}
				m.width.store(out, oAt+(i+r)*m.n+j, sums)
			}
		}
	}
	return nil
}

// patch sums up rows x n products of filters and patches, in the order of k
// whatever the tiles.
func (m *multiplier[W]) patch(c *Call, w *tensor.T, wAt int, p *patches[W], at, rows, n int) error {
	clear(m.to)
	for l := 0; l < m.k; l += tileK {
		if err := c.Budget.stop(); err != nil {
			return err
		}
		k := min(tileK, m.k-l)
		m.load(m.a, w, wAt+l, m.k, rows, k)
		for r := range k {
			p.row(m.b[r*n:(r+1)*n], l+r, at)
		}
		m.tile(rows, k, n)
	}
	return nil
}

// Patches are the elements of one group's channels of one image, as each place
// of the window sees them.
type patches[W wide] struct {
	x    []W // [channels, spatial...]
	axes []spatial
	size int // elements of one channel
	ker  int // elements of the window in one channel
}

func newPatches[W wide](c *Call, axes []spatial, channels int) *patches[W] {
	p := &room[patches[W]](c, 1)[0]
	*p = patches[W]{axes: axes, size: 1, ker: 1}
	for _, a := range axes {
		p.size *= a.in
		p.ker *= a.size
	}
	p.x = room[W](c, channels*p.size)
	return p
}

// row writes what element k of the window (channel first, last axis fastest)
// meets at the places from at on. Padding is 0.
func (p *patches[W]) row(dst []W, k, at int) {
	last := len(p.axes) - 1
	line := p.axes[last]
	channel := p.x[k/p.ker*p.size:][:p.size]
	k %= p.ker
	shift := k%line.size*line.spread - line.before
	for len(dst) > 0 {
		place := at % line.out
		run := dst[:min(line.out-place, len(dst))]
		from, ok := p.line(k/line.size, at/line.out)
		if ok {
			copyStep(run, channel[from:from+line.in], place*line.step+shift, line.step)
		} else {
			clear(run)
		}
		dst, at = dst[len(run):], at+len(run)
	}
}

// line finds where in a channel the line begins that the axes before the last
// one select; ok is false if it lies in the padding.
func (p *patches[W]) line(k, at int) (from int, ok bool) {
	stride := p.axes[len(p.axes)-1].in
	for i := len(p.axes) - 2; i >= 0; i-- {
		a := p.axes[i]
		q := at%a.out*a.step + k%a.size*a.spread - a.before
		if q < 0 || q >= a.in {
			return 0, false
		}
		from += q * stride
		stride *= a.in
		at, k = at/a.out, k/a.size
	}
	return from, true
}

// copyStep copies every step-th element of a line from q on, 0 outside.
func copyStep[W wide](dst, line []W, q, step int) {
	for i := range dst {
		if uint(q) < uint(len(line)) {
			dst[i] = line[q]
		} else {
			dst[i] = 0
		}
		q += step
	}
}

// sampleConv draws windows that fit.
func sampleConv(r *rand.Rand) Call {
	s := &sampler{r}
	n := 1 + s.IntN(3)
	groups := int64(1 + s.IntN(2))
	d := s.dtype(Numbers)
	per, filters := N(1+s.Int64N(3)), N(groups*(1+s.Int64N(3)))
	x := T(d, s.dim(), per.Mul(N(groups)))
	w := T(d, filters, per)
	var stride, pad, dilation []int64
	for range n {
		kernel, spread := 1+s.Int64N(3), 1+s.Int64N(2)
		x.Shape = append(x.Shape, N((kernel-1)*spread+1+s.Int64N(4)))
		w.Shape = append(w.Shape, N(kernel))
		stride = append(stride, 1+s.Int64N(3))
		pad = append(pad, s.Int64N(3), s.Int64N(3))
		dilation = append(dilation, spread)
	}
	b := Type{}
	if s.chance(2) {
		b = T(d, filters)
	}
	c := Call{In: []Type{x, w, b}, Attrs: []Lit{IntsLit(stride...), IntsLit(pad...), IntsLit(dilation...), IntLit(groups), s.autoPad()}}
	if b.Absent() {
		c.In = c.In[:2]
	}
	return c
}

// autoPad is none more often than not.
func (s *sampler) autoPad() Lit {
	return StrLit(autoPadAttr.Values[max(0, s.IntN(6)-3)])
}
