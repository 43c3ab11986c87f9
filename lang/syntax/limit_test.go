package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir/diag"
)

func parseText(text string) (*File, diag.List) { return Parse(diag.NewSource("big.npu", text)) }

// TestLongChains parses, prints and formats chains that would overflow the
// stack of a parser that recurses along them.
func TestLongChains(t *testing.T) {
	const n = 100_000
	for name, text := range map[string]string{
		"binary":      "x = a" + strings.Repeat(" + b * c", n),
		"power":       "x = a" + strings.Repeat(" ** b", n),
		"comparison":  "x = a < b" + strings.Repeat(" and a < b", n),
		"unary":       "x = " + strings.Repeat("-~", n) + "a",
		"not":         "x = " + strings.Repeat("not ", n) + "a",
		"postfix":     "x = a" + strings.Repeat(".b(1)[2]", n),
		"lines":       "x = a" + strings.Repeat("\n  .b(1)", n),
		"list":        "x = [" + strings.Repeat("1, ", n) + "]",
		"else if":     "fn f() {\nif a { x = 1 }" + strings.Repeat(" else if b { x = 2 }", n) + "\n}",
		"if value":    "x = if a { 1 }" + strings.Repeat(" else if b { 2 }", n) + " else { 3 }",
		"statements":  "fn f() {\n" + strings.Repeat("x = relu(x)\n", n) + "}",
		"parameters":  "fn f(" + strings.Repeat("x: f32, ", n) + ") { }",
		"annotations": "fn f() {\n" + strings.Repeat("@a(1) ", n) + "x = 1\n}",
		"comments":    strings.Repeat("// c\n", n) + "x = f(" + strings.Repeat("// c\n", n) + ")",
		"docs":        strings.Repeat("/// c\n", n) + "x = f()",
		"names":       "fn f() {\n" + strings.Repeat("x, ", n) + "y = 1\n}",
		"decls":       strings.Repeat("x = f()\n", n),
	} {
		start := time.Now()
		f, errs := parseText(text)
		if len(errs) > 0 {
			t.Errorf("%s: %s", name, errs[0].Headline())
			continue
		}
		once := Format(f)
		g, errs := parseText(once)
		if len(errs) > 0 || Print(f) != Print(g) {
			t.Errorf("%s: formatting changed the tree", name)
		}
		if d := time.Since(start); d > 60*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}

// TestNesting nests to the limit, and one deeper.
func TestNesting(t *testing.T) {
	for name, pair := range map[string][2]string{
		"parentheses": {"(", ")"}, "calls": {"f(", ")"}, "lists": {"[", "]"},
		"subscripts": {"a[", "]"}, "types": {"f32[", "]"}, "ifs": {"if a { ", " } else { 1 }"},
	} {
		deep := func(n int) (*File, diag.List) {
			return parseText("x = " + strings.Repeat(pair[0], n) + "1" + strings.Repeat(pair[1], n))
		}
		f, errs := deep(MaxNesting)
		if len(errs) > 0 {
			t.Errorf("%s: %s", name, errs[0].Headline())
			continue
		}
		checkFormat(t, f)
		if _, errs = deep(MaxNesting + 1); len(errs) != 1 || errs[0].Code != "limit" {
			t.Errorf("%s, one too deep: %v", name, errs)
		}
		if _, errs = deep(1_000_000); len(errs) != 1 || errs[0].Code != "limit" {
			t.Errorf("%s, far too deep: %v", name, errs)
		}
	}
}

// TestNestingWithoutBrackets nests expressions by other means.
func TestNestingWithoutBrackets(t *testing.T) {
	for name, text := range map[string]string{
		"conditions": strings.Repeat("if ", 100_000) + "a",
		"exponents":  "2" + strings.Repeat(" ** -2", 100_000),
		"both":       strings.Repeat("[if ", 900) + strings.Repeat("if ", 100_000),
	} {
		_, errs := parseText("x = " + text)
		if len(errs) != 1 || errs[0].Code != "limit" && name != "both" {
			t.Errorf("%s: %v", name, errs)
		}
	}
	if _, errs := parseText("x = 2" + strings.Repeat(" ** -2", MaxNesting)); len(errs) > 0 {
		t.Errorf("exponents that are not too deep: %v", errs)
	}
}

func TestTooLarge(t *testing.T) {
	_, errs := parseText(strings.Repeat(" ", MaxBytes+1))
	if len(errs) != 1 || errs[0].Code != "limit" {
		t.Errorf("a source that is too long: %v", errs)
	}
	_, errs = parseText("x = [" + strings.Repeat("1,", MaxTokens/2) + "]")
	if len(errs) != 1 || errs[0].Code != "limit" {
		t.Errorf("a source of too many tokens: %v", errs)
	}
}

// TestManyErrors sees to it that a file full of errors takes linear time.
func TestManyErrors(t *testing.T) {
	for name, line := range map[string]string{
		"syntax": "x = = 3\n", "open": "x = f(\ngraph main() {\n", "flush": "module M() {\nfn f() {\n", "close": "}\n", "stray": "$\n",
	} {
		start := time.Now()
		_, errs := parseText(strings.Repeat(line, 20_000))
		if len(errs) == 0 {
			t.Errorf("%s: no errors", name)
		}
		if d := time.Since(start); d > 60*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	text.WriteString("graph main(x: f32[4]) -> f32[4] {\n")
	for i := range 100_000 {
		fmt.Fprintf(&text, "    h%d = relu(h%d, axis=-1) + 1.5\n", i+1, i)
	}
	text.WriteString("    return h100000\n}\n")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := parseText(text.String()); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkFormat(b *testing.B) {
	text := "fn f() {\n" + strings.Repeat("    h1 = relu(h0, axis=-1) + 1.5 // c\n", 100_000) + "}\n"
	f, _ := parseText(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Format(f)
	}
}
