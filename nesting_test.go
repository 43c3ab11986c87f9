package npu_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/ir"
)

// Conditions as deep as they may be go all the way: through the passes and fusion,
// which makes regions of what lies innermost, into a file and out of it again.
func TestNesting(t *testing.T) {
	script := npu.Script("deep.npu", nestedConditions(ir.MaxNesting))
	if err := npu.CrossCheck(script, npu.Options{}, 1); err != nil {
		t.Fatal(err)
	}
	p, err := npu.Compile(script, npu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	file := filepath.Join(t.TempDir(), "deep.npuc")
	if err := p.Save(file); err != nil {
		t.Fatal(err)
	}
	again, err := npu.Compile(npu.File(file), npu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	fused, _, err := npu.Emit(script, "fused", npu.Options{})
	if err != nil || !strings.Contains(fused, "fused %") {
		t.Fatalf("nothing is fused: %v", err)
	}
	if err := npu.CrossCheck(npu.Script("deep.ir", fused), npu.Options{}, 1); err != nil {
		t.Error(err)
	}
}

// One deeper is refused by the front ends.
func TestNestingIsBounded(t *testing.T) {
	g := npu.NewGraph("deep")
	x, c := g.Input("x", "f32[4]"), g.Input("c", "bool[]")
	g.Output("y", conditionsOf(g, c, x, ir.MaxNesting+1))
	for name, src := range map[string]npu.Source{"script": npu.Script("deep.npu", nestedConditions(ir.MaxNesting+1)), "graph": g} {
		if _, err := npu.Compile(src, npu.Options{}); err == nil || npu.AsDiagnostic(err).Code != "limit" {
			t.Errorf("%s: %v", name, err)
		}
	}
	g = npu.NewGraph("deep")
	x, c = g.Input("x", "f32[4]"), g.Input("c", "bool[]")
	g.Output("y", conditionsOf(g, c, x, ir.MaxNesting))
	if err := npu.CrossCheck(g, npu.Options{}, 1); err != nil {
		t.Error(err)
	}
}

// nestedConditions is a script with an if in an if, so many in all.
func nestedConditions(depth int) string {
	var b strings.Builder
	b.WriteString("graph main(x: f32[4], c: bool) -> f32[4] {\n")
	for i := range depth {
		fmt.Fprintf(&b, "if c {\nx = x * %d.5\n", i%9+1)
	}
	b.WriteString("x = exp(-abs(x))\n")
	for i := range depth {
		fmt.Fprintf(&b, "} else {\nx = x + %d.25\n}\n", i%9)
	}
	b.WriteString("return x\n}\n")
	return b.String()
}

// conditionsOf builds the same of a graph.
func conditionsOf(g *npu.Graph, c, x *npu.Value, depth int) *npu.Value {
	if depth == 0 {
		return g.Exp(g.Neg(g.Abs(x)))
	}
	return g.If(c, func() []*npu.Value { return []*npu.Value{conditionsOf(g, c, g.Add(x, x), depth-1)} },
		func() []*npu.Value { return []*npu.Value{x} })[0]
}
