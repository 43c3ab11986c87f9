package lang

import (
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// What a weight is when no weights file has it:
//
//	param w: f32[2, 3] = normal(0, 0.02)
//
// The program carries it as text, normal(0,0.02), so that a listing shows what
// the source says and values are made only when they are needed. InitTensor
// reads the text again.

// An initRow is one way to make values: fill writes numbers, from a seeded source
// where they are random, that an integer dtype truncates.
type initRow struct {
	args   []string
	random bool
	fill   func(r *rand.Rand, args []float64, out []float64)
	check  func(args []float64) string // what is wrong with the arguments, or ""
}

var initRows = map[string]initRow{
	"zeros": {fill: constantFill(func([]float64) float64 { return 0 })},
	"ones":  {fill: constantFill(func([]float64) float64 { return 1 })},
	"full":  {args: []string{"value"}, fill: constantFill(func(a []float64) float64 { return a[0] })},
	"normal": {
		args: []string{"mean", "std"}, random: true, fill: func(r *rand.Rand, a, out []float64) {
			for i := range out {
				out[i] = a[0] + a[1]*r.NormFloat64()
			}
		},
		check: func(a []float64) string {
			if !finite(a) || a[1] < 0 {
				return "std is a finite number of at least 0, mean a finite one"
			}
			return ""
		},
	},
	"uniform": {
		args: []string{"a", "b"}, random: true, fill: func(r *rand.Rand, a, out []float64) {
			for i := range out {
				out[i] = a[0] + (a[1]-a[0])*r.Float64()
			}
		},
		check: func(a []float64) string {
			if !finite(a) || !finite([]float64{a[1] - a[0]}) || a[1] < a[0] {
				return "a and b are finite numbers, and b is not below a"
			}
			return ""
		},
	},
}

func finite(a []float64) bool {
	return !slices.ContainsFunc(a, func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) })
}

// constantFill makes a fill of one value.
func constantFill(f func(args []float64) float64) func(*rand.Rand, []float64, []float64) {
	return func(_ *rand.Rand, args, out []float64) {
		v := f(args)
		for i := range out {
			out[i] = v
		}
	}
}

// initWords lists them, for did-you-mean.
func initWords() []string {
	names := []string{loadWord}
	for n := range initRows {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// loadWord is the init, or default, that reads a file.
const loadWord = "load"

// An initSpec is an evaluated init: a text that InitTensor reads, or values.
type initSpec struct {
	text  string
	value *tensor.T
}

// initOf evaluates the init of a weight, or the default of a graph's parameter,
// of type t.
func (e *elaborator) initOf(x syntax.Expr, t ir.Type) (initSpec, bool) {
	if name, call, ok := calledName(x); ok {
		if name.Name == loadWord {
			return e.loadInit(call, name.At)
		}
		if row, known := initRows[name.Name]; known && !typeArgument(call) {
			return e.callInit(name, row, call, t)
		}
	}
	o := e.operand(x)
	switch v := o.val.(type) {
	case poison:
		return initSpec{}, false
	case listVal:
		if tensorLike(v) && !v.tuple {
			return e.listInit(o, v, t)
		}
	case intVal, floatVal, boolVal:
		if v, ok := e.literal(o, []value{v}, nil, []int{}, meet(ownDType(v), t.DType)); ok {
			return e.valueInit(o.at, v, t)
		}
		return initSpec{}, false
	}
	d := e.errorf("wrong-arguments", o.at, "%s does not say how to make the values", clip(text(o.at), 40))
	note(d, "an init is zeros(), ones(), full(v), normal(mean, std), uniform(a, b), [...] or load(\"file.npy\")")
	return initSpec{}, false
}

// calledName splits f(...).
func calledName(x syntax.Expr) (*syntax.NameExpr, *syntax.CallOp, bool) {
	p, ok := x.(*syntax.PostfixExpr)
	if !ok || len(p.Ops) != 1 {
		return nil, nil, false
	}
	name, isName := p.X.(*syntax.NameExpr)
	call, isCall := p.Ops[0].(*syntax.CallOp)
	return name, call, isName && isCall
}

// typeArgument reports whether a call begins with a type: zeros(f32[2, 3]) is the
// operator, zeros() the init.
func typeArgument(call *syntax.CallOp) bool {
	if len(call.Args) == 0 {
		return false
	}
	_, ok := call.Args[0].Value.(*syntax.TypeLit)
	return ok
}

// loadInit is load("file"). The path in the text is the resolved one, so that the
// program does not need the script's place.
func (e *elaborator) loadInit(call *syntax.CallOp, at diag.Span) (initSpec, bool) {
	if len(call.Args) == 1 {
		if s, ok := call.Args[0].Value.(*syntax.StringLit); ok {
			file, ok := e.dataFile(s)
			return initSpec{text: loadWord + "(" + strconv.Quote(file) + ")"}, ok
		}
	}
	e.errorf("wrong-arguments", at, "load takes the name of a file in quotes")
	return initSpec{}, false
}

// dataFile resolves the name of a data file against the file that names it.
func (e *elaborator) dataFile(s *syntax.StringLit) (string, bool) {
	if s.Value == "" || strings.ContainsRune(s.Value, 0) {
		e.errorf("bad-file", s.At, "%q is not the name of a file", s.Value)
		return "", false
	}
	return beside(s.At.Src.Name, s.Value), true
}

// beside resolves a name against the folder of a file.
func beside(file, name string) string {
	name = strings.ReplaceAll(name, "\\", "/")
	if path.IsAbs(name) || len(name) > 1 && name[1] == ':' {
		return path.Clean(name)
	}
	return path.Join(path.Dir(strings.ReplaceAll(file, "\\", "/")), name)
}

// callInit evaluates the numbers of normal(0, 0.02) for a weight of type t.
func (e *elaborator) callInit(id *syntax.NameExpr, row initRow, call *syntax.CallOp, t ir.Type) (initSpec, bool) {
	name, at := id.Name, id.At
	params := make([]syntax.Param, len(row.args))
	for i, a := range row.args {
		params[i].Name.Name = a
	}
	args, ok := e.evalArgs(call, nil)
	if !ok {
		return initSpec{}, false
	}
	ops, ok := e.match(name, at, params, args)
	if !ok {
		return initSpec{}, false
	}
	nums := make([]float64, len(ops))
	parts := make([]string, len(ops))
	for i, o := range ops {
		f, ok := e.initNumber(row, row.args[i], o, t.DType)
		if !ok {
			return initSpec{}, false
		}
		nums[i], parts[i] = f, tensor.FormatFloat(tensor.F64, f)
	}
	if !e.initFits(name, at, row, nums, t) {
		return initSpec{}, false
	}
	if len(parts) == 0 {
		return initSpec{text: name}, true
	}
	return initSpec{text: name + "(" + strings.Join(parts, ",") + ")"}, true
}

// initNumber evaluates one number of an init. Those that are not random are
// elements of the weight.
func (e *elaborator) initNumber(row initRow, name string, o operand, d tensor.DType) (float64, bool) {
	if !row.random && isStatic(o.val) {
		if _, ok := e.literal(o, []value{o.val}, nil, []int{}, d); !ok {
			return 0, false
		}
	}
	if b, ok := o.val.(boolVal); ok && !row.random {
		return float64(boolInt(bool(b))), true
	}
	f, ok := asFloat(o.val)
	if !ok {
		labelled(e.errorf("not-constant", o.at, "%s must be a number that is known when the program is compiled", name), o)
	}
	return f, ok
}

// initFits checks an init against the weight's type.
func (e *elaborator) initFits(name string, at diag.Span, row initRow, nums []float64, t ir.Type) bool {
	if row.random && t.DType == tensor.Bool {
		d := e.errorf("dtype-mismatch", at, "%s gives numbers, but the weight is %s", name, t)
		help(d, "zeros(), ones(), full(true), [...] and load(\"file.npy\") give bools")
		return false
	}
	if row.check == nil {
		return true
	}
	wrong := row.check(nums)
	if wrong != "" {
		e.errorf("out-of-range", at, "%s", wrong).Subject = name
	}
	return wrong == ""
}

// listInit makes values of a bracket list.
func (e *elaborator) listInit(o operand, l listVal, t ir.Type) (initSpec, bool) {
	flat, ats, shape, ok := e.flatten(o, l)
	if !ok {
		return initSpec{}, false
	}
	v, ok := e.literal(o, flat, ats, shape, meet(listDType(l), t.DType))
	if !ok {
		return initSpec{}, false
	}
	return e.valueInit(o.at, v, t)
}

// valueInit checks values against the type; symbolic dimensions take any size.
func (e *elaborator) valueInit(at diag.Span, v *tensor.T, t ir.Type) (initSpec, bool) {
	have := ir.TypeOf(v)
	fits := have.DType == t.DType && have.Rank() == t.Rank()
	for i := 0; fits && i < t.Rank(); i++ {
		fits = !t.Shape[i].IsConst() || t.Shape[i].Equal(have.Shape[i])
	}
	if fits {
		return initSpec{value: v}, true
	}
	code := "shape-mismatch"
	switch {
	case have.DType != t.DType:
		code = "dtype-mismatch"
	case have.Rank() != t.Rank():
		code = "rank-mismatch"
	}
	d := e.errorf(code, at, "the values are %s, not %s", have, t)
	d.Label = have.String()
	return initSpec{}, false
}
