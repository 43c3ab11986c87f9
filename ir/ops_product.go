package ir

import (
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Products: sums of products are accumulated in float64 and rounded once;
// those of integers wrap in the dtype of the result.
var (
	MatMul = row(Op{
		Name: "matmul", Group: "product", Args: pair, Attrs: sumsAttr, Over: Numbers, Class: Contract, Unit: Cube,
		Doc:    "product of matrices; leading axes broadcast, and a vector is a row on the left, a column on the right",
		Infer:  inferMatMul,
		Eval:   evalMatMul,
		Cost:   costMatMul,
		Sample: sampleMatMul,
	})
	Linear = row(Op{
		Name: "linear", Group: "product", Args: []string{"x", "w", "b?"}, Attrs: sumsAttr, Over: Numbers, Class: Contract, Unit: Cube,
		Doc:    "x @ transpose(w) + b, with w: [out, in] as PyTorch keeps it; the product is rounded before b is added",
		Infer:  inferLinear,
		Eval:   evalLinear,
		Cost:   costMatMul,
		Sample: sampleLinear,
	})
	BiasAdd = row(Op{
		Name: "bias_add", Group: "product", Args: []string{"x", "b"}, Over: Numbers, Class: Elementwise,
		Doc:    "x + b, with b a vector along the last axis of x",
		Infer:  inferBiasAdd,
		Eval:   evalAdd,
		Sample: sampleBiasAdd,
	})
	Dot = row(Op{
		Name: "dot", Group: "product", Args: pair, Over: Numbers, Class: Contract, Unit: Vector,
		Doc:    "sum of the products of two vectors",
		Infer:  inferDot,
		Eval:   evalDot,
		Cost:   func(c *Call) Cost { cost := costInput(c); cost.Flops *= 2; return cost },
		Sample: sampleVectors(func(n, _ int) (int, int) { return n, n }),
	})
	Outer = row(Op{
		Name: "outer", Group: "product", Args: pair, Over: Numbers, Class: Contract, Unit: Vector,
		Doc:    "the product of each element of a with each of b",
		Infer:  inferOuter,
		Eval:   evalOuter,
		Sample: sampleVectors(func(n, m int) (int, int) { return n, m }),
	})
)

// sumsAttr is the dtype of a product where it is wider than its operands.
var sumsAttr = []Attr{{
	Name: "dtype", Kind: KDType,
	Doc: "the dtype of the result, and of its sums: f32 of operands of bf16 or f16, i32 of operands of i8 or u8, which may be mixed; absent: that of the operands",
}}

// wider lists, by the dtype of a product, operands that are narrower.
var wider = map[tensor.DType][]tensor.DType{
	tensor.F32: {tensor.BF16, tensor.F16},
	tensor.I32: {tensor.I8, tensor.U8},
}

// productDType is the dtype of a product, whose first two arguments are the
// operands; a third one is added to it.
func productDType(c *Call) (tensor.DType, error) {
	l := c.Attr("dtype")
	if l.IsNone() {
		return c.In[0].DType, sameDType(c)
	}
	for i := range 2 {
		if err := checkOver(c, i); err != nil {
			return 0, err
		}
	}
	a, b, to := c.In[0].DType, c.In[1].DType, l.DType
	if !(a == b && a == to) && !(widens(a, to) && widens(b, to) && (a == b || to.IsInt())) {
		return 0, Errorf("dtype-mismatch", "%s by %s gives no %s", a, b, to).
			Label(0, "%s", c.In[0]).Label(1, "%s", c.In[1]).
			Note("the dtype of a product is that of its operands, f32 of two of bf16 or of f16, or i32 of i8 and u8")
	}
	if c.has(2) && c.In[2].DType != to {
		return 0, Errorf("dtype-mismatch", "the product is %s, but %s is added to it", to, c.In[2].DType).
			Label(2, "%s", c.In[2]).Note("there is no implicit conversion between dtypes")
	}
	return to, nil
}

func widens(from, to tensor.DType) bool { return slices.Contains(wider[to], from) }

const matMulRule = "matmul(a: [..., M, K], b: [..., K, N]) -> [..., M, N]"

func inferMatMul(c *Call) ([]Type, error) {
	d, err := productDType(c)
	if err != nil {
		return nil, err
	}
	a, b := c.In[0].Shape, c.In[1].Shape
	for i, shape := range [][]Dim{a, b} {
		if len(shape) == 0 {
			return nil, Errorf("rank-mismatch", "%s is a scalar, but must be a vector or matrix", pair[i]).
				Label(i, "%s", c.In[i]).Note(matMulRule)
		}
	}
	left, right := matrixShapes(a, b, N(1))
	if k, l := left[len(left)-1], right[len(right)-2]; !k.Equal(l) {
		return nil, Errorf("shape-mismatch", "inner dimensions differ: %s and %s", k, l).
			Label(0, "%s, K = %s", c.In[0], k).Label(1, "%s, K = %s", c.In[1], l).Note(matMulRule)
	}
	batch, ok := Broadcast(left[:len(left)-2], right[:len(right)-2])
	if !ok {
		return nil, Errorf("shape-mismatch", "batch dimensions %s and %s do not broadcast",
			ShapeString(left[:len(left)-2]), ShapeString(right[:len(right)-2])).
			Label(0, "%s", c.In[0]).Label(1, "%s", c.In[1]).Note(matMulRule)
	}
	if len(a) > 1 {
		batch = append(batch, left[len(left)-2])
	}
	if len(b) > 1 {
		batch = append(batch, right[len(right)-1])
	}
	return []Type{{d, batch}}, nil
}

// matrixShapes makes a row of a vector on the left and a column of one on the
// right; unit is the size 1.
func matrixShapes[E any](a, b []E, unit E) (left, right []E) {
	if len(a) == 1 {
		a = []E{unit, a[0]}
	}
	if len(b) == 1 {
		b = []E{b[0], unit}
	}
	return a, b
}

func evalMatMul(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	left, right := matrixShapes(in[0].Shape, in[1].Shape, 1)
	a, b := reshaped(c, in[0], left...), reshaped(c, in[1], right...)
	batch := intsOf(c, c.Out[0])
	if len(in[0].Shape) > 1 {
		batch = batch[:len(batch)-1]
	}
	if len(in[1].Shape) > 1 {
		batch = batch[:len(batch)-1]
	}
	full := append(room[int](c, len(batch)+2)[:0], batch...)
	full = append(full, left[len(left)-2], right[len(right)-1])
	return out, multiply(c, reshaped(c, out[0], full...), a, b)
}

// costMatMul counts a multiply and an add for each step of the inner axis.
func costMatMul(c *Call) Cost {
	cost := DefaultCost(c, 1)
	shape := c.In[0].Shape
	k, _ := shape[len(shape)-1].Const()
	cost.Flops *= 2 * k
	return cost
}

const linearRule = "linear(x: [..., in], w: [out, in], b: [out]) -> [..., out]"

func inferLinear(c *Call) ([]Type, error) {
	d, err := productDType(c)
	if err != nil {
		return nil, err
	}
	x, w := c.In[0], c.In[1]
	if x.Rank() == 0 {
		return nil, Errorf("rank-mismatch", "x is a scalar, but needs an axis to multiply along").Label(0, "%s", x).Note(linearRule)
	}
	if err := checkRank(c, 1, 2); err != nil {
		return nil, err
	}
	if k := x.Shape[x.Rank()-1]; !k.Equal(w.Shape[1]) {
		return nil, Errorf("shape-mismatch", "inner dimensions differ: %s and %s", k, w.Shape[1]).
			Label(0, "%s, in = %s", x, k).Label(1, "%s, in = %s", w, w.Shape[1]).Note(linearRule)
	}
	if c.has(2) {
		if err := checkRank(c, 2, 1); err != nil {
			return nil, err
		}
		if n := c.In[2].Shape[0]; !n.Equal(w.Shape[0]) {
			return nil, Errorf("shape-mismatch", "w has %s rows, but b has %s elements", w.Shape[0], n).
				Label(1, "%s, out = %s", w, w.Shape[0]).Label(2, "%s, out = %s", c.In[2], n).Note(linearRule)
		}
	}
	shape := append([]Dim{}, x.Shape...)
	shape[len(shape)-1] = w.Shape[0]
	return []Type{{d, shape}}, nil
}

func evalLinear(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	made, x, w := results(c), in[0], in[1]
	out, n, k := made[0], w.Shape[0], w.Shape[1]
	rows := 1
	for _, d := range x.Shape[:len(x.Shape)-1] {
		rows *= d
	}
	if err := multiplyTurned(c, reshaped(c, out, rows, n), reshaped(c, x, rows, k), w); err != nil {
		return nil, err
	}
	if len(in) > 2 && in[2] != nil {
		both := append(room[*tensor.T](c, 2)[:0], out, in[2])
		additions[out.DType.Kind()](c, out, both)
	}
	return made, nil
}

// evalAdd adds with broadcasting.
func evalAdd(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := into(c)
	additions[in[0].DType.Kind()](c, out[0], in)
	return out, nil
}

func inferBiasAdd(c *Call) ([]Type, error) {
	const rule = "bias_add(x: [..., N], b: [N]) -> [..., N]"
	if err := sameDType(c); err != nil {
		return nil, err
	}
	x, b := c.In[0], c.In[1]
	if x.Rank() == 0 {
		return nil, Errorf("rank-mismatch", "x is a scalar, but needs an axis for the bias").Label(0, "%s", x).Note(rule)
	}
	if err := checkRank(c, 1, 1); err != nil {
		return nil, err
	}
	if n := x.Shape[x.Rank()-1]; !n.Equal(b.Shape[0]) {
		return nil, Errorf("shape-mismatch", "the last dimension of x is %s, but b has %s elements", n, b.Shape[0]).
			Label(0, "%s, N = %s", x, n).Label(1, "%s, N = %s", b, b.Shape[0]).Note(rule)
	}
	return []Type{x}, nil
}

func inferDot(c *Call) ([]Type, error) {
	if err := checkVectors(c); err != nil {
		return nil, err
	}
	if n, m := c.In[0].Shape[0], c.In[1].Shape[0]; !n.Equal(m) {
		return nil, Errorf("shape-mismatch", "the vectors have %s and %s elements", n, m).
			Label(0, "%s", c.In[0]).Label(1, "%s", c.In[1]).Note("dot(a: [N], b: [N]) -> []")
	}
	return []Type{T(c.In[0].DType)}, nil
}

func inferOuter(c *Call) ([]Type, error) {
	if err := checkVectors(c); err != nil {
		return nil, err
	}
	return []Type{T(c.In[0].DType, c.In[0].Shape[0], c.In[1].Shape[0])}, nil
}

// checkVectors wants two vectors of one dtype.
func checkVectors(c *Call) error {
	if err := sameDType(c); err != nil {
		return err
	}
	for i := range c.In {
		if c.In[i].Rank() != 1 {
			return Errorf("rank-mismatch", "%s has rank %d, but must be a vector", pair[i], c.In[i].Rank()).
				Label(i, "%s", c.In[i]).Note("matmul multiplies tensors of other ranks")
		}
	}
	return nil
}

func evalDot(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	n := in[0].Len()
	return out, multiply(c, reshaped(c, out[0], 1, 1), reshaped(c, in[0], 1, n), reshaped(c, in[1], n, 1))
}

func evalOuter(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	return out, multiply(c, out[0], reshaped(c, in[0], in[0].Len(), 1), reshaped(c, in[1], 1, in[1].Len()))
}

// operands draws the dtypes of two operands and of their product, which an
// attribute may say.
func (s *sampler) operands() (a, b, sum tensor.DType, attrs []Lit) {
	a = s.dtype(Numbers)
	if !s.chance(3) {
		return a, a, a, []Lit{None}
	}
	switch s.IntN(4) {
	case 0:
		return a, a, a, []Lit{DTypeLit(a)}
	case 1, 2:
		a = wider[tensor.F32][s.IntN(2)]
		return a, a, tensor.F32, []Lit{DTypeLit(tensor.F32)}
	}
	bytes := wider[tensor.I32]
	return bytes[s.IntN(2)], bytes[s.IntN(2)], tensor.I32, []Lit{DTypeLit(tensor.I32)}
}

func sampleMatMul(r *rand.Rand) Call {
	s := &sampler{r}
	left, right, _, attrs := s.operands()
	batch := s.shape(0, 2)
	m, k, n := s.size(), s.size(), s.size()
	a := append(s.part(batch), m, k)
	b := append(s.part(batch), k, n)
	if s.chance(6) {
		a = []int{k}
	}
	if s.chance(6) {
		b = []int{k}
	}
	return Call{In: []Type{T(left, Dims(a...)...), T(right, Dims(b...)...)}, Attrs: attrs}
}

func sampleLinear(r *rand.Rand) Call {
	s := &sampler{r}
	left, right, sum, attrs := s.operands()
	x, n := s.shape(1, 3), s.size()
	c := Call{In: []Type{T(left, Dims(x...)...), T(right, Dims(n, x[len(x)-1])...), {}}, Attrs: attrs}
	if s.chance(2) {
		c.In[2] = T(sum, Dims(n)...)
	}
	return c
}

func sampleBiasAdd(r *rand.Rand) Call {
	s := &sampler{r}
	d, x := s.dtype(Numbers), s.shape(1, 4)
	return Call{In: []Type{T(d, Dims(x...)...), T(d, Dims(x[len(x)-1])...)}}
}

// sampleVectors draws two vectors; sizes makes their lengths of two draws.
func sampleVectors(sizes func(n, m int) (int, int)) func(*rand.Rand) Call {
	return func(r *rand.Rand) Call {
		s := &sampler{r}
		d := s.dtype(Numbers)
		n, m := sizes(s.size(), s.size())
		return Call{In: []Type{T(d, Dims(n)...), T(d, Dims(m)...)}}
	}
}
