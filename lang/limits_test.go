package lang

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir/diag"
)

// loadScript loads a script that imports nothing.
func loadScript(src string) (*Unit, diag.List) { return Load(diag.NewSource("in.npu", src), Options{}) }

// long makes scripts that are large in one way each.
var long = map[string]func(n int) string{
	"statements": func(n int) string {
		return "graph main(x: f32[4]) -> f32[4] {\n" + strings.Repeat("    x = x + 1\n", n) + "    return x\n}\n"
	},
	"independent": func(n int) string {
		var b strings.Builder
		b.WriteString("graph main(x: f32[4]) -> f32[4] {\n")
		for i := range n {
			fmt.Fprintf(&b, "    v%d = relu(x)\n", i)
		}
		b.WriteString("    return v0\n}\n")
		return b.String()
	},
	"binary chain": func(n int) string {
		return "graph main(x: f32[4]) -> f32[4] { return x" + strings.Repeat(" + x", n) + " }\n"
	},
	"power chain": func(n int) string {
		return "graph main(x: f32[4]) -> f32[4] { return x" + strings.Repeat(" ** x", n) + " }\n"
	},
	"unary chain": func(n int) string {
		return "graph main(x: f32[4]) -> f32[4] { return " + strings.Repeat("-", n) + "x }\n"
	},
	"methods": func(n int) string {
		return "graph main(x: f32[4]) -> f32[4] { return x" + strings.Repeat(".relu()", n) + " }\n"
	},
	"unrolled": func(n int) string {
		return fmt.Sprintf("graph main(x: f32[4]) -> f32[4] {\n    for i in 0..%d { x = x + i }\n    return x\n}\n", n)
	},
	"literal": func(n int) string {
		return "graph main(x: f32[4]) -> f32[" + fmt.Sprint(n) + "] { return [" + strings.Repeat("1.5, ", n) + "] }\n"
	},
	"else if": func(n int) string {
		return "graph main(x: f32[4]) -> f32[4] {\n    if x.rank == 0 { y = x }" + strings.Repeat(" else if x.rank == 2 { y = x }", n) + " else { y = -x }\n    return y\n}\n"
	},
	"calls": func(n int) string {
		return "fn f(x: f32[N]) -> f32[N] { return relu(x) }\ngraph main(x: f32[4]) -> f32[4] {\n" + strings.Repeat("    x = f(x)\n", n) + "    return x\n}\n"
	},
	"declarations": func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "const c%d = %d\n", i, i)
		}
		b.WriteString("graph main(x: f32[4]) -> f32[4] { return x * c7 }\n")
		return b.String()
	},
}

// chains are the ones that must work with 100,000 links.
var chains = map[string]bool{"statements": true, "independent": true, "binary chain": true, "unary chain": true}

// TestLong loads each of them; nothing may recurse over the length, or take
// more than linear time.
func TestLong(t *testing.T) {
	for name, script := range long {
		t.Run(name, func(t *testing.T) {
			n := 30_000
			if chains[name] {
				n = 100_000
			}
			if testing.Short() {
				n = 10_000
			}
			start := time.Now()
			unit, ds := loadScript(script(n))
			if err := ds.Err(); err != nil {
				t.Fatal(err)
			}
			if len(unit.Graphs) != 1 {
				t.Fatal("no graph")
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("took %v", d)
			}
		})
	}
}

// TestLimits gives scripts that would keep a compiler busy for ever, or use up
// its memory: each ends with an error soon.
func TestLimits(t *testing.T) {
	doubling := func(call string) string {
		var b strings.Builder
		b.WriteString("fn f0(x: f32[N]) -> f32[N] { return relu(x) }\n")
		for i := 1; i < 60; i++ {
			fmt.Fprintf(&b, "fn f%d(x: f32[N]) -> f32[N] { return f%d(f%d(x)) }\n", i, i-1, i-1)
		}
		b.WriteString(call)
		return b.String()
	}
	// holding declares names each of which holds the one before it twice.
	holding := func(first, twice string) string {
		var b strings.Builder
		b.WriteString(first)
		for i := 1; i < 60; i++ {
			b.WriteString(strings.NewReplacer("NEW", fmt.Sprint(i), "OLD", fmt.Sprint(i-1)).Replace(twice))
		}
		return b.String()
	}
	nested := func(open, inner, shut string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	chainOfFns := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "fn f%d(x: f32[N]) -> f32[N] { return f%d(x) }\n", i, i+1)
		}
		fmt.Fprintf(&b, "fn f%d(x: f32[N]) -> f32[N] { return x }\ngraph main(x: f32[4]) -> f32[4] { return f0(x) }\n", n)
		return b.String()
	}
	cases := map[string]struct{ src, code string }{
		"doubling lists":  {holding("const c0 = [1, 1]\n", "const cNEW = [cOLD, cOLD]\n"), "limit"},
		"doubling slices": {holding("const c0 = [1, 1]\n", "const cNEW = [cOLD[:], cOLD[:]]\n"), "limit"},
		"doubling rounds": {holding("const c0 = [1, 1]\n", "const cNEW = [cOLD for i in 0..2]\n"), "limit"},
		"doubling modules": {holding("module M0() { param w: f32[4] }\n", "module MNEW() {\n    a = MOLD()\n    b = MOLD()\n}\n") +
			"m = M59()\n", "limit"},
		"doubling":        {doubling("graph main(x: f32[4]) -> f32[4] { return f59(x) }\n"), "limit"},
		"endless loop":    {"graph main(x: f32[4]) -> f32[4] {\n    for i in 0..9_000_000_000_000 { x = x + 1 }\n    return x\n}\n", "limit"},
		"idle loop":       {"graph main(x: f32[4]) -> f32[4] {\n    for i in 0..9_000_000_000_000 { y = i }\n    return x\n}\n", "limit"},
		"nested idle":     {"const a = [[[[0 for i in 0..1000] for j in 0..1000] for k in 0..1000] for l in 0..1000]\n", "limit"},
		"instances":       {"module M() { param w: f32[4] }\nms = [M() for i in 0..1_000_000_000]\n", "limit"},
		"chain of fns":    {chainOfFns(5000), "limit"},
		"run-time loops":  {"graph main(x: f32[4]) -> f32[4] {\n" + nested("for i in 0..2 carry x {\n", "x = x + 1\n", "}\n", 300) + "return x\n}\n", "limit"},
		"big power":       {"const a = 10 ** 1_000_000_000_000\n", "out-of-range"},
		"big shift":       {"const a = 1 << 1_000_000_000_000\n", "out-of-range"},
		"recursion":       {"fn f(x: f32[N]) -> f32[N] { return f(x) }\ngraph main(x: f32[4]) -> f32[4] { return f(x) }\n", "recursion"},
		"fn by way of fn": {"fn f(x: f32[N]) -> f32[N] { return g(x) }\nfn g(x: f32[N]) -> f32[N] { return f(x) }\ngraph main(x: f32[4]) -> f32[4] { return f(x) }\n", "recursion"},
		"graph":           {"graph main(x: f32[4]) -> f32[4] { return main(x) }\n", "recursion"},
		"module":          {"module A() { b = B() }\nmodule B() { a = A() }\na = A()\n", "recursion"},
		"const":           {"const a = b\nconst b = c\nconst c = [a]\n", "recursion"},
		"instance":        {"module A(x) {}\na = A(b)\nb = A(a)\n", "recursion"},
		"huge type":       {"graph main(x: f32[4]) -> f32[4] { return x + sum(zeros(f32[1_000_000_000, 1_000_000_000])) }\n", "limit"},
		"huge rank":       {"graph main(x: f32[" + strings.Repeat("1, ", 70) + "1]) -> f32[] { return sum(x) }\n", "limit"},
		"deep list":       {"const a = " + nested("[", "1", "]", 90) + "\ngraph main(x: f32[4]) -> f32[4] { return x + a }\n", "limit"},
		"big dims":        {"graph main(x: f32[B]) -> f32[(B + 1) ** 60] { return zeros(f32[(B + 1) ** 60]) }\n", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, ds := Load(diag.NewSource("in.npu", c.src), Options{MaxSteps: 1_000_000, MaxValues: 100_000})
			if c.code != "" && !hasCode(ds, c.code) {
				t.Errorf("no error %s: %v", c.code, ds)
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func hasCode(ds diag.List, code string) bool {
	for _, d := range ds {
		if d.Code == code {
			return true
		}
	}
	return false
}
