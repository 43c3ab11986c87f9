package ir

import "github.com/npulang/npu/ir/tensor"

var Pad = row(Op{
	Name: "pad", Group: "shape", Class: Move, Unit: DMA,
	Doc:  "elements added before and behind along each axis, or cut off by a negative number of them",
	Args: []string{"x"},
	Attrs: []Attr{
		{Name: "pairs", Kind: KDims, Required: true, Doc: "how many before and behind each axis, first axis first; one pair, or one number, is for all axes"},
		{Name: "mode", Kind: KString, Default: StrLit("constant"), Values: padModes, Doc: "what the new elements are, as in numpy.pad"},
		{Name: "value", Kind: KNum, Default: DimLit(N(0)), Doc: "the new elements of mode constant"},
	},
	Infer: inferPad, Asserts: assertPad, Cost: costMove, Eval: evalPad, Sample: samplePad,
})

var padModes = []string{"constant", "edge", "reflect", "symmetric", "wrap"}

// padSources says, for each mode but constant, which of the positions 0 to d-1
// of an axis stands at position p, which may be any integer; d is not 0.
var padSources = map[string]func(p, d int) int{
	"edge":      func(p, d int) int { return max(0, min(d-1, p)) },
	"wrap":      func(p, d int) int { return floorMod(p, d) },
	"symmetric": func(p, d int) int { return mirror(floorMod(p, 2*d), 2*d-1) },
	"reflect":   func(p, d int) int { return mirror(floorMod(p, max(2*d-2, 1)), 2*d-2) },
}

func floorMod(p, n int) int { return (p%n + n) % n }

// mirror folds the second half of a period onto the first.
func mirror(p, last int) int { return min(p, last-p) }

// padsOf gives each axis its pair.
func padsOf(c *Call) ([][2]Dim, error) {
	given, rank := c.Dims("pairs"), c.In[0].Rank()
	pads := room[[2]Dim](c, rank)
	for i := range pads {
		switch len(given) {
		case 2 * rank:
			pads[i] = [2]Dim{given[2*i], given[2*i+1]}
		case 2:
			pads[i] = [2]Dim{given[0], given[1]}
		case 1:
			pads[i] = [2]Dim{given[0], given[0]}
		default:
			return nil, Errorf("wrong-arguments", "got %d numbers for the %d axes of x", len(given), rank).
				Label(0, "%s", c.In[0]).
				Note("one pair of numbers for each axis, one pair for all, or one number")
		}
	}
	return pads, nil
}

func inferPad(c *Call) ([]Type, error) {
	pads, err := padsOf(c)
	if err != nil {
		return nil, err
	}
	x := c.In[0]
	shape := make([]Dim, len(pads))
	for i, p := range pads {
		shape[i] = x.Shape[i].Add(p[0]).Add(p[1])
		if n, known := shape[i].Const(); known && n < 0 {
			return nil, Errorf("out-of-range", "pads %s and %s cut more than axis %d has", p[0], p[1], i).Label(0, "%s", x)
		}
		if x.Shape[i].Is(0) && !shape[i].Is(0) && c.Str("mode") != "constant" {
			return nil, emptyPad(c, i)
		}
	}
	return []Type{{x.DType, shape}}, checkNum(c, "value", x.DType)
}

// assertPad is that an axis has elements where all but constants are taken from
// it. What cuts as much as it adds makes nothing of nothing.
func assertPad(c *Call) []Assert {
	pads, err := padsOf(c)
	if err != nil || c.Str("mode") == "constant" {
		return nil
	}
	var as []Assert
	for i, p := range pads {
		if !p[0].Add(p[1]).Is(0) {
			as = append(as, assertSome(c.In[0].Shape[i])...)
		}
	}
	return as
}

func emptyPad(c *Call, axis int) error {
	return Errorf("out-of-range", "axis %d is empty: mode %s has nothing to take", axis, c.Str("mode")).
		Label(0, "%s", c.In[0]).
		Note("mode constant pads empty axes too")
}

func evalPad(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	pads, err := padsOf(c)
	if err != nil {
		return nil, err
	}
	before, behind := room[int](c, len(pads)), room[int](c, len(pads))
	for i, p := range pads {
		b, _ := p[0].Const()
		e, _ := p[1].Const()
		before[i], behind[i] = int(b), int(e)
	}
	if source := padSources[c.Str("mode")]; source != nil {
		return padFrom(c, in[0], before, behind, source)
	}
	return padConstant(c, in[0], before)
}

// padConstant fills the result and copies what x and it have in common.
func padConstant(c *Call, x *tensor.T, before []int) ([]*tensor.T, error) {
	out := results(c)
	v, err := numScalar(c, "value", x.DType)
	if err != nil {
		return nil, err
	}
	fillWith(c, out[0], v)
	to, from := denseOf(c, out[0]), denseOf(c, x)
	block := room[int](c, len(before))
	for i, b := range before {
		lo, hi := max(0, b), min(out[0].Shape[i], x.Shape[i]+b)
		to.off += lo * to.strides[i]
		from.off += (lo - b) * from.strides[i]
		block[i] = max(0, hi-lo)
	}
	copyView(out[0], to, x, from, block)
	return out, nil
}

// padFrom pads with elements of x. First what negative pads cut off goes; then
// axis by axis grows, and source says what stands where.
func padFrom(c *Call, x *tensor.T, before, behind []int, source func(p, d int) int) ([]*tensor.T, error) {
	from, shape := denseOf(c, x), roomCopy(c, x.Shape)
	for i := range shape {
		first := max(0, -before[i])
		from.off += first * from.strides[i]
		shape[i] = max(0, shape[i]-first+min(0, behind[i]))
		if n, _ := c.Out[0].Shape[i].Const(); shape[i] == 0 && n > 0 {
			return nil, emptyPad(c, i)
		}
	}
	if c.Out[0].Elements().Is(0) {
		return results(c), nil
	}
	// Each axis grows into a new tensor, at most as large as the result.
	bytes, _ := c.Out[0].Bytes().Const()
	lent, err := borrow(c, 2*int((bytes+7)/8))
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	out := tensorRoom(c, x.DType, shape)
	copyView(out, denseOf(c, out), x, from, shape)
	for i := range shape {
		out = growAxis(c, out, i, max(0, before[i]), max(0, behind[i]), source)
	}
	return resultOf(c, out), nil
}

// growAxis pads one axis, which is not empty.
func growAxis(c *Call, x *tensor.T, axis, before, behind int, source func(p, d int) int) *tensor.T {
	shape := roomCopy(c, x.Shape)
	shape[axis] += before + behind
	index := room[int](c, shape[axis])
	for j := range index {
		index[j] = source(j-before, x.Shape[axis])
	}
	out := tensorRoom(c, x.DType, shape)
	takeAxis(out, x, axis, index)
	return out
}
