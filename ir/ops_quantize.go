package ir

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Numbers of one or two bytes that stand for floats: q = x / scale + zero, as ONNX has
// it. Scales and zeros broadcast, so that one may be of a tensor ([]), a row
// ([M,1]) or a column ([N]).
var (
	QuantizeLinear = row(Op{
		Name: "quantize_linear", Group: "choose, convert", Args: []string{"x", "scale", "zero?"}, Class: Elementwise,
		Attrs:  []Attr{{Name: "dtype", Kind: KDType, Doc: "the dtype of the result: i8, u8, i16 or u16; absent: that of zero, else u8"}},
		Doc:    "round(x / scale) + zero, held within the dtype: the quotient is rounded to the dtype of x, then to the nearest whole number, half to even; NaN gives zero, an infinity the end of the range",
		Infer:  inferQuantize,
		Eval:   evalQuantize,
		Sample: sampleQuantize,
	})
	DequantizeLinear = row(Op{
		Name: "dequantize_linear", Group: "choose, convert", Args: []string{"q", "scale", "zero?"}, Class: Elementwise,
		Doc:    "(q - zero) * scale for q of i8, u8, i16, u16 or i32: the exact difference is rounded to the dtype of scale, and so is the product",
		Infer:  inferDequantize,
		Eval:   evalDequantize,
		Sample: sampleDequantize,
	})
)

// A NamedPrecision is a dtype that products can be asked to be computed in, by the name
// that @precision, --precision and all listings have for it.
type NamedPrecision struct {
	Name  string
	DType tensor.DType // of the operands
}

// Precisions are all that there are.
var Precisions = []NamedPrecision{{"f32", tensor.F32}, {"bf16", tensor.BF16}, {"f16", tensor.F16}, {"int8", tensor.I8}}

// PrecisionNamed finds a precision by its name, or by that of its dtype.
func PrecisionNamed(name string) (NamedPrecision, bool) {
	return findPrecision(func(p NamedPrecision) bool { return name == p.Name || name == p.DType.String() })
}

// PrecisionOf finds the precision of a dtype.
func PrecisionOf(d tensor.DType) (NamedPrecision, bool) {
	return findPrecision(func(p NamedPrecision) bool { return d == p.DType })
}

func findPrecision(is func(NamedPrecision) bool) (NamedPrecision, bool) {
	i := slices.IndexFunc(Precisions, is)
	if i < 0 {
		return NamedPrecision{}, false
	}
	return Precisions[i], true
}

// quantized reports whether numbers of a dtype may stand for floats.
func quantized(d tensor.DType) bool { return slices.Contains(quantizedDTypes, d) }

var quantizedDTypes = []tensor.DType{tensor.I8, tensor.U8, tensor.I16, tensor.U16}

func inferQuantize(c *Call) ([]Type, error) {
	if err := checkSet(c, 0, Floats); err != nil {
		return nil, err
	}
	if err := sameDType(c, 0, 1); err != nil {
		return nil, err
	}
	to := tensor.U8
	if c.has(2) {
		to = c.In[2].DType
		if !quantized(to) {
			return nil, Errorf("dtype-mismatch", "zero has dtype %s, but must have i8, u8, i16 or u16", to).Label(2, "%s", c.In[2])
		}
	}
	if l := c.Attr("dtype"); !l.IsNone() {
		if c.has(2) && l.DType != to {
			return nil, Errorf("dtype-mismatch", "the result is %s, but zero %s", l.DType, to).
				Label(2, "%s", c.In[2]).Note("zero is a number of the result")
		}
		to = l.DType
	}
	if !quantized(to) {
		return nil, Errorf("dtype-mismatch", "quantizes to %s", to).Note("the dtype must be i8, u8, i16 or u16")
	}
	shape, err := broadcastAll(c)
	return []Type{{to, shape}}, err
}

func inferDequantize(c *Call) ([]Type, error) {
	if d := c.In[0].DType; !quantized(d) && d != tensor.I32 {
		return nil, Errorf("dtype-mismatch", "q has dtype %s, but must have i8, u8, i16, u16 or i32", d).Label(0, "%s", c.In[0])
	}
	if err := checkSet(c, 1, Floats); err != nil {
		return nil, err
	}
	if err := sameDType(c, 0, 2); err != nil {
		return nil, err
	}
	shape, err := broadcastAll(c)
	return []Type{{c.In[1].DType, shape}}, err
}

// quantizing is a chunk of floats and of whole numbers, on the way from one to the
// other, with the scales and zeros that belong to them.
type quantizing struct {
	n        int // elements of the chunk
	scales   *reader[float64]
	zeros    *reader[int64] // nil: they are 0
	x, scale []float64
	whole    []int64
	zero     []int64
}

func newQuantizing(c *Call, out *tensor.T, in []*tensor.T) *quantizing {
	q := &room[quantizing](c, 1)[0]
	run := min(chunk, out.Len())
	*q = quantizing{
		scales: newReader(c, asFloats, in[1], out.Shape),
		x:      room[float64](c, run), scale: room[float64](c, run),
		whole: room[int64](c, run), zero: zeros[int64](c, run),
	}
	if len(in) > 2 && in[2] != nil {
		q.zeros = newReader(c, asInts, in[2], out.Shape)
	}
	return q
}

// next makes room for so many elements and loads their scales and zeros.
func (q *quantizing) next(n int) {
	q.n = n
	q.scales.fill(q.scale[:n])
	if q.zeros != nil {
		q.zeros.fill(q.zero[:n])
	}
}

// eachChunk runs f for chunk after chunk of the result, until it is told to stop.
func (q *quantizing) eachChunk(c *Call, out *tensor.T, f func(at int)) {
	for at := 0; at < out.Len(); at += chunk {
		if at%stopEvery == 0 && c.Budget.stop() != nil {
			return // Evaluate asks again
		}
		q.next(min(chunk, out.Len()-at))
		f(at)
	}
}

// ends are the least and the greatest number of a dtype of one or two bytes.
func ends(d tensor.DType) (lo, hi float64) {
	numbers := math.Ldexp(1, 8*d.Size())
	if d.Kind() == tensor.Signed {
		return -numbers / 2, numbers/2 - 1
	}
	return 0, numbers - 1
}

func evalQuantize(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	made := into(c)
	out := made[0]
	q := newQuantizing(c, out, in)
	xs := newReader(c, asFloats, in[0], out.Shape)
	quotients := tensorRoom(c, in[0].DType, roomCopy(c, []int{len(q.x)}))
	lo, hi := ends(out.DType)
	q.eachChunk(c, out, func(at int) {
		x := q.x[:q.n]
		xs.fill(x)
		for i := range x {
			x[i] /= q.scale[i]
		}
		quotients.StoreFloats(0, x)
		quotients.LoadFloats(x, 0)
		for i, v := range x {
			q.whole[i] = q.zero[i]
			if v == v {
				z := float64(q.zero[i])
				q.whole[i] = int64(max(lo, min(hi, math.RoundToEven(v)+z)))
			}
		}
		out.StoreInts(at, q.whole[:q.n])
	})
	return made, nil
}

func evalDequantize(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	made := into(c)
	out := made[0]
	q := newQuantizing(c, out, in)
	qs := newReader(c, asInts, in[0], out.Shape)
	q.eachChunk(c, out, func(at int) {
		x := q.x[:q.n]
		qs.fill(q.whole[:q.n])
		for i := range x {
			x[i] = float64(q.whole[i] - q.zero[i])
		}
		out.StoreFloats(at, x)
		out.LoadFloats(x, at)
		for i := range x {
			x[i] *= q.scale[i]
		}
		out.StoreFloats(at, x)
	})
	return made, nil
}

// quantizedDType draws one of the dtypes of quantized numbers.
func (s *sampler) quantizedDType() tensor.DType {
	return quantizedDTypes[s.IntN(len(quantizedDTypes))]
}

// positive draws a tensor of floats above 0.
func (s *sampler) positive(t Type) *tensor.T {
	out := tensor.New(t.DType, t.Ints()...)
	for i := range out.Len() {
		out.SetFloat(i, math.Exp2(float64(s.IntN(9)-7))*(1+s.Float64()))
	}
	return out
}

func sampleQuantize(r *rand.Rand) Call {
	s := &sampler{r}
	d, to, shape := s.dtype(Floats), s.quantizedDType(), s.shape(0, 4)
	c := Call{In: []Type{T(d, Dims(shape...)...), T(d, Dims(s.part(shape)...)...), {}}, Attrs: []Lit{DTypeLit(to)}}
	c.Known = []*tensor.T{nil, s.positive(c.In[1])}
	if s.chance(2) {
		c.In[2] = T(to, Dims(s.part(shape)...)...)
		c.Attrs[0] = s.orNone(c.Attrs[0])
	}
	return c
}

func sampleDequantize(r *rand.Rand) Call {
	s := &sampler{r}
	d, shape := s.quantizedDType(), s.shape(0, 4)
	if s.chance(4) {
		d = tensor.I32
	}
	c := Call{In: []Type{T(d, Dims(shape...)...), T(s.dtype(Floats), Dims(s.part(shape)...)...), {}}}
	if s.chance(2) {
		c.In[2] = T(d, Dims(s.part(shape)...)...)
	}
	return c
}
