package ir

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

// Choosing between elements and converting them.
var (
	Where = row(Op{
		Name: "where", Group: "choose, convert", Args: []string{"c", "a", "b"}, Class: Elementwise,
		Doc:    "a where the bool c is true, else b, bit for bit; all three broadcast",
		Infer:  inferWhere,
		Eval:   evalWhere,
		Sample: sampleWhere,
	})
	Cast = row(Op{
		Name: "cast", Group: "choose, convert", Args: []string{"x"}, Class: Elementwise,
		Doc:   "x in another dtype: floats round to nearest even; float to integer truncates and saturates, NaN to 0; integers wrap; bool is x != 0",
		Attrs: dtypeAttr,
		Infer: func(c *Call) ([]Type, error) { return []Type{{c.DType("dtype"), c.In[0].Shape}}, nil },
		Eval: func(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
			out := into(c)
			castRuns[in[0].DType.Kind()](c, out[0], in[0])
			return out, nil
		},
		Sample: sampleCast(func(_, _ tensor.DType) bool { return true }),
	})
	BitCast = row(Op{
		Name: "bitcast", Group: "choose, convert", Args: []string{"x"}, Class: Elementwise,
		Doc:   "the bits of x read as another dtype of the same size; not as bool, whose bytes are 0 and 1 only",
		Attrs: dtypeAttr,
		Infer: inferBitCast,
		Eval:  evalBitCast, strides: stridesOfAll,
		Sample: sampleCast(canBitCast),
	})
)

var dtypeAttr = []Attr{{Name: "dtype", Kind: KDType, Required: true, Doc: "the dtype of the result"}}

func inferWhere(c *Call) ([]Type, error) {
	if err := checkSet(c, 0, BoolOnly); err != nil {
		return nil, err
	}
	if err := sameDType(c, 1, 2); err != nil {
		return nil, err
	}
	shape, err := broadcastAll(c)
	return []Type{{c.In[1].DType, shape}}, err
}

// bitsOf is, by the size of an element, the dtype under which bits are moved.
var bitsOf = [...]tensor.DType{1: tensor.U8, 2: tensor.U16, 4: tensor.U32, 8: tensor.U64}

// asBits views a tensor's memory as unsigned integers, which load and store
// every bit.
func asBits(c *Call, t *tensor.T) *tensor.T {
	bits := &room[tensor.T](c, 1)[0]
	*bits = tensor.T{DType: bitsOf[t.DType.Size()], Shape: t.Shape, Data: t.Data}
	return bits
}

// castRuns convert, by the kind of the source, through the widest type that
// holds each of its elements exactly.
var castRuns = [...]func(c *Call, out, x *tensor.T){
	tensor.Float: castRun(asFloats), tensor.Signed: castRun(asInts), tensor.Unsigned: castRun(asUints), tensor.Logical: castRun(asInts),
}

// castRun is tensor.CastInto with memory that the call has.
func castRun[W wide](w width[W]) func(c *Call, out, x *tensor.T) {
	return func(c *Call, out, x *tensor.T) {
		if out.DType == x.DType && x.DType != tensor.Bool {
			tensor.CastInto(out, x)
			return
		}
		buf := room[W](c, min(chunk, x.Len()))
		for at, n := 0, x.Len(); at < n; at += chunk {
			if at%stopEvery == 0 && c.Budget.stop() != nil {
				return // Evaluate asks again
			}
			part := buf[:min(chunk, n-at)]
			w.load(x, part, at)
			w.store(out, at, part)
		}
	}
}

// pickRuns chooses among 64-bit patterns; the condition is 0 or 1.
var pickRuns = stream(asUints, asUints, func(_ *Call, dst []uint64, in [][]uint64) {
	for i, c := range in[0] {
		dst[i] = in[2-c][i]
	}
})

func evalWhere(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := into(c)
	picked := append(room[*tensor.T](c, 3)[:0], in[0], asBits(c, in[1]), asBits(c, in[2]))
	pickRuns(c, asBits(c, out[0]), picked)
	return out, nil
}

func canBitCast(from, to tensor.DType) bool {
	return from.Size() == to.Size() && (to != tensor.Bool || from == tensor.Bool)
}

func inferBitCast(c *Call) ([]Type, error) {
	x, d := c.In[0], c.DType("dtype")
	if d.Size() != x.DType.Size() {
		return nil, Errorf("dtype-mismatch", "%s has %d bytes, but %s has %d", x.DType, x.DType.Size(), d, d.Size()).
			Label(0, "%s", x).Note("bitcast keeps the number and the size of the elements")
	}
	if !canBitCast(x.DType, d) {
		return nil, Errorf("dtype-mismatch", "the bits of %s may be other than 0 and 1, which bool has not", x.DType).
			Label(0, "%s", x).Help("compare with 0 instead")
	}
	return []Type{{d, x.Shape}}, nil
}

func evalBitCast(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	return resultOf(c, in[0]), nil
}

func sampleWhere(r *rand.Rand) Call {
	s := &sampler{r}
	d, shape := s.dtype(AnyDType), s.shape(0, 4)
	c := Call{In: []Type{T(tensor.Bool, Dims(s.part(shape)...)...)}}
	for range 2 {
		c.In = append(c.In, T(d, Dims(s.part(shape)...)...))
	}
	return c
}

func sampleCast(legal func(from, to tensor.DType) bool) func(*rand.Rand) Call {
	return func(r *rand.Rand) Call {
		s := &sampler{r}
		from, to := s.dtype(AnyDType), s.dtype(AnyDType)
		for !legal(from, to) {
			to = s.dtype(AnyDType)
		}
		return Call{In: []Type{T(from, Dims(s.shape(0, 4)...)...)}, Attrs: []Lit{DTypeLit(to)}}
	}
}
