package lang

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Functions of compile-time numbers: the few that no operator has, and the
// element-wise operators, which compute with numbers when they get nothing
// else.

// A pureFunc is a function of compile-time values only.
type pureFunc struct {
	call func(e *elaborator, name string, at diag.Span, args []argument) value
}

var pureFuncs = map[string]*pureFunc{
	"floordiv": intFunc(func(a, b ir.Dim) (ir.Dim, error) { return rounded(ir.FloorDiv, a, b) }),
	"ceildiv":  intFunc(func(a, b ir.Dim) (ir.Dim, error) { return rounded(ir.CeilDiv, a, b) }),
}

// kindConversions are the words int and float as functions.
var kindConversions = map[string]value{
	"int":   builtinVal{name: "int", fn: &pureFunc{toInt}},
	"float": builtinVal{name: "float", fn: &pureFunc{toFloat}},
}

// rounded refuses to divide by 0.
func rounded(f func(a, b ir.Dim) ir.Dim, a, b ir.Dim) (ir.Dim, error) {
	if b.Is(0) {
		return ir.Dim{}, ir.Errorf("out-of-range", "%s is divided by 0", a)
	}
	return f(a, b), nil
}

// intFunc makes a function of two integers.
func intFunc(f func(a, b ir.Dim) (ir.Dim, error)) *pureFunc {
	return &pureFunc{func(e *elaborator, name string, at diag.Span, args []argument) value {
		if !e.arity(name, at, args, 2) {
			return poison{}
		}
		a, aOK := e.asInt(args[0].operand, "the first argument of "+name)
		b, bOK := e.asInt(args[1].operand, "the second argument of "+name)
		if !aOK || !bOK {
			return poison{}
		}
		d, err := f(a, b)
		if err == nil {
			var v value
			if v, err = checked(d); err == nil {
				return v
			}
		}
		e.refuse(site{name: name, at: at}, err, nil)
		return poison{}
	}}
}

// arity checks that a function of compile-time values gets n arguments, by
// position.
func (e *elaborator) arity(name string, at diag.Span, args []argument, n int) bool {
	for _, a := range args {
		if a.name.Name != "" {
			d := e.errorf("wrong-arguments", a.name.At, "there is no argument %s", a.name.Name)
			d.Subject = name
			return false
		}
	}
	if len(args) == n {
		return true
	}
	code := "wrong-arguments"
	if len(args) < n {
		code = "missing-argument"
	}
	d := e.errorf(code, at, "takes %s, got %d", count(n, "argument"), len(args))
	d.Subject = name
	return false
}

// toInt is int(x): toward zero.
func toInt(e *elaborator, name string, at diag.Span, args []argument) value {
	if !e.arity(name, at, args, 1) {
		return poison{}
	}
	switch v := args[0].val.(type) {
	case intVal:
		return v
	case boolVal:
		return intOf(int64(boolInt(bool(v))))
	case floatVal:
		if f := math.Trunc(v.f); math.Abs(f) < ir.MaxDim {
			return intOf(int64(f))
		}
		d := e.errorf("out-of-range", args[0].at, "%s does not fit an integer", show(v))
		d.Subject = name
		return poison{}
	}
	return e.noConversion(name, args[0].operand, tensor.I64)
}

// toFloat is float(n). A symbol becomes a number of the program that runs.
func toFloat(e *elaborator, name string, at diag.Span, args []argument) value {
	if !e.arity(name, at, args, 1) {
		return poison{}
	}
	if f, ok := asFloat(args[0].val); ok {
		if v, already := args[0].val.(floatVal); already {
			return v
		}
		return floatVal{f: f}
	}
	switch n := args[0].val.(type) {
	case lateVal:
		return n
	case intVal:
		if t, ok := e.wrap(e.symbolTensor(args[0].operand, n.d, tensor.F64)).(tensorVal); ok {
			return lateVal{t}
		}
		return poison{}
	}
	return e.noConversion(name, args[0].operand, tensor.F32)
}

// noConversion reports int(x) or float(x) of something else than a number.
func (e *elaborator) noConversion(name string, o operand, d tensor.DType) value {
	if isTensor(o.val) || isLate(o.val) {
		diagnosis := e.errorf("not-constant", o.at, "%s(x) converts numbers that are known when the program is compiled", name)
		diagnosis.Subject = name
		labelled(diagnosis, o)
		if isTensor(o.val) {
			help(diagnosis, "write cast(%s, %s)", clip(text(o.at), 40), d)
		} else {
			help(diagnosis, "floordiv(a, b) and ceildiv(a, b) round quotients of dimensions")
		}
		return poison{}
	}
	diagnosis := e.errorf("wrong-arguments", o.at, "%s(x) takes a number, not %s", name, o.val.noun())
	diagnosis.Subject = name
	labelled(diagnosis, o)
	return poison{}
}

// pureGroups are the groups of operators that compute with numbers at once.
var pureGroups = map[string]bool{"unary": true, "activation": true, "binary": true}

// intFuncs are the functions under which integers stay integers.
var intFuncs = map[string]func(a []ir.Dim) (ir.Dim, bool){
	"max": fold(ir.MaxOf), "min": fold(ir.MinOf), "maximum": fold(ir.MaxOf), "minimum": fold(ir.MinOf),
	"add": fold(ir.Dim.Add), "sub": fold(ir.Dim.Sub), "mul": fold(ir.Dim.Mul),
	"abs": one(func(a ir.Dim) (ir.Dim, bool) {
		if a.NonNeg() {
			return a, true
		}
		return a.Mul(ir.N(-1)), a.Mul(ir.N(-1)).NonNeg()
	}),
	"neg":    one(func(a ir.Dim) (ir.Dim, bool) { return a.Mul(ir.N(-1)), true }),
	"square": one(func(a ir.Dim) (ir.Dim, bool) { return a.Mul(a), true }),
	"floor":  one(same), "ceil": one(same), "round": one(same), "trunc": one(same),
	"sign": one(func(a ir.Dim) (ir.Dim, bool) {
		n, ok := a.Const()
		return ir.N(int64(boolInt(n > 0) - boolInt(n < 0))), ok
	}),
}

func same(a ir.Dim) (ir.Dim, bool) { return a, true }

// one lifts a function of one integer; it tells whether it has a value.
func one(f func(a ir.Dim) (ir.Dim, bool)) func([]ir.Dim) (ir.Dim, bool) {
	return func(a []ir.Dim) (ir.Dim, bool) {
		if len(a) != 1 {
			return ir.Dim{}, false
		}
		return f(a[0])
	}
}

// fold lifts a function of two integers to two or more.
func fold(f func(a, b ir.Dim) ir.Dim) func([]ir.Dim) (ir.Dim, bool) {
	return func(a []ir.Dim) (ir.Dim, bool) {
		if len(a) < 2 {
			return ir.Dim{}, false
		}
		out := a[0]
		for _, b := range a[1:] {
			out = f(out, b)
		}
		return out, true
	}
}

// pure computes a function of numbers when the program is compiled, or, where the
// result is a float that depends on a symbol, when it runs. It leaves alone what has
// a tensor among its arguments.
func (e *elaborator) pure(f builtinVal, at diag.Span, args []argument) (value, bool) {
	if len(args) == 0 || !pureGroups[f.op.Group] && intFuncs[f.op.Name] == nil {
		return nil, false
	}
	allInts, known := true, true
	var dims []ir.Dim
	var floats []float64
	for _, a := range args {
		if a.name.Name != "" || !isNumber(a.val) {
			return nil, false
		}
		n, isInt := a.val.(intVal)
		allInts = allInts && isInt && n.big == nil
		dims = append(dims, n.d)
		x, ok := asFloat(a.val)
		known = known && ok
		floats = append(floats, x)
	}
	g := intFuncs[f.op.Name]
	if allInts && g != nil {
		if d, ok := g(dims); ok {
			return e.checkedAt(f.name, at, d), true
		}
	}
	row := scalarRow(f.op, len(args))
	switch {
	case row == nil, !known && allInts && g != nil:
		return nil, false
	case known:
		return e.pureFloats(row, floats)
	case row.Over.Has(tensor.F64):
		ops := operandsOf(args)
		return e.late(site{name: f.name, at: at, args: ops}, row, ops), true
	}
	return nil, false
}

// scalarRow is the operator that computes a function of n numbers, nil for none:
// max of two numbers is maximum.
func scalarRow(row *ir.Op, n int) *ir.Op {
	if name, ok := map[string]string{"max": "maximum", "min": "minimum"}[row.Name]; ok && n == 2 {
		row = ir.Lookup(name)
	}
	if row.Eval == nil || n != len(row.Args) {
		return nil
	}
	return row
}

func operandsOf(args []argument) []operand {
	ops := make([]operand, len(args))
	for i, a := range args {
		ops[i] = a.operand
	}
	return ops
}

// checkedAt reports an integer that has left its range.
func (e *elaborator) checkedAt(name string, at diag.Span, d ir.Dim) value {
	v, err := checked(d)
	if err != nil {
		e.refuse(site{name: name, at: at}, err, nil)
		return poison{}
	}
	return v
}

// pureFloats evaluates an operator on f64 scalars: folding and running cannot
// disagree.
func (e *elaborator) pureFloats(row *ir.Op, floats []float64) (value, bool) {
	c := &ir.Call{Op: row, Attrs: row.Defaults()}
	ts := make([]*tensor.T, len(floats))
	for i, x := range floats {
		ts[i] = tensor.Scalar(x)
		c.In = append(c.In, ir.T(tensor.F64))
	}
	if ir.InferCall(c) != nil || len(c.Out) != 1 {
		return nil, false
	}
	out, err := row.Eval(c, ts...)
	if err != nil || out[0].Len() != 1 {
		return nil, false
	}
	switch out[0].DType {
	case tensor.F64:
		return floatVal{f: out[0].FloatAt(0)}, true
	case tensor.Bool:
		return boolVal(out[0].BoolAt(0)), true
	}
	return nil, false
}
