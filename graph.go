package npu

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes"
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
	frames  []*ir.Frame // of the graph, and of the bodies that are under way, innermost last
	scope   []string    // prefixes of parameter paths, outermost first
	params  map[string]*Value
	annots  []ir.Annot // of what is added now
	outputs map[string]bool
	done    *ir.Func // once compiled
	err     *diag.Diagnostic
}

// A Value is a tensor that a Graph computes.
type Value struct {
	g  *Graph
	v  *ir.Value // nil after a mistake
	in *ir.Frame // where v is known: there, and in the bodies inside
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
	return &Graph{frames: []*ir.Frame{ir.NewFrame(name)}, params: map[string]*Value{}, outputs: map[string]bool{}}
}

// frame is where values are added: the graph, or the body that is under way.
func (g *Graph) frame() *ir.Frame { return g.frames[len(g.frames)-1] }

// finish returns the graph's function. A graph may be compiled more than once,
// but not added to afterwards.
func (g *Graph) finish() *ir.Func {
	if g.done == nil {
		g.done = g.frames[0].Finish()
	}
	return g.done
}

// check returns the first mistake of a graph that is whole.
func (g *Graph) check() error {
	f := g.finish()
	if g.err == nil && len(f.Results) == 0 {
		g.err = &Diagnostic{Code: "missing-argument", Subject: f.Name, Message: "the graph has no output",
			Helps: []string{"add each result with Output(name, value)"}}
	}
	if g.err == nil {
		if err := ir.Verify(f); err != nil { // symbols that no input binds
			g.err = AsDiagnostic(err)
		}
	}
	return g.Err()
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
	if !ok || !g.takesMore() {
		return &Value{g: g}
	}
	f := g.frames[0]
	if len(g.frames) > 1 {
		g.failf("wrong-arguments", "input", "%s stands in a body; inputs are those of the graph", name)
		return &Value{g: g}
	}
	for _, p := range f.Func.Params {
		if p.Name == name {
			g.failf("duplicate-name", "input", "the graph has an input %s already", name)
			return &Value{g: g}
		}
	}
	return &Value{g, f.Input(name, t), f}
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
	if !ok || !g.takesMore() {
		return &Value{g: g}
	}
	if known := g.params[path]; known != nil {
		if !known.v.Type.Equal(t) {
			g.failf("shape-mismatch", "param", "%s is %s already, not %s", path, known.v.Type, t)
		}
		return known
	}
	if !t.IsConst() {
		g.failf("not-constant", "param", "%s is %s; the sizes of a weight are numbers", path, t)
		return &Value{g: g}
	}
	attrs := ir.Param.Defaults()
	attrs[0] = ir.TypeLit(t)
	v := &Value{g, g.frame().AddParam(path, attrs), g.frames[0]}
	v.v.Pos = caller().Loc()
	g.params[path] = v
	return v
}

// Const adds a tensor that is known now.
func (g *Graph) Const(t *Tensor) *Value {
	if t == nil {
		g.failf("missing-argument", "const", "the tensor is nil")
		return &Value{g: g}
	}
	if err := checkTensor("const", t); err != nil {
		g.fail(*AsDiagnostic(err))
		return &Value{g: g}
	}
	return first(g.add(ir.Const, nil, []Attr{{"value", ir.TensorLit(t)}}))
}

// Scope prefixes the paths of the parameters that body makes.
func (g *Graph) Scope(prefix string, body func()) {
	if !g.hasBody("scope", body != nil) {
		return
	}
	g.scope = append(g.scope, prefix)
	body()
	g.scope = g.scope[:len(g.scope)-1]
}

// Precision has the products that body adds computed in a dtype: F32, BF16, F16, or I8
// for quantised ones. It is the script's @precision(dtype), goes before
// Options.Precision, and one inside body before one outside.
func (g *Graph) Precision(d DType, body func()) {
	if _, ok := ir.PrecisionOf(d); !ok {
		g.failf("wrong-arguments", "precision", "%s is no precision; these are f32, bf16, f16 and i8", d)
		return
	}
	if !g.hasBody("precision", body != nil) {
		return
	}
	outer := g.annots
	g.annots = []ir.Annot{passes.PrecisionAnnot(d)}
	body()
	g.annots = outer
}

// Name gives a value the name under which listings show it, and returns it.
func (g *Graph) Name(v *Value, name string) *Value {
	if g.use("name", name, v) == nil {
		return &Value{g: g}
	}
	v.v.Name = name
	return v
}

// Output adds a result of the graph. Each has a name of its own.
func (g *Graph) Output(name string, v *Value) {
	result := g.use("output", name, v)
	switch {
	case result == nil:
	case len(g.frames) > 1:
		g.failf("wrong-arguments", "output", "%s stands in a body; what a body returns are the results of its If, For or While", name)
	case g.outputs[name]:
		g.failf("duplicate-name", "output", "the graph has an output %s already", name)
	default:
		f := g.frames[0]
		f.Return(result)
		f.Func.ResultNames = append(f.Func.ResultNames, name)
		g.outputs[name] = true
	}
}

// Shape returns the dimensions of a value, symbolic ones as expressions; nil
// after a mistake.
func (v *Value) Shape() []Dim {
	if v == nil || v.v == nil {
		return nil
	}
	return v.v.Type.Shape
}

// DType returns the dtype of a value; it is invalid after a mistake.
func (v *Value) DType() DType {
	if v == nil || v.v == nil {
		return tensor.Invalid
	}
	return v.v.Type.DType
}
