package ir_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// attrs sets attributes by name; the others keep their defaults.
type attrs map[string]ir.Lit

// callOf makes a call of an operator on tensors, its results inferred.
func callOf(name string, as attrs, in ...*tensor.T) (*ir.Call, error) {
	op := ir.Lookup(name)
	if op == nil {
		return nil, fmt.Errorf("there is no operator %s", name)
	}
	c := &ir.Call{Op: op, Attrs: op.Defaults(), In: make([]ir.Type, len(in))}
	set := 0
	for i, a := range op.Attrs {
		if l, ok := as[a.Name]; ok {
			c.Attrs[i] = l
			set++
		}
	}
	if set != len(as) {
		return nil, fmt.Errorf("%s lacks some of the attributes %v", name, sortedKeys(as))
	}
	for i, x := range in {
		if x != nil {
			c.In[i] = ir.TypeOf(x)
		}
	}
	return c, ir.InferCall(c)
}

// evalOp evaluates an operator.
func evalOp(name string, as attrs, in ...*tensor.T) ([]*tensor.T, error) {
	c, err := callOf(name, as, in...)
	if err != nil {
		return nil, err
	}
	return c.Op.Eval(c, in...)
}

// near compares a result with what is wanted: the same shape, integers equal,
// floats at most ulp steps of the wanted dtype apart. A bool may be wanted as
// another dtype.
func near(got, want *tensor.T, ulp int64) error {
	if !tensor.SameShape(got.Shape, want.Shape) {
		return fmt.Errorf("shape %v, want %v", got.Shape, want.Shape)
	}
	if got.DType != want.DType && got.DType != tensor.Bool {
		return fmt.Errorf("dtype %v, want %v", got.DType, want.DType)
	}
	if got.DType == want.DType && bytes.Equal(got.Data, want.Data) {
		return nil
	}
	if !want.DType.IsFloat() {
		return nearInts(got.Ints(), want.Ints())
	}
	wants := want.Floats()
	for i, v := range got.Floats() {
		if v == wants[i] {
			continue
		}
		if d := steps(want.DType, v, wants[i]); d > ulp {
			return fmt.Errorf("element %d is %v, want %v: %d ulp apart", i, v, wants[i], d)
		}
	}
	return nil
}

func nearInts(got, want []int64) error {
	for i, v := range got {
		if v != want[i] {
			return fmt.Errorf("element %d is %v, want %v", i, v, want[i])
		}
	}
	return nil
}

// steps counts how many values of the dtype lie from a to b: 0 for two NaNs,
// far more than any tolerance for one.
func steps(d tensor.DType, a, b float64) int64 {
	if a != a || b != b {
		if a != a && b != b {
			return 0
		}
		return math.MaxInt64
	}
	p, q := place(d, a), place(d, b)
	return max(p-q, q-p)
}

// place numbers the values of a float dtype in order, both zeros as 0.
func place(d tensor.DType, v float64) int64 {
	var bits int64
	switch d {
	case tensor.F64:
		bits = int64(math.Float64bits(math.Abs(v)))
	case tensor.F32:
		bits = int64(math.Float32bits(float32(math.Abs(v))))
	case tensor.F16:
		bits = int64(tensor.ToF16(math.Abs(v)))
	default:
		bits = int64(tensor.ToBF16(math.Abs(v)))
	}
	if v < 0 {
		return -bits
	}
	return bits
}
