package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// checkAll checks the rules of a section, each at both efforts, and shows what is
// wrong with them.
func checkAll(t *testing.T, text string, want Result) string {
	t.Helper()
	rules, problems := compileAll(t, text)
	var out strings.Builder
	for _, r := range rules {
		quick, v := Check(r, Quick, 1), Check(r, Thorough, 1)
		if v.Result() != want {
			t.Errorf("rule %s: %s, want %s: %+v", r.Name, v.Result(), want, v)
		}
		if quick.Result() != v.Result() {
			t.Errorf("rule %s: a quick check says %s, a thorough one %s", r.Name, quick.Result(), v.Result())
		}
		if v.Counter != nil {
			fmt.Fprintf(&out, "%s\n%s", r.Name, v.Counter)
		}
	}
	if len(rules) == 0 {
		t.Errorf("no rules: %s", problems)
	}
	return out.String()
}

// The same check gives the same verdict.
func TestCheckIsDeterministic(t *testing.T) {
	file, _ := syntax.Parse(diag.NewSource("rules.npu", "rewrite r {\n    (x + y) + z  =>  x + (y + z)\n    safe\n}\n"))
	r, _ := Compile(file.Decls[0].(*syntax.RuleDecl))
	a, b := Check(r, Quick, 7), Check(r, Quick, 7)
	if a.Counter == nil || a.Counter.String() != b.Counter.String() || a.Cases != b.Cases || a.Compared != b.Compared {
		t.Errorf("two checks differ: %+v, %+v", a, b)
	}
}

// A large pattern takes no longer than others: calls are counted, too.
func TestCheckIsBounded(t *testing.T) {
	expr := "x0"
	for i := 1; i < 50; i++ {
		expr = fmt.Sprintf("(relu?(%s) + x%d) * x%d", expr, i, i)
	}
	r := &Rule{Name: "large", Match: Must(expr), Replace: Must("relu(x0)"), When: func(*Match) bool { return false }}
	e := Effort{Cases: 200, Enough: 1}
	if v := Check(r, e, 1); v.Result() != Unchecked || v.Cases == 0 || v.Cases >= e.Cases {
		t.Errorf("%s after %d graphs", v.Result(), v.Cases)
	}
}

// FuzzCheck checks whatever compiles: no panic, and an end.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"x * 0  =>  0", "relu?(x + m?)  =>  relu?(x)", "transpose(transpose(x, p), q)  =>  transpose(x, compose(p, q))",
		"einsum(\"ij,jk->ik\", a, b)  =>  matmul(a, b)", "x ** 2  =>  x * x\nwhere dtype(x) == f32\nsafe within 1e-5",
		"iota(1000000000) + x  =>  x", "x  + 1 =>  concat([x, x, x], axis=0)", "cast(cast(x, a), b)", "pad(x, p, m, v)  =>  x",
		"conv(x, w, b?, stride=[2, 2])\nwhere rank(x) == 4", "split(x, n, s, a)  =>  x", "where(c, x, x)  =>  x",
		"repeat(x, 100000)  =>  repeat(repeat(x, 100000), 100000)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kind := "fusion"
		if strings.Contains(text, "=>") {
			kind = "rewrite"
		}
		file, errs := syntax.Parse(diag.NewSource("fuzz", kind+" r {\n"+text+"\n}\n"))
		if errs.Err() != nil || len(file.Decls) != 1 {
			return
		}
		d, ok := file.Decls[0].(*syntax.RuleDecl)
		if !ok {
			return
		}
		if r, _ := Compile(d); r != nil {
			v := Check(r, Effort{Cases: 40, Enough: 20}, 1)
			if v.Result() == Failed && v.Counter.String() == "" {
				t.Error("a counterexample without a text")
			}
		}
	})
}
