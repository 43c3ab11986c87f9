package ir

import (
	"math"

	"github.com/npulang/npu/ir/tensor"
)

var epsAttr = number("eps", 1e-5, "added to the variance")

// Normalisations: each row (the elements that are normalised together) is
// computed in float64, weight and bias included, and rounded once. Variances
// are those of the row as it is: divided by the number of elements.
var (
	Softmax = alongAxis("softmax", "exp(x) divided by its sum along axis, without overflow; NaN where every element is -inf", softmaxRow,
		Attr{Name: "axis", Kind: KInt, Axis: OfArgument, Default: IntLit(-1), Doc: "the axis that sums to one"})
	LogSoftmax = alongAxis("log_softmax", "log(softmax(x)) without overflow", logSoftmaxRow,
		Attr{Name: "axis", Kind: KInt, Axis: OfArgument, Default: IntLit(-1), Doc: "the axis whose exponentials sum to one"})
	L2Normalize = alongAxis("l2_normalize", "x divided by its Euclidean length along axis, at least eps", l2Row,
		Attr{Name: "axis", Kind: KInt, Axis: OfArgument, Default: IntLit(-1), Doc: "the axis of the vectors"}, number("eps", 1e-12, "the smallest divisor"))

	LayerNorm = norm(Op{
		Name: "layernorm", Args: []string{"x", "weight?", "bias?"},
		Doc:    "(x - mean) / sqrt(variance + eps) over the given axes, times weight, plus bias; both have the sizes of these axes, in the order given",
		Attrs:  []Attr{{Name: "axis", Kind: KInts, Axis: OfArgument, Default: IntsLit(-1), Doc: "the axes that are normalised, and only these"}, epsAttr},
		Infer:  inferLayerNorm,
		Eval:   evalLayerNorm,
		Sample: sampleLayerNorm,
	})
	RMSNorm = norm(Op{
		Name: "rmsnorm", Args: []string{"x", "weight?"},
		Doc:    "x / sqrt(mean of squares + eps) over the last axis, times weight",
		Attrs:  []Attr{number("eps", 1e-6, "added to the mean of squares")},
		Infer:  inferRMSNorm,
		Eval:   evalRMSNorm,
		Sample: sampleRMSNorm,
	})
	BatchNorm = norm(Op{
		Name: "batchnorm", Args: []string{"x", "weight?", "bias?", "mean", "var"},
		Doc:    "(x - mean) / sqrt(var + eps) * weight + bias, one of each for every channel (axis 1)",
		Attrs:  []Attr{epsAttr},
		Infer:  inferChannels,
		Eval:   evalBatchNorm,
		Sample: sampleChannels(5),
	})
	InstanceNorm = norm(Op{
		Name: "instancenorm", Args: []string{"x", "weight?", "bias?"},
		Doc:   "(x - mean) / sqrt(variance + eps) over the spatial axes of each channel, times the channel's weight, plus its bias",
		Attrs: []Attr{epsAttr},
		Infer: inferChannels,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			return channelNorm(c, in, in[0].Shape[1])
		},
		Sample: sampleChannels(3),
	})
	GroupNorm = norm(Op{
		Name: "groupnorm", Args: []string{"x", "weight?", "bias?"},
		Doc:   "(x - mean) / sqrt(variance + eps) over the channels of each group and the spatial axes, times each channel's weight, plus its bias",
		Attrs: []Attr{{Name: "groups", Kind: KInt, Required: true, Doc: "how many groups the channels (axis 1) are split into"}, epsAttr},
		Infer: inferGroupNorm,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			return channelNorm(c, in, int(c.Int("groups")))
		},
		Sample: sampleGroupNorm,
	})
)

// norm makes a row; a norm reads each element about four times.
func norm(op Op) *Op {
	op.Group, op.Class, op.Over = "normalisation", Reduce, Floats
	op.Cost = func(c *Call) Cost { return DefaultCost(c, 4) }
	return row(op)
}

// alongAxis makes the row of a norm along one axis.
func alongAxis(name, doc string, f rowLoop[float64], attrs ...Attr) *Op {
	defaults := []Lit{}
	for _, a := range attrs[1:] {
		defaults = append(defaults, a.Default)
	}
	return norm(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Attrs: attrs, Infer: inferAlongAxis,
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			axis, err := axisOf(c.Int("axis"), len(in[0].Shape))
			if err != nil {
				return nil, err
			}
			return mapRows(c, asFloats, in[0], oneAxis(c, axis), f)
		},
		Sample: sampleAlongAxis(Floats, defaults...),
	})
}

func softmaxRow(_ *Call, dst, src []float64) {
	top, total := math.Inf(-1), 0.0
	for _, v := range src {
		top = max(top, v)
	}
	for i, v := range src {
		dst[i] = exp(v - top)
		total += dst[i]
	}
	for i := range dst {
		dst[i] /= total
	}
}

func logSoftmaxRow(_ *Call, dst, src []float64) {
	top, total := math.Inf(-1), 0.0
	for _, v := range src {
		top = max(top, v)
	}
	for _, v := range src {
		total += exp(v - top)
	}
	rest := log(total)
	for i, v := range src {
		dst[i] = v - top - rest
	}
}

func l2Row(c *Call, dst, src []float64) {
	l := line[float64]{known: src, n: len(src)}
	length := max(euclid(&l), c.Float("eps"))
	for i, v := range src {
		dst[i] = v / length
	}
}

// standardize brings a row to mean 0 and variance 1.
func standardize(dst, src []float64, eps float64) {
	n, total := float64(len(src)), 0.0
	for _, v := range src {
		total += v
	}
	m, squares := total/n, 0.0
	for _, v := range src {
		squares += float64((v - m) * (v - m))
	}
	root := math.Sqrt(squares/n + eps)
	for i, v := range src {
		dst[i] = (v - m) / root
	}
}

// affine applies weight and bias, of which each may be absent.
func affine(dst, weight, bias []float64) {
	for i, w := range weight {
		dst[i] *= w
	}
	for i, b := range bias {
		dst[i] += b
	}
}

// floatsOf copies out argument i; nil if it is absent.
func floatsOf(c *Call, in []*tensor.T, i int) []float64 {
	if i >= len(in) || in[i] == nil {
		return nil
	}
	return wideOf(c, in[i])
}

func inferLayerNorm(c *Call) ([]Type, error) {
	if err := sameDType(c); err != nil {
		return nil, err
	}
	x := c.In[0]
	axes, err := axesInOrder(c, c.Ints("axis"), x.Rank())
	if err != nil {
		return nil, err
	}
	want := permuted(nil, x.Shape, axes)
	for i := 1; i < len(c.In); i++ {
		if c.has(i) && !SameShape(c.In[i].Shape, want) {
			return nil, Errorf("shape-mismatch", "%s has shape %s, but the axes have %s", c.Op.Args[i][:len(c.Op.Args[i])-1], ShapeString(c.In[i].Shape), ShapeString(want)).
				Label(0, "%s", x).Label(i, "%s", c.In[i]).
				Note("weight and bias have the sizes of the axes that are normalised")
		}
	}
	return []Type{x}, nil
}

func evalLayerNorm(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	axes, err := axesInOrder(c, c.Ints("axis"), len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	weight, bias, eps := floatsOf(c, in, 1), floatsOf(c, in, 2), c.Float("eps")
	return mapRows(c, asFloats, in[0], axes, func(_ *Call, dst, src []float64) {
		standardize(dst, src, eps)
		affine(dst, weight, bias)
	})
}

func inferRMSNorm(c *Call) ([]Type, error) {
	if err := sameDType(c); err != nil {
		return nil, err
	}
	x := c.In[0]
	if x.Rank() == 0 {
		return nil, Errorf("rank-mismatch", "x is a scalar, but needs an axis to normalise along").Label(0, "%s", x)
	}
	if err := checkVector(c, 1, x.Rank()-1, "the last dimension of x"); err != nil {
		return nil, err
	}
	return []Type{x}, nil
}

// checkVector checks that argument i, if given, is a vector as long as an axis
// of the first argument, which what describes.
func checkVector(c *Call, i, axis int, what string) error {
	if !c.has(i) {
		return nil
	}
	if err := checkRank(c, i, 1); err != nil {
		return err
	}
	if want, n := c.In[0].Shape[axis], c.In[i].Shape[0]; !n.Equal(want) {
		name, _, _ := ArgKind(c.Op.Args[i])
		return Errorf("shape-mismatch", "%s is %s, but %s has %s elements", what, want, name, n).
			Label(0, "%s", c.In[0]).Label(i, "%s", c.In[i])
	}
	return nil
}

func evalRMSNorm(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	weight, eps := floatsOf(c, in, 1), c.Float("eps")
	return mapRows(c, asFloats, in[0], oneAxis(c, len(in[0].Shape)-1), func(_ *Call, dst, src []float64) {
		squares := 0.0
		for _, v := range src {
			squares += float64(v * v)
		}
		root := math.Sqrt(squares/float64(len(src)) + eps)
		for i, v := range src {
			dst[i] = v / root
		}
		affine(dst, weight, nil)
	})
}

// inferChannels is the inference of norms whose other arguments have one
// element for every channel.
func inferChannels(c *Call) ([]Type, error) {
	if err := sameDType(c); err != nil {
		return nil, err
	}
	x := c.In[0]
	if x.Rank() < 2 {
		return nil, Errorf("rank-mismatch", "x has rank %d, but needs a batch and a channel axis", x.Rank()).
			Label(0, "%s", x).Note("the layout is [N, C, spatial...]")
	}
	for i := 1; i < len(c.In); i++ {
		if err := checkVector(c, i, 1, "the number of channels (axis 1 of x)"); err != nil {
			return nil, err
		}
	}
	return []Type{x}, nil
}

func inferGroupNorm(c *Call) ([]Type, error) {
	out, err := inferChannels(c)
	if err != nil {
		return nil, err
	}
	groups, channels := c.Int("groups"), c.In[0].Shape[1]
	if groups < 1 {
		return nil, Errorf("out-of-range", "groups is %d, but must be at least 1", groups)
	}
	if !Mod(channels, N(groups)).Is(0) {
		return nil, Errorf("shape-mismatch", "%s channels do not divide into %d groups", channels, groups).
			Label(0, "%s, C = %s", c.In[0], channels)
	}
	return out, nil
}

// blocks calls f with each run of n elements of x, widened, its number and a
// place for the results.
func blocks(c *Call, x *tensor.T, n int, f func(i int, dst, src []float64)) ([]*tensor.T, error) {
	out := results(c)
	if x.Len() == 0 {
		return out, nil // n may be large all the same
	}
	lent, err := borrow(c, 2*n)
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	src, dst := room[float64](c, n), room[float64](c, n)
	for i := range x.Len() / n {
		x.LoadFloats(src, i*n)
		f(i, dst, src)
		out[0].StoreFloats(i*n, dst)
	}
	return out, nil
}

func evalBatchNorm(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	weight, bias, mean, variance, eps := floatsOf(c, in, 1), floatsOf(c, in, 2), wideOf(c, in[3]), wideOf(c, in[4]), c.Float("eps")
	x := in[0]
	channels := x.Shape[1]
	_, _, inner := extent(x.Shape, 1)
	return blocks(c, x, inner, func(i int, dst, src []float64) {
		ch := i % channels
		root := math.Sqrt(variance[ch] + eps)
		for j, v := range src {
			dst[j] = (v - mean[ch]) / root
		}
		affineAll(dst, weight, bias, ch)
	})
}

// affineAll applies one element of weight and bias to a whole channel.
func affineAll(dst, weight, bias []float64, ch int) {
	w, b := 1.0, 0.0
	if weight != nil {
		w = weight[ch]
	}
	if bias != nil {
		b = bias[ch]
	}
	for i := range dst {
		dst[i] = float64(dst[i]*w) + b
	}
}

// channelNorm normalises groups of neighbouring channels; with as many groups
// as channels, each by itself.
func channelNorm(c *Call, in []*tensor.T, groups int) ([]*tensor.T, error) {
	x, eps := in[0], c.Float("eps")
	weight, bias := floatsOf(c, in, 1), floatsOf(c, in, 2)
	channels := x.Shape[1]
	_, _, inner := extent(x.Shape, 1)
	per := channels / max(groups, 1)
	return blocks(c, x, per*inner, func(i int, dst, src []float64) {
		standardize(dst, src, eps)
		first := i % groups * per
		for j := range per {
			affineAll(dst[j*inner:(j+1)*inner], weight, bias, first+j)
		}
	})
}
