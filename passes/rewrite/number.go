package rewrite

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// A number is one that a rule writes: an integer, which fits any number dtype
// that can hold it, a float, which fits float dtypes, or true or false, which fit
// bool alone.
type number struct {
	isFloat bool
	isBool  bool // then i is 0 or 1
	i       int64
	f       float64
}

func boolean(yes bool) number {
	if yes {
		return number{isBool: true, i: 1}
	}
	return number{isBool: true}
}

func (n number) float() float64 {
	if n.isFloat {
		return n.f
	}
	return float64(n.i)
}

func (n number) String() string {
	switch {
	case n.isFloat:
		return ir.FloatLit(n.f).String()
	case n.isBool:
		return strconv.FormatBool(n.i != 0)
	}
	return strconv.FormatInt(n.i, 10)
}

// tensor is the number as a scalar of dtype d, if d can hold it: an integer
// exactly, a float rounded to nearest even.
func (n number) tensor(d tensor.DType) (*tensor.T, bool) {
	switch {
	case n.isBool != (d == tensor.Bool):
		return nil, false
	case d.IsFloat():
		return tensor.FromFloats(d, nil, []float64{n.float()}), true
	case n.isFloat || !tensor.FitsInt(d, n.i):
		return nil, false
	}
	return tensor.FromInts(d, nil, []int64{n.i}), true
}

// truth is what a fill of that number makes of bools; nil if it is neither 0 nor 1.
func (n number) truth() *tensor.T {
	if n.isFloat || n.i != 0 && n.i != 1 {
		return nil
	}
	return tensor.FromInts(tensor.Bool, nil, []int64{n.i})
}

// is reports whether v is a constant whose every element is the number, bit for
// bit as v's dtype stores it: 0 is not -0, and 0.7978 not its neighbour. (Any
// NaN is a nan.)
func (n number) is(v *ir.Value) bool {
	elem := Splat(v)
	if elem == nil {
		return false
	}
	want, ok := n.tensor(elem.DType)
	if !ok {
		return false
	}
	return tensor.BitEqual(elem, want) || (n.isFloat && math.IsNaN(n.f) && math.IsNaN(elem.FloatAt(0)))
}

// fills holds the operators that make a tensor of one number, and that number.
var fills = map[string]func(v *ir.Value) (number, bool){
	"zeros": func(*ir.Value) (number, bool) { return number{}, true },
	"ones":  func(*ir.Value) (number, bool) { return number{i: 1}, true },
	"full":  func(v *ir.Value) (number, bool) { return litNumber(v.Call().Attr("value")) },
}

// Splat is the one element of which v is made, as a scalar of v's dtype without
// axes; nil if v is not known to be of one element.
func Splat(v *ir.Value) *tensor.T {
	if fill := fills[v.Op.Name]; fill != nil {
		n, ok := fill(v)
		if !ok {
			return nil
		}
		if v.Type.DType == tensor.Bool {
			return n.truth()
		}
		elem, _ := n.tensor(v.Type.DType)
		return elem
	}
	if v.Op != ir.Const {
		return nil
	}
	t := v.Attrs[0].Tensor
	size := t.DType.Size()
	if len(t.Data) == 0 {
		return nil
	}
	if !bytes.Equal(t.Data[size:], t.Data[:len(t.Data)-size]) {
		return nil // every element is as the one before it
	}
	return &tensor.T{DType: t.DType, Shape: []int{}, Data: t.Data[:size]}
}

// litNumber is the number that an attribute holds, unless it is symbolic or no
// number.
func litNumber(l ir.Lit) (number, bool) {
	switch l.Kind {
	case ir.KInt:
		return number{i: l.Int}, true
	case ir.KFloat:
		return number{isFloat: true, f: l.Float}, true
	case ir.KDim:
		n, ok := l.Dims[0].Const()
		return number{i: n}, ok
	}
	return number{}, false
}

// constant computes an expression of numbers alone: 1 / sqrt(2), -0.5.
func (c *compiler) constant(e syntax.Expr) (number, bool) {
	switch e := e.(type) {
	case *syntax.NumberLit:
		return literal(e)
	case *syntax.UnaryExpr:
		n, ok := c.constant(e.X)
		for _, op := range e.Ops {
			ok = ok && op.Text == "-"
			n = n.negated()
		}
		return n, ok
	case *syntax.BinaryExpr:
		return c.constantChain(e)
	case *syntax.PostfixExpr:
		if fn, args, ok := plainCall(e); ok && constFns[fn.Name] != nil && len(args) == 1 && args[0].Name.Name == "" {
			n, ok := c.constant(args[0].Value)
			return number{isFloat: true, f: constFns[fn.Name](n.float())}, ok
		}
	}
	return number{}, false
}

func (n number) negated() number {
	return number{isFloat: n.isFloat, i: -n.i, f: -n.f}
}

// literal reads a number as it is written.
func literal(e *syntax.NumberLit) (number, bool) {
	text := strings.ReplaceAll(e.Text, "_", "")
	if !e.IsFloat {
		i, err := strconv.ParseInt(text, 0, 64)
		return number{i: i}, err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return number{isFloat: true, f: f}, err == nil
}

// constFns are the functions of numbers that a pattern may call.
var constFns = map[string]func(float64) float64{"sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log}

// arithmetic holds the operators between numbers. Integers stay integers, and
// have no result (false) if it would not be exact.
var arithmetic = map[string]struct {
	ints   func(a, b int64) (int64, bool)
	floats func(a, b float64) float64
}{
	"+":  {func(a, b int64) (int64, bool) { return a + b, small(a) && small(b) }, func(a, b float64) float64 { return a + b }},
	"-":  {func(a, b int64) (int64, bool) { return a - b, small(a) && small(b) }, func(a, b float64) float64 { return a - b }},
	"*":  {func(a, b int64) (int64, bool) { return a * b, small(a) && small(b) }, func(a, b float64) float64 { return a * b }},
	"/":  {quotient, func(a, b float64) float64 { return a / b }},
	"**": {power, math.Pow},
}

// small keeps sums and products of two integers far from overflow.
func small(n int64) bool { return n > -1<<31 && n < 1<<31 }

func quotient(a, b int64) (int64, bool) {
	if b == 0 || a%b != 0 {
		return 0, false
	}
	return a / b, true
}

func power(a, b int64) (int64, bool) {
	if b < 0 || b > 62 {
		return 0, false
	}
	n := int64(1)
	for range b {
		if n *= a; !small(n) || !small(a) {
			return 0, false
		}
	}
	return n, true
}

func (c *compiler) constantChain(e *syntax.BinaryExpr) (number, bool) {
	acc, ok := c.constant(e.First)
	for _, r := range e.Rest {
		b, isNumber := c.constant(r.X)
		fn, known := arithmetic[r.Op.Text]
		// A power reads from the right: of a chain of them nothing is made.
		if !ok || !isNumber || !known || (r.Op.Text == "**" && len(e.Rest) > 1) {
			return number{}, false
		}
		if acc, ok = combine(acc, b, fn.ints, fn.floats); !ok {
			return number{}, false
		}
	}
	return acc, ok
}

func combine(a, b number, ints func(a, b int64) (int64, bool), floats func(a, b float64) float64) (number, bool) {
	if !a.isFloat && !b.isFloat {
		i, ok := ints(a.i, b.i)
		return number{i: i}, ok
	}
	return number{isFloat: true, f: floats(a.float(), b.float())}, true
}
