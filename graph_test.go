package npu_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

// builderMistakes are graphs that no script can write, since its parser or its
// names would not let it, each with what the error must say.
var builderMistakes = []struct {
	name, want string
	build      func(g *npu.Graph, x *npu.Value)
}{
	{"no output", "main: the graph has no output", func(g *npu.Graph, x *npu.Value) {}},
	{"output nil", "output: y is nil", func(g *npu.Graph, x *npu.Value) { g.Output("y", nil) }},
	{"output twice", "output: the graph has an output y already", func(g *npu.Graph, x *npu.Value) { g.Output("y", x); g.Output("y", x) }},
	{"output of another graph", "output: y belongs to another graph", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", npu.NewGraph("other").Input("x", "f32"))
	}},
	{"output of another graph's mistake", "relu: x belongs to another graph", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.ReLU(npu.NewGraph("other").Input("x", "f33")))
	}},
	{"a number beside another graph's mistake", "mul: b belongs to another graph", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.Mul(npu.Num(2), npu.NewGraph("other").Input("x", "f33")))
	}},
	{"output in a body", "output: z stands in a body", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.For(npu.N(0), npu.N(3), []*npu.Value{x}, 0, func(t *npu.Value, c []*npu.Value) []*npu.Value {
			g.Output("z", c[0])
			return c
		})[0])
	}},
	{"input in a body", "input: z stands in a body", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.For(npu.N(0), npu.N(3), []*npu.Value{x}, 0, func(t *npu.Value, c []*npu.Value) []*npu.Value {
			return []*npu.Value{g.Add(c[0], g.Input("z", "f32"))}
		})[0])
	}},
	{"value of a closed body", "exp: x was made in a body that is closed", func(g *npu.Graph, x *npu.Value) {
		var inner *npu.Value
		g.For(npu.N(0), npu.N(3), []*npu.Value{x}, 0, func(t *npu.Value, c []*npu.Value) []*npu.Value {
			inner = g.ReLU(c[0])
			return []*npu.Value{inner}
		})
		g.Output("y", g.Exp(inner))
	}},
	{"value of the other branch", "if: a result of a body was made in a body that is closed", func(g *npu.Graph, x *npu.Value) {
		var inner *npu.Value
		g.Output("y", g.If(g.Input("c", "bool"),
			func() []*npu.Value { inner = g.ReLU(x); return []*npu.Value{inner} },
			func() []*npu.Value { return []*npu.Value{inner} })[0])
	}},
	{"branches differ", "if: ", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.If(g.Input("c", "bool"),
			func() []*npu.Value { return []*npu.Value{x} },
			func() []*npu.Value { return []*npu.Value{g.Sum(x)} })[0])
	}},
	{"a branch returns less", "if: ", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.If(g.Input("c", "bool"),
			func() []*npu.Value { return []*npu.Value{x} },
			func() []*npu.Value { return nil })[0])
	}},
	{"no branch", "if: a body is nil", func(g *npu.Graph, x *npu.Value) {
		g.If(g.Input("c", "bool"), func() []*npu.Value { return nil }, nil)
	}},
	{"no condition", "if: argument cond is missing", func(g *npu.Graph, x *npu.Value) {
		g.If(nil, func() []*npu.Value { return nil }, func() []*npu.Value { return nil })
	}},
	{"loop without body", "loop: a body is nil", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.For(npu.N(0), npu.N(3), []*npu.Value{x}, 0, nil)[0])
	}},
	{"scope without body", "scope: a body is nil", func(g *npu.Graph, x *npu.Value) { g.Scope("s", nil) }},
	{"precision without body", "precision: a body is nil", func(g *npu.Graph, x *npu.Value) { g.Precision(npu.BF16, nil) }},
	{"loop without condition", "loop: a body is nil", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.While([]*npu.Value{x}, nil, nil)[0])
	}},
	{"a round returns nothing", "loop: ", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.For(npu.N(0), npu.N(3), []*npu.Value{x}, 0, func(t *npu.Value, c []*npu.Value) []*npu.Value { return nil })[0])
	}},
	{"a round returns nil", "loop: a result of a body is nil", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.For(npu.N(0), npu.N(3), []*npu.Value{x}, 0, func(t *npu.Value, c []*npu.Value) []*npu.Value { return []*npu.Value{nil} })[0])
	}},
	{"a carried nil", "loop: a carried value is nil", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.For(npu.N(0), npu.N(3), []*npu.Value{nil}, 0, func(t *npu.Value, c []*npu.Value) []*npu.Value { return c })[0])
	}},
	{"loop behind a mistake", "matmul: inner dimensions differ", func(g *npu.Graph, x *npu.Value) {
		r := g.For(npu.N(0), npu.N(3), []*npu.Value{g.MatMul(x, x)}, 1, func(t *npu.Value, c []*npu.Value) []*npu.Value {
			return []*npu.Value{g.ReLU(c[0]), c[0]}
		})
		g.Output("y", r[0])
		g.Output("z", r[1])
	}},
	{"split into unequal parts", "split: size 4 of axis 1 does not divide into 3 parts", func(g *npu.Graph, x *npu.Value) {
		parts := g.Split(x, npu.Parts(3), npu.Axis(1))
		g.Output("y", g.Add(parts[0], parts[2]))
	}},
	{"split into wrong sizes", "split: ", func(g *npu.Graph, x *npu.Value) {
		parts := g.Split(x, npu.Sizes(npu.N(1), npu.N(2)), npu.Axis(1))
		g.Output("y", g.Add(parts[0], parts[1]))
	}},
	{"chunk of an axis that is not there", "chunk: ", func(g *npu.Graph, x *npu.Value) { g.Output("y", g.Chunk(x, 3, npu.Axis(7))[2]) }},
	{"const nil", "const: the tensor is nil", func(g *npu.Graph, x *npu.Value) { g.Output("y", g.Const(nil)) }},
	{"const damaged", "const: the tensor is damaged", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.Const(&npu.Tensor{DType: npu.F32, Shape: []int{2}}))
	}},
	{"const of no dtype", "const: the tensor is damaged", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.Const(&npu.Tensor{DType: 77}))
	}},
	{"name nil", "name: k is nil", func(g *npu.Graph, x *npu.Value) { g.Output("y", g.Name(nil, "k")) }},
	{"cast to no dtype", "cast: ", func(g *npu.Graph, x *npu.Value) { g.Output("y", g.Cast(x, 77)) }},
	{"type of nothing", "zeros: ", func(g *npu.Graph, x *npu.Value) { g.Output("y", g.Zeros(npu.Type{})) }},
	{"weight of symbolic size", "param: w is f32[B,2]; the sizes of a weight are numbers", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.Param("w", "f32[B, 2]"))
	}},
	{"weight of two types", "param: w is f32[2] already, not f32[3]", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.Add(g.Param("w", "f32[2]"), g.Param("w", "f32[3]")))
	}},
	{"symbol that no input has", "reshape: every symbol is the bare dimension of some input of the graph: Q is not [bad-ir]", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.Reshape(x, npu.Sym("Q"), npu.N(4)))
	}},
	{"symbol that is never bare", "input: every symbol is the bare dimension", func(g *npu.Graph, x *npu.Value) {
		g.Output("y", g.Input("z", "f32[2 * N]"))
	}},
}

// TestBuilderMistakes: whatever a Go program does with a graph, the code that
// builds it runs to its end and Compile says what was wrong first.
func TestBuilderMistakes(t *testing.T) {
	for _, c := range builderMistakes {
		t.Run(c.name, func(t *testing.T) {
			g := npu.NewGraph("main")
			c.build(g, g.Input("x", "f32[B, 4]"))
			_, err := npu.Compile(g, npu.Options{})
			fails(t, err, c.want)
			if line := err.Error(); !strings.HasPrefix(line, "graph_test.go:") && !strings.Contains(line, "no output") && !strings.Contains(line, "input: every") {
				t.Errorf("the error does not name the Go line: %s", line)
			}
		})
	}
}

// TestBuilderCompiled: a graph compiles more than once and is closed then.
func TestBuilderCompiled(t *testing.T) {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[B, 4]")
	g.Output("y", g.ReLU(x))
	for range 2 {
		p, err := npu.Compile(g, npu.Options{Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	g.Output("z", x)
	_, err := npu.Compile(g, npu.Options{})
	fails(t, err, "graph_test.go:", "main: the graph is compiled; nothing can be added")
}

// TestErrorCauses: a Go program asks for causes as it does elsewhere.
func TestErrorCauses(t *testing.T) {
	_, script := npu.Compile(npu.File("testdata/absent.npu"), npu.Options{})
	_, imported := npu.Compile(npu.Script("i.npu", "import \"./absent.npu\" as a\n\ngraph main() -> f32 { return f32(a.x) }"), npu.Options{})
	_, weights := npu.Compile(npu.Script("w.npu", "param w: f32\n\ngraph main() -> f32 { return w }"),
		npu.Options{Weights: npu.WeightsFile("absent.safetensors")})
	for _, err := range []error{script, weights, imported} {
		var all npu.Diagnostics
		var one *npu.Diagnostic
		if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &all) || !errors.As(err, &one) {
			t.Errorf("%v: the cause is lost", err)
		}
	}
}

// TestWrongTensors: tensors that a Go program put together wrongly are refused.
func TestWrongTensors(t *testing.T) {
	p := compile(t, "graph main(x: f32[2] = [1, 2]) -> f32[2] { return x }", npu.Options{})
	_, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": nil})
	fails(t, err, "x: the tensor is nil", "left out of the map")
	for _, x := range []*npu.Tensor{{DType: 77}, {DType: npu.F32, Shape: []int{2}}} {
		_, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": x})
		fails(t, err, "x: the tensor is damaged")
	}
}
