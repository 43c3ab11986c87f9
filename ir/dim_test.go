package ir

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDimTable reads testdata/dims.txt: lines "EXPRESSION => NORMAL FORM".
func TestDimTable(t *testing.T) {
	file, err := os.Open("testdata/dims.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for lines.Scan() {
		in, want, ok := strings.Cut(lines.Text(), "=>")
		if !ok {
			continue
		}
		n++
		d, err := ParseDim(strings.TrimSpace(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := d.String(); got != strings.TrimSpace(want) {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	if n < 50 {
		t.Errorf("only %d lines", n)
	}
}

func TestDimProofs(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"S", "S+1", true},
		{"S+1", "S", false},
		{"0", "S*B", true},
		{"0", "S-1", false},
		{"0", "max(S-1,0)", true},
		{"max(S-1,0)", "S", true},
		{"min(S,5)", "S", true},
		{"min(S,5)", "5", true},
		{"min(S,5)", "4", false},
		{"0", "S-min(S,5)", true},
		{"floordiv(S,2)", "S", true},
		{"2*floordiv(S,2)", "S", true},
		{"S-1", "2*floordiv(S,2)", true},
		{"S", "2*floordiv(S,2)", false},
		{"floordiv(S+1,2)", "S", true},
		{"floordiv(S+2,2)", "S", false},
		{"floordiv(S+2,3)", "S", true},
		{"floordiv(S,2)+floordiv(S+1,2)", "S", true},
		{"S", "floordiv(3*S+2,3)", true},
		{"mod(S,4)", "3", true},
		{"mod(S,4)", "S", true},
		{"mod(S,4)", "2", false},
		{"0", "mod(S-1,4)", false},
		{"0", "S/B", true},
		{"0", "S*S-S", false},
		{"0", "(S-T)*(S-T)", false}, // true, but beyond the prover
	} {
		a, b := mustDim(t, tc.a), mustDim(t, tc.b)
		if got := LessEq(a, b); got != tc.want {
			t.Errorf("LessEq(%s, %s) = %v", tc.a, tc.b, got)
		}
	}
}

func mustDim(t testing.TB, text string) Dim {
	t.Helper()
	d, err := ParseDim(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDimErrors(t *testing.T) {
	for _, text := range []string{"", "B+", "foo(1,2)", "max(1)", "1.5", "99999999999999999999", "(B", "B)", "inf", `"open`, strings.Repeat("(", 100000), strings.Repeat("-", 100000), strings.Repeat("max(", 5000)} {
		if d, err := ParseDim(text); err == nil {
			t.Errorf("ParseDim(%.20q) = %s", text, d)
		}
	}
}

// TestDimLimits: growth without end becomes a Dim without a value, soon.
func TestDimLimits(t *testing.T) {
	square := Sym("A").Add(Sym("B")).Add(N(1))
	for range 100 {
		square = square.Mul(square)
	}
	power := Sym("A")
	for range 100 {
		power = power.Mul(power)
	}
	nested, doubled, deep := Sym("A"), Sym("A"), Sym("A")
	for range 10000 {
		nested = MaxOf(nested, Sym("B").Mul(nested).Sub(N(3)))
		doubled = FloorDiv(doubled.Mul(doubled).Add(N(1)), Sym("B"))
		deep = Mod(deep.Sub(N(1)), N(7))
	}
	for i, d := range []Dim{square, power, nested, doubled, deep} {
		if d.Err() == nil || d.Equal(d) {
			t.Errorf("%d: no error: %.80s", i, d)
		}
		if _, err := d.Eval(Env{"A": 1, "B": 1}); err == nil {
			t.Errorf("%d: has a value", i)
		}
		for _, e := range []Dim{d.Add(N(1)), d.Mul(Sym("S")), Sym("S").Div(d), MaxOf(d, N(1)), FloorDiv(d, N(2))} {
			if e.Err() == nil {
				t.Errorf("%d: forgotten in %s", i, e)
			}
		}
	}
	// A chain of strided convolutions stays one division.
	conv := Sym("S")
	for range 20 {
		conv = FloorDiv(conv.Sub(N(1)), N(2)).Add(N(1))
	}
	if want := "floordiv(S+1048575,1048576)"; conv.String() != want {
		t.Errorf("conv chain is %s, want %s", conv, want)
	}
}

func TestDimSaturation(t *testing.T) {
	huge := N(1 << 62)
	if err := T(4, huge).Check(); err == nil {
		t.Error("a saturated size is accepted")
	}
	if got := MinOf(huge.Add(Sym("S")), Sym("S")); got.String() != "S" {
		t.Errorf("min(huge+S, S) = %s", got)
	}
	if got := MaxOf(Sym("S").Sub(huge), N(0)); !got.Is(0) {
		t.Errorf("max(S-huge, 0) = %s", got)
	}
	product := N(1 << 40).Mul(Sym("S")).Mul(N(1 << 40))
	if product.Err() == nil || product.Sub(product).Is(0) {
		t.Error("an overflowed coefficient is forgotten")
	}
	big := N(1 << 61).Mul(Sym("S")).Div(N(4))
	if _, err := big.Mul(Sym("T")).Eval(Env{"S": 1 << 30, "T": 1 << 30}); err == nil {
		t.Error("an overflowed value is accepted")
	}
}

// A dimExpr is an expression both as a tree that is evaluated as it stands and
// as a Dim in normal form.
type dimExpr struct {
	text string
	d    Dim
	eval func(Env) (num, den int64, ok bool) // a fraction; not ok: no value
}

func constExpr(n int64) dimExpr {
	return dimExpr{N(n).String(), N(n), func(Env) (int64, int64, bool) { return n, 1, true }}
}

func symExpr(name string) dimExpr {
	return dimExpr{name, Sym(name), func(env Env) (int64, int64, bool) { return env[name], 1, true }}
}

// dimOps are the operations, by the rules of school for fractions.
var dimOps = []struct {
	name string
	d    func(a, b Dim) Dim
	eval func(an, ad, bn, bd int64) (int64, int64, bool)
}{
	{"+", Dim.Add, func(an, ad, bn, bd int64) (int64, int64, bool) { return an*bd + bn*ad, ad * bd, true }},
	{"-", Dim.Sub, func(an, ad, bn, bd int64) (int64, int64, bool) { return an*bd - bn*ad, ad * bd, true }},
	{"*", Dim.Mul, func(an, ad, bn, bd int64) (int64, int64, bool) { return an * bn, ad * bd, true }},
	{"/", Dim.Div, func(an, ad, bn, bd int64) (int64, int64, bool) { return an * bd, ad * bn, bn != 0 }},
	{"floordiv", FloorDiv, integers(func(a, b int64) int64 { q, _ := evalFloorDiv(a, b); return q })},
	{"ceildiv", CeilDiv, integersPositive(func(a, b int64) int64 { q, _ := evalFloorDiv(a+b-1, b); return q })},
	{"mod", Mod, integers(func(a, b int64) int64 { return a % b })},
	{"max", MaxOf, extremeOf(true)},
	{"min", MinOf, extremeOf(false)},
}

// integers is for functions of integers.
func integers(f func(a, b int64) int64) func(an, ad, bn, bd int64) (int64, int64, bool) {
	return func(an, ad, bn, bd int64) (int64, int64, bool) {
		if an%ad != 0 || bn%bd != 0 || bn == 0 {
			return 0, 1, false
		}
		return f(an/ad, bn/bd), 1, true
	}
}

func integersPositive(f func(a, b int64) int64) func(an, ad, bn, bd int64) (int64, int64, bool) {
	return func(an, ad, bn, bd int64) (int64, int64, bool) {
		if (bn < 0) != (bd < 0) {
			return 0, 1, false
		}
		return integers(f)(an, ad, bn, bd)
	}
}

func extremeOf(larger bool) func(an, ad, bn, bd int64) (int64, int64, bool) {
	return func(an, ad, bn, bd int64) (int64, int64, bool) {
		if an%ad != 0 || bn%bd != 0 {
			return 0, 1, false
		}
		if (an/ad > bn/bd) == larger {
			return an / ad, 1, true
		}
		return bn / bd, 1, true
	}
}

func drawDimExpr(t *rapid.T, depth int) dimExpr {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		if rapid.Bool().Draw(t, "symbol") {
			return symExpr(rapid.SampledFrom([]string{"A", "B", "S"}).Draw(t, "name"))
		}
		return constExpr(rapid.Int64Range(-4, 6).Draw(t, "n"))
	}
	op := rapid.SampledFrom(dimOps).Draw(t, "op")
	a, b := drawDimExpr(t, depth-1), drawDimExpr(t, depth-1)
	return dimExpr{
		"(" + a.text + " " + op.name + " " + b.text + ")",
		op.d(a.d, b.d),
		func(env Env) (int64, int64, bool) {
			an, ad, ok := a.eval(env)
			bn, bd, ok2 := b.eval(env)
			if !ok || !ok2 {
				return 0, 1, false
			}
			n, d, ok := op.eval(an, ad, bn, bd)
			if !ok || n > 1<<20 || n < -1<<20 || d > 1<<20 || d < -1<<20 {
				return 0, 1, false
			}
			n, d = fraction(n, d)
			return n, d, true
		},
	}
}

func drawEnv(t *rapid.T) Env {
	env := Env{}
	for _, name := range []string{"A", "B", "S"} {
		env[name] = rapid.Int64Range(0, 9).Draw(t, name)
	}
	return env
}

// TestDimNormalFormKeepsValue: where an expression has a value, its normal form
// has the same; proofs hold; and the printed form reads back.
func TestDimNormalFormKeepsValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawDimExpr(t, 4)
		env := drawEnv(t)
		n, den, ok := e.eval(env)
		if ok && den == 1 {
			got, err := e.d.Eval(env)
			if err != nil || got != n {
				t.Fatalf("%s = %d, but %s = %d (%v) with %v", e.text, n, e.d, got, err, env)
			}
			if e.d.NonNeg() && n < 0 {
				t.Fatalf("%s is not at least 0 with %v", e.text, env)
			}
		}
		if e.d.isBad() {
			return
		}
		back, err := ParseDim(e.d.String())
		if err != nil || !back.Equal(e.d) {
			t.Fatalf("%s reads back as %s (%v)", e.d, back, err)
		}
	})
}

// TestDimEqualFormsEqualValues: two expressions of one form agree wherever both
// have a value.
func TestDimEqualFormsEqualValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawDimExpr(t, 2), drawDimExpr(t, 2)
		if !a.d.Equal(b.d) {
			return
		}
		env := drawEnv(t)
		n, nd, ok := a.eval(env)
		m, md, ok2 := b.eval(env)
		if ok && ok2 && (n != m || nd != md) {
			t.Fatalf("%s = %d/%d, %s = %d/%d, both %s, with %v", a.text, n, nd, b.text, m, md, a.d, env)
		}
	})
}
