package ir

import (
	"math"

	"github.com/npulang/npu/ir/tensor"
)

// Numbers among the attributes: a KNum is an integer, perhaps symbolic, or a
// float; here it meets the dtype that it is to have.

// checkNum checks that the number attribute fits the dtype, as far as it is
// known.
func checkNum(c *Call, name string, d tensor.DType) error {
	l := c.Attr(name)
	if l.Kind == KFloat {
		return checkFloat(l.Float, d)
	}
	n, known := l.Dims[0].Const()
	switch {
	case !known:
		return nil
	case n >= MaxDim || n <= -MaxDim:
		// The algebra saturates: what was written may have been larger.
		return Errorf("out-of-range", "the number is too large for an attribute").Help("write it as a tensor of dtype %s", d)
	case !tensor.FitsInt(d, n):
		return Errorf("out-of-range", "%d does not fit %s", n, d)
	}
	return nil
}

func checkFloat(v float64, d tensor.DType) error {
	if !d.IsFloat() {
		return Errorf("dtype-mismatch", "%v beside dtype %s", v, d).Note("a number with a point or exponent is a float")
	}
	if !tensor.FitsFloat(d, v) {
		return Errorf("out-of-range", "%v does not fit %s", v, d)
	}
	return nil
}

// numScalar makes the number attribute of a bound call a scalar of dtype d.
func numScalar(c *Call, name string, d tensor.DType) (*tensor.T, error) {
	if err := checkNum(c, name, d); err != nil {
		return nil, err
	}
	if l := c.Attr(name); l.Kind == KFloat {
		return scalarOf(c, asFloats, d, l.Float), nil
	}
	return scalarOf(c, asInts, d, numInt(c.Attr(name))), nil
}

// scalarOf is room for a scalar of dtype d, which holds v.
func scalarOf[W wide](c *Call, w width[W], d tensor.DType, v W) *tensor.T {
	t := tensorRoom(c, d, nil)
	w.store(t, 0, allTheSame(c, v, 1))
	return t
}

// numInt is the integer of a bound KNum that is no float.
func numInt(l Lit) int64 {
	n, _ := l.Dims[0].Const()
	return n
}

// numFloat is the value of a bound KNum.
func numFloat(l Lit) float64 {
	if l.Kind == KFloat {
		return l.Float
	}
	return float64(numInt(l))
}

// rangeOf is a, b and step of arange with their defaults.
func rangeOf(c *Call) (a, b, step Lit) {
	a, b, step = c.Attr("a"), c.Attr("b"), c.Attr("step")
	if b.IsNone() {
		a, b = DimLit(N(0)), a
	}
	return a, b, step
}

// inferArange counts whole numbers by the algebra, so that ends may be
// symbolic, and floats in float64 as NumPy does.
func inferArange(c *Call) ([]Type, error) {
	a, b, step := rangeOf(c)
	d := tensor.I64
	whole := a.Kind == KDim && b.Kind == KDim && step.Kind == KDim
	if !whole {
		d = tensor.F32
	}
	if l := c.Attr("dtype"); !l.IsNone() {
		d = l.DType
	}
	if !Numbers.Has(d) || !whole && !d.IsFloat() {
		return nil, Errorf("dtype-mismatch", "the numbers do not fit dtype %s", d)
	}
	count := countFloats
	if whole {
		count = countInts
	}
	n, err := count(a, b, step)
	return []Type{T(d, n)}, err
}

func countInts(a, b, step Lit) (Dim, error) {
	k, known := step.Dims[0].Const()
	if !known || k == 0 {
		return Dim{}, Errorf("out-of-range", "the step is %s", step.Dims[0]).Note("the step is a constant other than 0")
	}
	length := b.Dims[0].Sub(a.Dims[0])
	if k < 0 {
		length, k = length.Mul(N(-1)), -k
	}
	return CeilDiv(MaxOf(length, N(0)), N(k)), nil
}

func countFloats(a, b, step Lit) (Dim, error) {
	for _, l := range []Lit{a, b, step} {
		if l.Kind == KDim && !l.Dims[0].IsConst() {
			return Dim{}, Errorf("not-constant", "dimension %s stands beside a float", l.Dims[0]).Note("the length of a range of floats must be known when it is compiled")
		}
	}
	n := math.Ceil((numFloat(b) - numFloat(a)) / numFloat(step))
	switch {
	case math.IsNaN(n) || n > MaxBytes:
		return Dim{}, Errorf("out-of-range", "from %v to %v in steps of %v is no finite range", numFloat(a), numFloat(b), numFloat(step))
	case n <= 0:
		return N(0), nil
	}
	return N(int64(n)), nil
}

func evalArange(c *Call, _ ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	a, _, step := rangeOf(c)
	if a.Kind == KDim && step.Kind == KDim {
		first, by := numInt(a), numInt(step)
		storeEach(c, out[0], asInts, func(i int64) int64 { return first + i*by })
		return out, nil
	}
	first, by := numFloat(a), numFloat(step)
	storeEach(c, out[0], asFloats, func(i float64) float64 { return first + float64(i*by) })
	return out, nil
}

func inferLinspace(c *Call) ([]Type, error) {
	if d := c.DType("dtype"); !d.IsFloat() {
		return nil, Errorf("dtype-mismatch", "numbers at equal distances in %s", d).Note("the dtype must be %s", Floats)
	}
	return []Type{T(c.DType("dtype"), c.Attr("n").Dims[0])}, nil
}

// evalLinspace ends on b exactly, as NumPy does.
func evalLinspace(c *Call, _ ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	a, b := numFloat(c.Attr("a")), numFloat(c.Attr("b"))
	last := float64(out[0].Len() - 1)
	step := (b - a) / max(last, 1)
	storeEach(c, out[0], asFloats, func(i float64) float64 {
		if i == last && i > 0 {
			return b
		}
		return a + float64(i*step)
	})
	return out, nil
}
