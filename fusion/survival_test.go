package fusion

import (
	"strings"
	"testing"

	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/passes"
	"github.com/npulang/npu/passes/rewrite"
)

// survivalCases lists patterns with what simplification leaves of them: further
// forms, or why there are none.
var survivalCases = []struct{ pattern, forms, why string }{
	{"exp(x * x)", "exp(square(x))", ""},
	{"exp(x * x + x * 0.1)", "exp(add(square(x), mul(x, 0.1)))", ""},
	{"tanh(1 / x + y)", "tanh(add(reciprocal(x), y))", ""},
	{"tanh(x / 8)", "tanh(mul(x, 0.125))", ""},
	{"mean(x ** 2, axis=a)", "mean(square(x), axis=a)", ""},
	{"relu(matmul(a, b) + c)", "add(matmul(a, b), c); relu(bias_add(matmul(a, b), c)); bias_add(matmul(a, b), c)", ""},
	{"relu(matmul(a, b) + c)\nwhere rank(c) == 2", "add(matmul(a, b), c)", ""},
	{"relu(linear(x, w) + c)", "relu(linear(x, w, c)); add(linear(x, w), c)", ""},
	{"exp(x * sigmoid(x))", "exp(silu(x))", ""},
	{"tanh(minimum(maximum(x, -1), 6))", "tanh(clip(x, -1, 6))", ""},
	{"sqrt(mean((x - mean(x, axis=-1, keepdims=true)) ** 2, axis=-1, keepdims=true) + e)", "sqrt(add(variance(x, axis=[-1], keepdims=true), e))", ""},
	{"exp(neg?(x * x))", "exp(neg(square(x))); exp(square(x))", ""},
	{"exp(neg(x))", "", ""},
	{"x * sigmoid(x)", "", alone},
	{"exp(x) * 1", "", alone},
	{"exp(x)", "", alone},
	{"relu(transpose(transpose(x, p), q))", "", "nothing of it is p any more"},
	{"matmul(softmax(matmul(q, transpose(k)) * s, axis=-1), v)", "matmul(softmax(mul(linear(q, k), s)), v)", ""},
}

// TestSurvive: what simplification leaves of a pattern is a form of the rule, with
// the names, tests and attributes that it had.
func TestSurvive(t *testing.T) {
	for _, c := range survivalCases {
		r := rewrite.Own("rule", "", c.pattern)
		s := Survive(r, &passes.Options{Fuse: (&Fuser{}).Fuse})
		var forms []string
		for _, p := range s.Forms {
			forms = append(forms, p.String())
		}
		if got := strings.Join(forms, "; "); s.Graphs == 0 || got != c.forms || s.Dead() != (c.why != "") || s.Dead() && s.Why != c.why {
			t.Errorf("%s: %d graphs, %d lost\n got %s; %s\nwant %s; %s\n%s\n%s", c.pattern, s.Graphs, s.Lost, got, s.Why, c.forms, c.why, s.Before, s.After)
		}
		if s.Kept+s.Read+s.Lost != s.Graphs {
			t.Errorf("%s: %+v", c.pattern, s)
		}
	}
}

// TestSurviveOptions: a rewrite that is switched off, or one of the user's own,
// counts; at a level without fusion nothing is known.
func TestSurviveOptions(t *testing.T) {
	r := rewrite.Own("rule", "", "exp(x * x)")
	off := Survive(r, &passes.Options{Enabled: func(name string) bool { return name != "make-square" }})
	if off.Kept != off.Graphs || off.Graphs == 0 {
		t.Errorf("without make-square: %+v", off)
	}
	user := rewrite.Own("user", "", "x * x  =>  x ** 3")
	if s := Survive(r, &passes.Options{Rules: []*rewrite.Rule{user}}); len(s.Forms) != 1 || s.Forms[0].String() != "exp(pow(x, 3))" {
		t.Errorf("with a rewrite of the user's: %v, %s", s.Forms, s.Reason())
	}
	if s := Survive(r, &passes.Options{Level: passes.O1}); s.Graphs != 0 {
		t.Errorf("without fusion: %+v", s)
	}
}

// TestFormsOfKinds: a form that comes of integers without a sign is none of those
// with one, whose division is no shift.
func TestFormsOfKinds(t *testing.T) {
	r := rewrite.Own("rule", "", "bit_not(x / 4)")
	r.Safe = true
	const text = "func @f(%x: DTYPE[8]) -> (DTYPE[8]) {\n  %c = const 2 : DTYPE[]\n  %0 = shift_right %x, %c : DTYPE[8]\n  %1 = bit_not %0 : DTYPE[8]\n  return %1\n}\n"
	for dtype, want := range map[string]int{"u8": 1, "i32": 0} {
		u, _ := New(Options{Rules: []*rewrite.Rule{r}})
		f := irtest.Parse(t, strings.ReplaceAll(text, "DTYPE", dtype))
		if _, err := passes.Run(f, passes.Options{Fuse: u.Fuse, Verify: true}); err != nil {
			t.Fatal(err)
		}
		if got := u.Status()[0].Matches; got != want {
			t.Errorf("%s: %d matches, want %d", dtype, got, want)
		}
	}
}

// TestOwnFusionsSurvive: the patterns of the compiler's own fusions are written in
// the form that simplification leaves.
func TestOwnFusionsSurvive(t *testing.T) {
	for _, r := range Rules() {
		if s := Survive(r.Rule, &passes.Options{}); s.Graphs > 0 && s.Kept < s.Graphs/2 {
			t.Errorf("%s: %d of %d graphs are lost, %d read as %v: %s\n%s\n%s", r.Name, s.Lost, s.Graphs, s.Read, s.Forms, s.Reason(), s.Before, s.After)
		}
	}
}
