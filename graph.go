package npu

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// A Graph builds a tensor program in Go: the twin of a graph in a script. Each
// operator is a method. The first mistake sticks: later calls do nothing, and
// Err (or Compile) reports it with the Go file and line of the call.
//
//	g := npu.NewGraph("main")
//	x := g.Input("x", "f32[B, 784]")
//	w := g.Param("w", "f32[784, 10]")
//	g.Output("probs", g.Softmax(g.MatMul(x, w), npu.Axis(-1)))
//	p, err := npu.Compile(g, npu.Options{Weights: npu.Arrays{"w": w0}})
type Graph struct {
	frame  *ir.Frame
	scope  []string // prefixes of parameter paths, outermost first
	params map[string]*Value
	done   *ir.Func // once compiled
	err    *diag.Diagnostic
}

// A Value is a tensor that a Graph computes.
type Value struct {
	g *Graph
	v *ir.Value // nil after a mistake
}

// An Operand is what an operator's argument may be: a *Value, or a Num that
// takes the dtype of the values beside it. A nil Operand leaves out an optional
// argument.
type Operand interface{ operand() }

func (*Value) operand() {}
func (Num) operand()    {}

// Num is a number beside a tensor: g.Mul(x, npu.Num(0.5)).
type Num float64

// An Attr sets an optional attribute of an operator: Axis(-1), Eps(1e-12).
type Attr struct {
	name string
	lit  ir.Lit
}

// NewGraph begins an empty graph.
func NewGraph(name string) *Graph {
	return &Graph{frame: ir.NewFrame(name), params: map[string]*Value{}}
}

// finish returns the graph's function. A graph may be compiled more than once,
// but not added to afterwards.
func (g *Graph) finish() *ir.Func {
	if g.done == nil {
		g.done = g.frame.Finish()
	}
	return g.done
}

// Err returns the first mistake, or nil.
func (g *Graph) Err() error {
	if g.err == nil {
		return nil
	}
	return diag.List{g.err}
}

// Input adds a parameter of the graph. The type is written as in a script:
// "f32[B, 784]"; a name in it is a symbolic dimension.
func (g *Graph) Input(name, typ string) *Value {
	t, ok := g.parseType(typ)
	if !ok {
		return &Value{g: g}
	}
	for _, p := range g.frame.Func.Params {
		if p.Name == name {
			g.fail(diag.Diagnostic{Code: "duplicate-name", Subject: "input", Message: "the graph has an input " + name + " already"})
			return &Value{g: g}
		}
	}
	return &Value{g, g.frame.Input(name, t)}
}

// Param adds a weight under the path of the scopes around it: inside
// Scope("net.fc1"), Param("weight", ...) is net.fc1.weight. Asking for the same
// path again gives the same value.
func (g *Graph) Param(name, typ string) *Value {
	path := name
	for i := len(g.scope) - 1; i >= 0; i-- {
		path = g.scope[i] + "." + path
	}
	t, ok := g.parseType(typ)
	if !ok {
		return &Value{g: g}
	}
	if known := g.params[path]; known != nil {
		if !known.v.Type.Equal(t) {
			g.fail(diag.Diagnostic{Code: "shape-mismatch", Subject: "param", Message: path + " is " + known.v.Type.String() + " already, not " + t.String()})
		}
		return known
	}
	attrs := ir.Param.Defaults()
	attrs[0] = ir.TypeLit(t)
	g.params[path] = &Value{g, g.frame.AddParam(path, attrs)}
	g.params[path].v.Pos = caller().Loc()
	return g.params[path]
}

// Const adds a tensor that is known now.
func (g *Graph) Const(t *Tensor) *Value {
	return first(g.add(ir.Const, nil, []Attr{{"value", ir.TensorLit(t)}}))
}

// Scope prefixes the paths of the parameters that body makes.
func (g *Graph) Scope(prefix string, body func()) {
	g.scope = append(g.scope, prefix)
	body()
	g.scope = g.scope[:len(g.scope)-1]
}

// Name gives a value the name under which listings show it, and returns it.
func (g *Graph) Name(v *Value, name string) *Value {
	if v.v != nil {
		v.v.Name = name
	}
	return v
}

// Output adds a result of the graph.
func (g *Graph) Output(name string, v *Value) {
	if g.err != nil || v.v == nil {
		return
	}
	g.frame.Return(v.v)
	g.frame.Func.ResultNames = append(g.frame.Func.ResultNames, name)
}

// Shape returns the dimensions of a value, symbolic ones as expressions.
func (v *Value) Shape() []Dim {
	if v.v == nil {
		return nil
	}
	return v.v.Type.Shape
}

// DType returns the dtype of a value.
func (v *Value) DType() DType {
	if v.v == nil {
		return 0
	}
	return v.v.Type.DType
}

// If computes one of two branches when the program runs. cond is bool[]; both
// branches return values of the same types.
func (g *Graph) If(cond *Value, then, otherwise func() []*Value) []*Value {
	return g.region(ir.If, []Operand{cond}, nil, g.body(nil, ignore(then)), g.body(nil, ignore(otherwise)))
}

func ignore(f func() []*Value) func([]*Value) []*Value {
	return func([]*Value) []*Value { return f() }
}

// For runs body for t = from .. to-1. It gets t (i64[]) and the carried values,
// and returns their next values followed by those that are collected (stacked
// along a new first axis). The results are the carried values after the last
// round, then the stacks.
func (g *Graph) For(from, to Dim, carry []*Value, collect int, body func(t *Value, carried []*Value) []*Value) []*Value {
	b := g.body(append([]ir.Value{counter}, carried(carry)...), func(ps []*Value) []*Value { return body(ps[0], ps[1:]) })
	attrs := []Attr{{"from", ir.DimLit(from)}, {"to", ir.DimLit(to)}, {"carry", ir.IntLit(int64(len(carry)))}, {"collect", ir.IntLit(int64(collect))}}
	return g.region(ir.Loop, operands(carry), attrs, b)
}

// While runs body as long as cond of the carried values is true. Both get the
// carried values; cond returns bool[], body their next values.
func (g *Graph) While(carry []*Value, cond func(carried []*Value) *Value, body func(carried []*Value) []*Value) []*Value {
	round := g.body(append([]ir.Value{counter}, carried(carry)...), func(ps []*Value) []*Value { return body(ps[1:]) })
	test := g.body(carried(carry), func(ps []*Value) []*Value { return []*Value{cond(ps)} })
	return g.region(ir.Loop, operands(carry), []Attr{{"carry", ir.IntLit(int64(len(carry)))}}, round, test)
}

// counter is the first parameter of a loop's body: the round, i64[].
var counter = ir.Value{Name: "t", Type: ir.T(I64)}

// carried lists names and types for the parameters that stand for carried
// values inside a loop.
func carried(carry []*Value) []ir.Value {
	params := make([]ir.Value, len(carry))
	for i, c := range carry {
		if c.v != nil {
			params[i] = ir.Value{Name: c.v.Name, Type: c.v.Type}
		}
	}
	return params
}

// body builds one region body: params are its own parameters, before captures.
func (g *Graph) body(params []ir.Value, build func([]*Value) []*Value) *ir.Frame {
	outer := g.frame
	g.frame = outer.Body()
	defer func() { g.frame = outer }()
	var ps []*Value
	for _, p := range params {
		ps = append(ps, &Value{g, g.frame.Input(p.Name, p.Type)})
	}
	for _, r := range build(ps) {
		if r.v != nil {
			g.frame.Return(r.v)
		}
	}
	return g.frame
}

func (g *Graph) region(op *ir.Op, args []Operand, attrs []Attr, bodies ...*ir.Frame) []*Value {
	return g.call(op, args, attrs, func(vs []*ir.Value, lits []ir.Lit) ([]*ir.Value, error) {
		return g.frame.AddRegion(op, vs, lits, bodies...)
	})
}

// add appends a call of an operator: what every generated method does.
func (g *Graph) add(op *ir.Op, args []Operand, attrs []Attr) []*Value {
	return g.call(op, args, attrs, func(vs []*ir.Value, lits []ir.Lit) ([]*ir.Value, error) {
		return g.frame.Add(op, vs, lits)
	})
}

// call prepares arguments and attributes, has the call appended, and turns its
// error into a diagnostic.
func (g *Graph) call(op *ir.Op, args []Operand, attrs []Attr, add func([]*ir.Value, []ir.Lit) ([]*ir.Value, error)) []*Value {
	if g.err != nil {
		return nil
	}
	vs, ok := g.values(op, args)
	if !ok {
		return nil
	}
	lits, err := literals(op, attrs)
	var results []*ir.Value
	if err == nil {
		results, err = add(vs, lits)
	}
	if err != nil {
		g.failCall(op, err)
		return nil
	}
	place := caller().Loc()
	g.frame.Func.PlaceAsserts(place)
	out := make([]*Value, len(results))
	for i, r := range results {
		r.Pos = place
		out[i] = &Value{g, r}
	}
	return out
}

// values turns operands into values; numbers become constants of the dtype of
// the first value among them.
func (g *Graph) values(op *ir.Op, args []Operand) ([]*ir.Value, bool) {
	dtype := F32
	for _, a := range args {
		if v, ok := a.(*Value); ok && v != nil {
			if v.v == nil {
				return nil, false
			}
			dtype = v.v.Type.DType
			break
		}
	}
	vs := make([]*ir.Value, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case *Value:
			if a == nil {
				continue
			}
			if a.g != g {
				g.fail(diag.Diagnostic{Code: "wrong-arguments", Subject: op.Name, Message: "an argument belongs to another graph"})
			}
			if a.v == nil || a.g != g {
				return nil, false
			}
			vs[i] = a.v
		case Num:
			c, err := scalar(dtype, float64(a))
			if err != nil {
				g.failCall(op, err)
				return nil, false
			}
			vs[i] = g.Const(c).v
		}
	}
	return vs, g.err == nil
}

// literals lays the attributes that were set over the defaults.
func literals(op *ir.Op, attrs []Attr) ([]ir.Lit, error) {
	lits := op.Defaults()
next:
	for _, a := range attrs {
		for i, decl := range op.Attrs {
			if decl.Name == a.name {
				lits[i] = fit(decl.Kind, a.lit)
				continue next
			}
		}
		return nil, ir.Errorf("wrong-arguments", "has no attribute %s", a.name)
	}
	return lits, nil
}

// fit turns a literal into the kind that the row declares, where one builder
// function serves several kinds.
func fit(kind ir.AttrKind, l ir.Lit) ir.Lit {
	switch {
	case kind == ir.KInt && l.Kind == ir.KInts && len(l.Ints) == 1:
		return ir.IntLit(l.Ints[0])
	case kind == ir.KDim && l.Kind == ir.KDims && len(l.Dims) == 1:
		return ir.DimLit(l.Dims[0])
	case kind == ir.KInts && l.Kind == ir.KDims:
		ints := make([]int64, len(l.Dims))
		for i, d := range l.Dims {
			n, ok := d.Const()
			if !ok {
				return l
			}
			ints[i] = n
		}
		return ir.IntsLit(ints...)
	}
	return l
}

func intsLit(ns []int) ir.Lit {
	out := make([]int64, len(ns))
	for i, n := range ns {
		out[i] = int64(n)
	}
	return ir.IntsLit(out...)
}

// numLit keeps whole numbers exact.
func numLit(f float64) ir.Lit {
	if n := int64(f); float64(n) == f && n > -1<<53 && n < 1<<53 {
		return ir.DimLit(ir.N(n))
	}
	return ir.FloatLit(f)
}

func operands(vs []*Value) []Operand {
	out := make([]Operand, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}

func first(vs []*Value) *Value { return nth(vs, 0) }

func nth(vs []*Value, i int) *Value {
	if i >= len(vs) {
		return &Value{}
	}
	return vs[i]
}

func (g *Graph) parseType(text string) (ir.Type, bool) {
	t, err := ir.ParseType(text)
	if err != nil {
		d := *AsDiagnostic(err)
		d.Subject = "type " + text
		g.fail(d)
		return ir.Type{}, false
	}
	return t, true
}

// failCall reports what an operator said of its arguments.
func (g *Graph) failCall(op *ir.Op, err error) {
	d := diag.Diagnostic{Code: "wrong-arguments", Subject: op.Name, Message: err.Error()}
	if e, ok := err.(*ir.Error); ok {
		d = diag.Diagnostic{Code: e.Code, Subject: op.Name, Message: e.Msg, Notes: e.Notes, Helps: e.Helps}
		for _, l := range e.Labels {
			d.Notes = append(d.Notes, op.ArgName(l.Arg)+" is "+l.Text)
		}
	}
	g.fail(d)
}

// fail keeps the first mistake, with the place of the call that made it.
func (g *Graph) fail(d diag.Diagnostic) {
	if g.err == nil {
		d.Span = caller()
		d.Loc = d.Span.Loc()
		g.err = &d
	}
}

// caller finds the line outside this package that called the builder; the
// file is named without its folder, so that listings are the same everywhere.
func caller() diag.Span {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if !inBuilder(f.Function) {
			return diag.At(filepath.Base(f.File), f.Line)
		}
		if !more {
			return diag.Span{}
		}
	}
}

// inBuilder reports whether a function is a method of the builder, or one that
// it calls back through.
func inBuilder(function string) bool {
	return strings.HasPrefix(function, "github.com/npulang/npu.(*Graph)") || strings.HasPrefix(function, "github.com/npulang/npu.caller") || strings.HasPrefix(function, "runtime.")
}
