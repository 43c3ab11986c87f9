package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/npulang/npu/golden/expect"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/lang/syntax"
)

// A file of testdata has sections "rules", in the language; each is followed by
// "out": what they compile to, or their errors. A section "in", IR, adds where
// they match, and a directive in it binds: "// fires: RULE" and "// silent: RULE"
// are checked even with -update. A section "check passed", or another result, has
// rules that a check gives this verdict; it is followed by their counterexamples.
func TestRules(t *testing.T) {
	var rules []*Rule // of the last section of them
	expect.Archives(t, []string{"rules", "in", "check"}, func(t *testing.T, s txtar.File) []txtar.File {
		if s.Name == "in" {
			return []txtar.File{expect.Section("matches", matchAll(t, rules, string(s.Data)))}
		}
		if want, ok := strings.CutPrefix(s.Name, "check "); ok {
			return []txtar.File{expect.Section("verdicts", checkAll(t, string(s.Data), Result(want)))}
		}
		var text string
		rules, text = compileAll(t, string(s.Data))
		return []txtar.File{expect.Section("out", text)}
	})
}

func compileAll(t *testing.T, text string) ([]*Rule, string) {
	t.Helper()
	file, errs := syntax.Parse(diag.NewSource("rules.npu", text))
	if err := errs.Err(); err != nil {
		t.Fatalf("the rules do not parse: %v", err)
	}
	var rules []*Rule
	var out strings.Builder
	for _, d := range file.Decls {
		r, errs := Compile(d.(*syntax.RuleDecl))
		if (r == nil) != (errs.Err() != nil) {
			t.Errorf("a rule and an error, or neither: %v, %v", r, errs)
		}
		if r == nil {
			if err := errs.Render(&out, false); err != nil {
				t.Fatal(err)
			}
			continue
		}
		out.WriteString(r.String())
		checkPrinted(t, r)
		rules = append(rules, r)
	}
	return rules, out.String()
}

// checkPrinted compiles the printed form again, which must print the same.
func checkPrinted(t *testing.T, r *Rule) {
	t.Helper()
	file, errs := syntax.Parse(diag.NewSource("printed.npu", r.String()))
	if errs.Err() != nil {
		t.Errorf("the printed rule does not parse: %v\n%s", errs, r)
		return
	}
	again, errs := Compile(file.Decls[0].(*syntax.RuleDecl))
	if again == nil {
		t.Errorf("the printed rule does not compile: %v\n%s", errs, r)
	} else if again.String() != r.String() {
		t.Errorf("printed twice, a rule differs:\n%s\n%s", r, again)
	}
}

func matchAll(t *testing.T, rules []*Rule, text string) string {
	t.Helper()
	var out strings.Builder
	for _, part := range strings.SplitAfter(text, "\n}\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		directives, code := cutDirectives(part)
		f := irtest.Parse(t, code)
		fired := matchFunc(rules, f, &out)
		for _, d := range directives {
			kind, rule, _ := strings.Cut(d, ": ")
			if fired[rule] != (kind == "fires") || (kind != "fires" && kind != "silent") {
				t.Errorf("@%s: the directive %q does not hold", f.Name, d)
			}
		}
	}
	return out.String()
}

func cutDirectives(part string) (directives []string, code string) {
	var lines []string
	for _, line := range strings.SplitAfter(part, "\n") {
		if d, ok := strings.CutPrefix(line, "// "); ok {
			directives = append(directives, strings.TrimSpace(d))
		} else {
			lines = append(lines, line)
		}
	}
	return directives, strings.Join(lines, "")
}

func matchFunc(rules []*Rule, f *ir.Func, out *strings.Builder) map[string]bool {
	names, uses := f.Names(), NewUses(f)
	fired := map[string]bool{}
	fmt.Fprintf(out, "@%s\n", f.Name)
	for _, v := range f.Body {
		for _, r := range rules {
			m := r.Find(v, uses)
			if m == nil {
				continue
			}
			fired[r.Name] = true
			fmt.Fprintf(out, "  %s at %s:%s inside", r.Name, names[v], bindings(r.Match, m, names))
			for _, u := range m.Inside {
				fmt.Fprintf(out, " %s", names[u])
			}
			out.WriteByte('\n')
		}
	}
	return fired
}

func bindings(p *Pattern, m *Match, names map[*ir.Value]string) string {
	var b strings.Builder
	for _, n := range p.Names() {
		if v := m.Value(n); v != nil {
			fmt.Fprintf(&b, " %s=%s", n, names[v])
		} else if l, ok := m.Attr(n); ok {
			fmt.Fprintf(&b, " %s=%s", n, l)
		} else {
			fmt.Fprintf(&b, " %s absent", n)
		}
	}
	return b.String()
}

func TestMust(t *testing.T) {
	p := Must(`matmul(softmax(matmul(q, kt) * scale + mask?, axis=-1), v)`)
	if got, want := p.String(), "matmul(softmax(add?(mul(matmul(q, kt), scale), mask)), v)"; got != want {
		t.Errorf("compiled to %s, want %s", got, want)
	}
	if got := strings.Join(p.Names(), " "); got != "q kt scale mask v" {
		t.Errorf("names: %s", got)
	}
	for _, bad := range []string{"x", "sofmax(x)", "relu(", ""} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "pattern `"+bad+"`") {
					t.Errorf("Must(%q) panicked with %v", bad, r)
				}
			}()
			Must(bad)
		}()
	}
}

// A pattern of many commuting operators has exponentially many ways to fail; the
// search gives up after a bounded number of steps.
func TestMatchIsBounded(t *testing.T) {
	expr, ir0 := "x0", "%a0"
	var body strings.Builder
	params := "%a0: f32[1]"
	for i := 1; i < 50; i++ {
		expr = fmt.Sprintf("(%s + x%d) * x%d", expr, i, i)
		params += fmt.Sprintf(", %%a%d: f32[1]", i)
		fmt.Fprintf(&body, "  %%s%d = add %s, %%a%d : f32[1]\n  %%m%d = mul %%s%d, %%a0 : f32[1]\n", i, ir0, i, i, i)
		ir0 = fmt.Sprintf("%%m%d", i)
	}
	text := fmt.Sprintf("func @f(%s) -> f32[1] {\n%s  return %s\n}\n", params, &body, ir0)
	f := irtest.Parse(t, text)
	if m := Must(expr).Find(f.Results[0], NewUses(f)); m != nil {
		t.Error("matched, with x1 standing for two values")
	}
}

// FuzzPattern compiles any expression: no panic, and what compiles prints to
// what compiles to the same.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{
		"relu(bias_add(matmul(a, b), c))", "x * 1", "transpose(transpose(x, p), q)", "x + m?",
		"relu?(exp(x))", "einsum(\"ij->ji\", x)", "concat([a, b], axis=0)", "x.reshape(2, 3).T", "-x ** 2 ** y",
		"conv(x, w, b?, stride=[2, 2])", "where(x > 0, x, 0.5 / sqrt(2.0))", "clip(x, hi=6)", "cast(x, f16)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		expr, errs := syntax.ParseExpr(diag.NewSource("pattern", text))
		if errs.Err() != nil {
			return
		}
		c := newCompiler()
		p := c.pattern(expr)
		if (p == nil) != (c.errs.Err() != nil) {
			t.Fatalf("pattern %v with errors %v", p, c.errs)
		}
		if p == nil {
			return
		}
		if again := Must(p.String()); again.String() != p.String() {
			t.Fatalf("%s prints as %s and then as %s", text, p, again)
		}
	})
}
