package ir

// Windows that slide along the spatial axes of [N, C, spatial...]: what
// convolution and pooling have in common.

// A slide is the movement of a window along one axis.
type slide struct {
	size, step, spread Dim // of the window: elements, distance of two places, distance of two elements
	before, behind     Dim // padding
	same               string
	ceil               bool
}

var (
	padAttr      = Attr{Name: "pad", Kind: KInts, Default: IntsLit(0), Doc: "the padding, one number, one for each axis, or a pair before and behind for each"}
	dilationAttr = Attr{Name: "dilation", Kind: KInts, Default: IntsLit(1), Doc: "the distance of two elements of the window, one number or one for each axis"}
	autoPadAttr  = Attr{Name: "auto_pad", Kind: KString, Default: StrLit(""), Values: []string{"", "same", "same_lower"}, Doc: "same: instead of pad as much as makes ceildiv(size, stride) places; an odd element goes behind, with same_lower before"}
)

// slidesOf reads the attributes of a window with the given sizes. stride may be
// absent: the window's size.
func slidesOf(c *Call, size []Dim) ([]slide, error) {
	out, err := paddedSlides(c, size)
	for i := range out {
		out[i].same = c.Str("auto_pad")
	}
	return out, err
}

// paddedSlides is slidesOf without auto_pad, which is not asked for.
func paddedSlides(c *Call, size []Dim) ([]slide, error) {
	n := len(size)
	strides, err := perAxis(c, "stride", n, 1)
	if err != nil {
		return nil, err
	}
	spreads, err := perAxis(c, "dilation", n, 1)
	if err != nil {
		return nil, err
	}
	pads, err := padPairs(c, n)
	if err != nil {
		return nil, err
	}
	out := room[slide](c, n)
	for i := range out {
		out[i] = slide{size: size[i], step: size[i], spread: N(spreads[i]), before: N(pads[2*i]), behind: N(pads[2*i+1])}
		if strides != nil {
			out[i].step = N(strides[i])
		}
	}
	return out, nil
}

// perAxis is a list attribute with one number for all axes spread over them;
// nil if it is absent. Numbers below least are refused.
func perAxis(c *Call, name string, n int, least int64) ([]int64, error) {
	l := c.Attr(name)
	if l.IsNone() {
		return nil, nil
	}
	ints := l.Ints
	if len(ints) == 1 {
		ints = allTheSame(c, ints[0], n)
	}
	if len(ints) != n {
		return nil, Errorf("wrong-arguments", "%s has %d numbers for %d spatial axes", name, len(l.Ints), n).
			Label(0, "%s", c.In[0]).
			Note("one number, or one for each axis behind [N, C]")
	}
	return ints, boundInts(name, ints, least)
}

// allTheSame is a list of n times v.
func allTheSame[E any](c *Call, v E, n int) []E {
	list := room[E](c, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// boundInts keeps attributes in a range in which no arithmetic overflows.
func boundInts(name string, ints []int64, least int64) error {
	for _, v := range ints {
		if v < least || v > 1<<31-1 {
			return Errorf("out-of-range", "%s is %d, not at least %d and less than 2**31", name, v, least)
		}
	}
	return nil
}

// padPairs gives each axis two numbers.
func padPairs(c *Call, n int) ([]int64, error) {
	ints := c.Ints("pad")
	switch len(ints) {
	case 2 * n:
	case 1:
		ints = allTheSame(c, ints[0], 2*n)
	case n:
		pairs := room[int64](c, 2*n)
		for i, v := range ints {
			pairs[2*i], pairs[2*i+1] = v, v
		}
		ints = pairs
	default:
		return nil, Errorf("wrong-arguments", "pad has %d numbers for %d spatial axes", len(ints), n).
			Label(0, "%s", c.In[0]).
			Note("one number, one for each axis, or a pair for each axis")
	}
	return ints, boundInts("pad", ints, 0)
}

// reach is how many elements of the axis a window covers.
func (s slide) reach() Dim { return s.size.Sub(N(1)).Mul(s.spread).Add(N(1)) }

// places is how many places the window has along an axis of size d. The last
// one of a rounded-up count must begin before the padding behind.
func (s slide) places(d Dim) Dim {
	if s.same != "" {
		return CeilDiv(d, s.step)
	}
	room := d.Add(s.before).Add(s.behind).Sub(s.reach())
	if s.ceil {
		return MinOf(CeilDiv(room, s.step).Add(N(1)), CeilDiv(d.Add(s.before), s.step))
	}
	return FloorDiv(room, s.step).Add(N(1))
}

// A spatial is a slide along an axis whose size is known.
type spatial struct {
	in, out              int
	size, step, spread   int
	before, behind, last int // last: end of the padded axis
}

// bind puts the numbers of a bound call; out is the number of places.
func (s slide) bind(d, out Dim) spatial {
	num := func(d Dim) int { n, _ := d.Const(); return int(n) }
	b := spatial{num(d), num(out), num(s.size), num(s.step), num(s.spread), num(s.before), num(s.behind), 0}
	if s.same != "" {
		total := max(0, (b.out-1)*b.step+num(s.reach())-b.in)
		b.before, b.behind = total/2, total-total/2
		if s.same == "same_lower" {
			b.before, b.behind = b.behind, b.before
		}
	}
	b.last = b.in + b.behind
	return b
}

// slideAll gives the sizes of the result's spatial axes, and refuses a window
// that fits nowhere.
func slideAll(c *Call, slides []slide) ([]Dim, error) {
	out := make([]Dim, len(slides))
	for i, s := range slides {
		d := c.In[0].Shape[2+i]
		out[i] = s.places(d)
		if err := s.fits(c, i, d, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// alwaysFits reports whether the window surely has a place on every axis that
// is not empty.
func (s slide) alwaysFits() bool {
	return s.same != "" || LessEq(s.reach().Sub(s.before).Sub(s.behind), N(1))
}

// assertSlides is that each window has elements and a place, where that depends
// on symbols.
func assertSlides(c *Call, slides []slide) []Assert {
	var as []Assert
	for i, s := range slides {
		as = append(as, assertSome(s.size)...)
		if out := s.places(c.In[0].Shape[2+i]); !s.alwaysFits() && !LessEq(N(1), out) {
			as = append(as, Assert{Left: N(1), Rel: "<=", Right: out})
		}
	}
	return as
}

// fits checks, when the numbers are known, that the window has a place. On an
// empty axis the result of a window that always fits is empty too.
func (s slide) fits(c *Call, i int, d, out Dim) error {
	if s.size.Is(0) {
		return Errorf("shape-mismatch", "the window is empty along axis %d", 2+i)
	}
	n, known := out.Const()
	if !known || n > 0 || n == 0 && d.Is(0) && s.alwaysFits() {
		return nil
	}
	return Errorf("shape-mismatch", "a window of %s elements does not fit axis %d of size %s with padding %s and %s", s.reach(), 2+i, d, s.before, s.behind).
		Label(0, "%s", c.In[0])
}

// bindAll binds the slides of a bound call.
func bindAll(c *Call, slides []slide) ([]spatial, error) {
	out := room[spatial](c, len(slides))
	for i, s := range slides {
		d, n := c.In[0].Shape[2+i], c.Out[0].Shape[2+i]
		if err := s.fits(c, i, d, n); err != nil {
			return nil, err
		}
		out[i] = s.bind(d, n)
	}
	return out, nil
}

// checkSpatial checks that x is [N, C, spatial...] with at least one spatial
// axis.
func checkSpatial(c *Call) error {
	if x := c.In[0]; x.Rank() < 3 {
		return Errorf("rank-mismatch", "x has rank %d, but must be [N, C, spatial...]", x.Rank()).Label(0, "%s", x)
	}
	return nil
}
