package npu

import "github.com/npulang/npu/ir"

// A branch builds the body of an If or a loop from its parameters.
type branch = func(params []*Value) []*Value

// If computes one of two branches when the program runs. cond is bool[]; both
// branches return values of the same types.
func (g *Graph) If(cond *Value, then, otherwise func() []*Value) []*Value {
	yes, n := g.body(ir.If, nil, plain(then))
	no, _ := g.body(ir.If, nil, plain(otherwise))
	return g.region(ir.If, []Operand{cond}, nil, n, yes, no)
}

// plain is a branch without parameters.
func plain(f func() []*Value) branch {
	if f == nil {
		return nil
	}
	return func([]*Value) []*Value { return f() }
}

// For runs body for t = from .. to-1. It gets t (i64[]) and the carried values,
// and returns their next values followed by those that are collected (stacked
// along a new first axis). The results are the carried values after the last
// round, then the stacks.
func (g *Graph) For(from, to Dim, carry []*Value, collect int, body func(t *Value, carried []*Value) []*Value) []*Value {
	var round branch
	if body != nil {
		round = func(ps []*Value) []*Value { return body(ps[0], ps[1:]) }
	}
	b, _ := g.body(ir.Loop, append([]ir.Value{counter}, g.carried(carry)...), round)
	attrs := []Attr{{"from", ir.DimLit(from)}, {"to", ir.DimLit(to)}, {"carry", ir.IntLit(int64(len(carry)))}, {"collect", ir.IntLit(int64(collect))}}
	return g.region(ir.Loop, operands(carry), attrs, len(carry)+max(0, min(collect, maxPromised)), b)
}

// While runs body as long as cond of the carried values is true. Both get the
// carried values; cond returns bool[], body their next values.
func (g *Graph) While(carry []*Value, cond func(carried []*Value) *Value, body func(carried []*Value) []*Value) []*Value {
	var round, test branch
	if body != nil {
		round = func(ps []*Value) []*Value { return body(ps[1:]) }
	}
	if cond != nil {
		test = func(ps []*Value) []*Value { return []*Value{cond(ps)} }
	}
	params := g.carried(carry)
	b, _ := g.body(ir.Loop, append([]ir.Value{counter}, params...), round)
	c, _ := g.body(ir.Loop, params, test)
	return g.region(ir.Loop, operands(carry), []Attr{{"carry", ir.IntLit(int64(len(carry)))}}, len(carry), b, c)
}

// counter is the first parameter of a loop's body: the round, i64[].
var counter = ir.Value{Name: "t", Type: ir.T(I64)}

// carried lists names and types for the parameters that stand for carried
// values inside a loop.
func (g *Graph) carried(carry []*Value) []ir.Value {
	params := make([]ir.Value, len(carry))
	for i, c := range carry {
		if v := g.use(ir.Loop.Name, "a carried value", c); v != nil {
			params[i] = ir.Value{Name: v.Name, Type: v.Type}
		}
	}
	return params
}

// body builds one region body and counts its results: params are its own
// parameters, before captures.
func (g *Graph) body(op *ir.Op, params []ir.Value, build branch) (*ir.Frame, int) {
	f := g.frame().Body()
	if !g.hasBody(op.Name, build != nil) {
		return f, 0
	}
	if len(g.frames) == ir.MaxNesting+1 { // and not again for those inside
		g.failf("limit", op.Name, "conditions and loops are nested more than %d deep", ir.MaxNesting)
	}
	g.frames = append(g.frames, f)
	defer func() { g.frames = g.frames[:len(g.frames)-1] }()
	ps := make([]*Value, len(params))
	for i, p := range params {
		ps[i] = &Value{g, f.Input(p.Name, p.Type), f}
	}
	results := build(ps)
	for _, r := range results {
		if v := g.use(op.Name, "a result of a body", r); v != nil {
			f.Return(v)
		}
	}
	return f, len(results)
}

// hasBody reports whether a body was given, and fails if not.
func (g *Graph) hasBody(name string, given bool) bool {
	if !given {
		g.failf("missing-argument", name, "a body is nil")
	}
	return given
}

// region appends the operator of the bodies, which has so many results.
func (g *Graph) region(op *ir.Op, args []Operand, attrs []Attr, results int, bodies ...*ir.Frame) []*Value {
	return g.call(op, args, attrs, func(vs []*ir.Value, lits []ir.Lit) ([]*ir.Value, error) {
		return g.frame().AddRegion(op, vs, lits, bodies...)
	}, results)
}

func operands(vs []*Value) []Operand {
	out := make([]Operand, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}
