package fusion

import (
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/lang/syntax"
	"github.com/npulang/npu/passes/rewrite"
)

const rules = `
fusion MatMul_BiasAdd {
    bias_add(matmul(a, b), c)
}

fusion MatMul_BiasAdd_ReLU {
    relu?(bias_add(matmul(a, b), c))
}

fusion Exp_Abs {
    exp(abs(x))
}

rewrite left_out {
    x * 1  =>  x
}
`

func compile(t *testing.T, text string) []*rewrite.Rule {
	t.Helper()
	file, errs := syntax.Parse(diag.NewSource("rules.npu", text))
	var out []*rewrite.Rule
	for _, d := range file.Decls {
		r, bad := rewrite.Compile(d.(*syntax.RuleDecl))
		errs = append(errs, bad...)
		out = append(out, r)
	}
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCandidates(t *testing.T) {
	s, errs := NewSet(compile(t, rules))
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Rules()); n != 3+len(Rules) {
		t.Fatalf("%d rules", n)
	}
	if s.Rules()[1].Unit != ir.Cube || s.Rules()[2].Unit != ir.Vector {
		t.Error("the units of the rules are wrong")
	}
	const text = `func @f(%c: bool[], %x: f32[B,3], %w: f32[3,4], %v: f32[4]) -> (f32[B,4], f32[B,4]) {
  %0 = matmul %x, %w : f32[B,4]
  %1 = bias_add %0, %v : f32[B,4]
  %2 = relu %1 : f32[B,4]
  %3 = abs %2 : f32[B,4]
  %4 = exp %3 : f32[B,4]
  %5 = matmul %x, %w : f32[B,4]
  %6 = bias_add %5, %v : f32[B,4]
  %7 = if %c, %6 : f32[B,4] then {
    %8 = abs %6 : f32[B,4]
    %9 = exp %8 : f32[B,4]
    yield %9
  } else {
    yield %6
  }
  return %4, %7
}
`
	f := irtest.Parse(t, text)
	before := f.String()
	var got []string
	for _, c := range Candidates(f, s) {
		names := c.Func.Names()
		line := c.Rule.Name
		for _, v := range c.Match.Inside {
			line += " " + names[v]
		}
		got = append(got, line)
	}
	want := []string{
		// %6 is read by the region only; the earlier rule of two that match has it.
		"MatMul_BiasAdd %6 %5",
		"Exp_Abs %4 %3",
		"MatMul_BiasAdd_ReLU %2 %1 %0",
		"Exp_Abs %2 %1", // inside the region, whose values are numbered anew
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("candidates:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if f.String() != before {
		t.Error("Candidates changed the graph")
	}
	if empty, _ := NewSet(nil); len(Rules) == 0 && Candidates(f, empty) != nil {
		t.Error("a set without rules has candidates")
	}
}

func TestDuplicateNames(t *testing.T) {
	_, errs := NewSet(compile(t, "fusion A {\n    exp(abs(x))\n}\n\nfusion A {\n    abs(exp(x))\n}\n"))
	if len(errs) != 1 {
		t.Fatalf("errors: %v", errs)
	}
	if got, want := errs[0].Headline(), "rules.npu:5:1: error: two fusions are named A [duplicate-name]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.Join(errs[0].Notes, ""); got != "the other is at rules.npu:1:1" {
		t.Errorf("note: %s", got)
	}
}
