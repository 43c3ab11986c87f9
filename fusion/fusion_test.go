package fusion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/golden/expect"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/lang/syntax"
	"github.com/npulang/npu/passes"
	"github.com/npulang/npu/passes/rewrite"
)

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

// fuse runs the pass fuse alone over f.
func fuse(t testing.TB, f *ir.Func, o Options) (*Fuser, *passes.Report) {
	t.Helper()
	u, errs := New(o)
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	report, err := passes.Run(f, passes.Options{Passes: []string{"fuse"}, Fuse: u.Fuse, Verify: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return u, report
}

// TestUserRules: a user's rules are before the compiler's own, and of two that
// match the earlier one has the operators.
func TestUserRules(t *testing.T) {
	rules := compile(t, `
fusion Exp_Abs {
    exp(abs(x))
    safe
}

fusion Abs_Relu {
    abs(relu(x))
    safe
}

fusion Unsafe {
    relu(neg(x))
}

rewrite left_out {
    x * 1  =>  x
}
`)
	const text = `func @f(%c: bool[], %x: f32[B,3], %w: f32[3,4]) -> (f32[B,4], f32[B,4]) {
  %0 = matmul %x, %w : f32[B,4]
  %1 = neg %0 : f32[B,4]
  %2 = relu %1 : f32[B,4]
  %3 = abs %2 : f32[B,4]
  %4 = exp %3 : f32[B,4]
  %5 = if %c, %2 : f32[B,4] then {
    %6 = abs %2 : f32[B,4]
    %7 = exp %6 : f32[B,4]
    yield %7
  } else {
    yield %2
  }
  return %4, %5
}
`
	o := Options{Rules: rules, Switches: map[string]bool{}}
	for _, r := range growth {
		o.Switches[r.name] = false
	}
	f := irtest.Parse(t, text)
	u, _ := fuse(t, f, o)
	var b strings.Builder
	b.WriteString(f.String())
	for _, s := range u.Status()[:3] {
		writeStatus(&b, s)
	}
	expect.File(t, "testdata/user-rules.txt", b.String())
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

// writeStatus shows a status as text.
func writeStatus(b *strings.Builder, s Status) {
	fmt.Fprintf(b, "%s: enabled %t, matches %d, effects %d\n", s.Rule, s.Enabled, s.Matches, s.Effects)
	for _, r := range s.Refused {
		fmt.Fprintf(b, "  %s", r.Value)
		if r.Count > 1 {
			fmt.Fprintf(b, " and %d more", r.Count-1)
		}
		fmt.Fprintf(b, "  %s: %s\n", r.Code, r.Detail)
	}
}
