package lang

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// Arithmetic of compile-time numbers. Integers are exact: an overflow is an
// error, and so is a division with a remainder. Floats are float64.

// number reads a literal.
func number(n *syntax.NumberLit) value {
	plain := strings.ReplaceAll(n.Text, "_", "")
	if n.IsFloat {
		f, err := strconv.ParseFloat(plain, 64)
		if err != nil && !math.IsInf(f, 0) {
			f = math.NaN()
		}
		return floatVal{f, plain}
	}
	b, ok := new(big.Int).SetString(plain, 0)
	if !ok {
		// 007 is decimal: a leading zero means nothing.
		b, ok = new(big.Int).SetString(strings.TrimLeft(plain, "0"), 10)
	}
	if !ok {
		return intOf(0)
	}
	return bigInt(b)
}

// bigInt makes an integer, as a Dim if that holds it.
func bigInt(b *big.Int) intVal {
	if b.IsInt64() && b.Int64() < ir.MaxDim && b.Int64() > -ir.MaxDim {
		return intOf(b.Int64())
	}
	return intVal{big: b}
}

// asFloat converts a number without symbols.
func asFloat(v value) (float64, bool) {
	switch v := v.(type) {
	case floatVal:
		return v.f, true
	case intVal:
		if v.big != nil {
			f, _ := new(big.Float).SetInt(v.big).Float64()
			return f, true
		}
		n, ok := v.d.Const()
		return float64(n), ok
	}
	return 0, false
}

// negate is -v.
func negate(v value) value {
	switch v := v.(type) {
	case floatVal:
		text := ""
		if v.text != "" {
			text = "-" + v.text
			if strings.HasPrefix(v.text, "-") {
				text = v.text[1:]
			}
		}
		return floatVal{-v.f, text}
	case intVal:
		if v.big != nil {
			return bigInt(new(big.Int).Neg(v.big))
		}
		return intVal{d: v.d.Mul(ir.N(-1))}
	}
	return v
}

// An arithmetic is the meaning of a binary operator for compile-time numbers.
// A nil half means that the operator has no meaning for that kind.
type arithmetic struct {
	ints   func(e *elaborator, a, b ir.Dim, at diag.Span) (value, error)
	floats func(a, b float64) (value, error)
}

var arithmetics = map[string]arithmetic{
	"+":  {exact(ir.Dim.Add), float(func(a, b float64) float64 { return a + b })},
	"-":  {exact(ir.Dim.Sub), float(func(a, b float64) float64 { return a - b })},
	"*":  {exact(ir.Dim.Mul), float(func(a, b float64) float64 { return a * b })},
	"/":  {divide, float(func(a, b float64) float64 { return a / b })},
	"%":  {remainder, float(math.Mod)},
	"**": {power, float(math.Pow)},
	"<<": {onConst(func(a, b int64) (int64, error) { return shift(a, b) }), nil},
	">>": {onConst(func(a, b int64) (int64, error) {
		if b < 0 {
			return 0, fmt.Errorf("the shift count %d is negative", b)
		}
		return a >> min(b, 63), nil
	}), nil},
	"&":  {onConst(func(a, b int64) (int64, error) { return a & b, nil }), nil},
	"|":  {onConst(func(a, b int64) (int64, error) { return a | b, nil }), nil},
	"^":  {onConst(func(a, b int64) (int64, error) { return a ^ b, nil }), nil},
	"==": {equalInts, test(func(a, b float64) bool { return a == b })},
	"!=": {notEqualInts, test(func(a, b float64) bool { return a != b })},
	"<":  {less(0, false), test(func(a, b float64) bool { return a < b })},
	"<=": {less(1, false), test(func(a, b float64) bool { return a <= b })},
	">":  {less(0, true), test(func(a, b float64) bool { return a > b })},
	">=": {less(1, true), test(func(a, b float64) bool { return a >= b })},
}

// float lifts a function of floats.
func float(f func(a, b float64) float64) func(a, b float64) (value, error) {
	return func(a, b float64) (value, error) { return floatVal{f: f(a, b)}, nil }
}

// test lifts a comparison of floats.
func test(f func(a, b float64) bool) func(a, b float64) (value, error) {
	return func(a, b float64) (value, error) { return boolVal(f(a, b)), nil }
}

// errRange is the error of an integer that grows too large.
var errRange = &ir.Error{Code: "out-of-range", Msg: "the result does not fit a compile-time integer"}

// checked refuses a Dim that has no value or has left the range.
func checked(d ir.Dim) (value, error) {
	if n, ok := d.Const(); ok && (n >= ir.MaxDim || n <= -ir.MaxDim) {
		return nil, errRange
	}
	if err := d.Err(); err != nil {
		return nil, ir.Errorf("out-of-range", "%s", err)
	}
	return intVal{d: d}, nil
}

// exact lifts an operation of Dims, which saturate instead of wrapping.
func exact(f func(a, b ir.Dim) ir.Dim) func(*elaborator, ir.Dim, ir.Dim, diag.Span) (value, error) {
	return func(_ *elaborator, a, b ir.Dim, _ diag.Span) (value, error) { return checked(f(a, b)) }
}

// onConst lifts a function of integers that says nothing of symbols.
func onConst(f func(a, b int64) (int64, error)) func(*elaborator, ir.Dim, ir.Dim, diag.Span) (value, error) {
	return func(_ *elaborator, a, b ir.Dim, _ diag.Span) (value, error) {
		x, xOK := a.Const()
		y, yOK := b.Const()
		if !xOK || !yOK {
			return nil, ir.Errorf("not-constant", "the operator needs integers that are known when the program is compiled")
		}
		n, err := f(x, y)
		if err != nil {
			return nil, ir.Errorf("out-of-range", "%s", err)
		}
		return checked(ir.N(n))
	}
}

// shift is a << b where that fits.
func shift(a, b int64) (int64, error) {
	if b < 0 {
		return 0, fmt.Errorf("the shift count %d is negative", b)
	}
	if a != 0 && (b > 62 || a > math.MaxInt64>>b || a < math.MinInt64>>b) {
		return 0, fmt.Errorf("the result does not fit a compile-time integer")
	}
	return a << min(b, 62), nil
}

// divide is exact. For symbols it becomes a condition of the program.
func divide(e *elaborator, a, b ir.Dim, at diag.Span) (value, error) {
	x, xOK := a.Const()
	y, yOK := b.Const()
	switch {
	case yOK && y == 0:
		return nil, ir.Errorf("out-of-range", "%s is divided by 0", a)
	case xOK && yOK && x%y != 0:
		return nil, ir.Errorf("out-of-range", "%d does not divide by %d", x, y).
			Note("/ of integers is exact").
			Help("floordiv(%d, %d) and ceildiv(%d, %d) round; %d.0 / %d is a float", x, y, x, y, x, y)
	}
	q := a.Div(b)
	if strings.Contains(q.String(), "/") {
		e.assert(a, "%", b, "/", at)
	}
	return checked(q)
}

// remainder has the sign of a, as in Go.
func remainder(_ *elaborator, a, b ir.Dim, _ diag.Span) (value, error) {
	if b.Is(0) {
		return nil, ir.Errorf("out-of-range", "%s is divided by 0", a)
	}
	return checked(ir.Mod(a, b))
}

// power multiplies. A negative exponent gives a float.
func power(e *elaborator, a, b ir.Dim, at diag.Span) (value, error) {
	n, ok := b.Const()
	if !ok {
		return nil, ir.Errorf("not-constant", "the exponent %s is not known when the program is compiled", b)
	}
	if n < 0 {
		x, ok := a.Const()
		if !ok {
			args := []operand{{intVal{d: a}, at}, {floatVal{f: float64(n)}, at}}
			return e.late(site{name: "pow", at: at, args: args}, ir.Lookup("pow"), args), nil
		}
		return floatVal{f: math.Pow(float64(x), float64(n))}, nil
	}
	if x, ok := a.Const(); ok && x >= -1 && x <= 1 {
		n = min(n, 2+n%2) // 0, 1 and -1 stay small, whatever the exponent
	}
	out := ir.N(1)
	for range min(n, 64) {
		out = out.Mul(a)
	}
	if n > 64 {
		return nil, errRange
	}
	return checked(out)
}

// equalInts decides equality if it holds for every value of the symbols, or for
// none.
func equalInts(_ *elaborator, a, b ir.Dim, _ diag.Span) (value, error) {
	diff := a.Sub(b)
	switch {
	case diff.Is(0):
		return boolVal(true), nil
	case diff.IsConst(), diff.Sub(ir.N(1)).NonNeg(), diff.Mul(ir.N(-1)).Sub(ir.N(1)).NonNeg():
		return boolVal(false), nil
	}
	return nil, undecided(a, "==", b)
}

func notEqualInts(e *elaborator, a, b ir.Dim, at diag.Span) (value, error) {
	v, err := equalInts(e, a, b, at)
	if err != nil {
		return nil, undecided(a, "!=", b)
	}
	return !v.(boolVal), nil
}

// less compares a < b (slack 0) or a <= b (slack 1), or with a and b swapped.
func less(slack int64, swap bool) func(*elaborator, ir.Dim, ir.Dim, diag.Span) (value, error) {
	return func(_ *elaborator, a, b ir.Dim, _ diag.Span) (value, error) {
		if swap {
			a, b = b, a
		}
		gap := b.Sub(a)
		switch {
		case gap.Sub(ir.N(1 - slack)).NonNeg():
			return boolVal(true), nil
		case gap.Mul(ir.N(-1)).Sub(ir.N(slack)).NonNeg():
			return boolVal(false), nil
		}
		return nil, undecided(a, map[int64]string{0: "<", 1: "<="}[slack], b)
	}
}

// undecided is the error of a comparison whose outcome depends on a symbol.
func undecided(a ir.Dim, op string, b ir.Dim) error {
	return ir.Errorf("not-constant", "whether %s %s %s is known only when the program runs", a, op, b).
		Note("a condition on dimensions must hold, or fail, for every value of the symbols")
}
