package npu_test

import (
	"fmt"
	"log"

	"github.com/npulang/npu"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Rules may come from text. What says safe is checked before it is applied.
func ExampleParseRules() {
	rules, _, err := npu.ParseRules(npu.Script("mine.npu", `
		rewrite three_times {
			x + x + x  =>  x * 3
			where dtype(x) == i32
			safe
		}
	`))
	if err != nil {
		log.Fatal(err)
	}
	text, _, err := npu.Emit(npu.Script("main.npu", `
		graph main(x: i32[4]) -> i32[4] { return x + x + x }
	`), "opt", npu.Options{Rules: rules})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// func @main(%x: i32[4]) -> (out: i32[4]) {
	//   %0 = const 3 : i32[]
	//   %1 = mul %x, %0 : i32[4]
	//   return %1
	// }
}

// A rule in Go has a pattern, a guard and a builder. CheckRule tries it on random
// graphs: here a square that overflows gives an infinity, where the rule gives a
// number.
func ExampleCheckRule() {
	rule := &npu.Rule{
		Name:  "square-root-of-square",
		Match: rewrite.Must("sqrt(square(x))"),
		When:  func(m *rewrite.Match) bool { return m.Value("x").Type.DType == npu.F64 },
		Build: func(b *rewrite.Builder, m *rewrite.Match) *ir.Value { return b.Op("abs", m.Value("x")) },
	}
	v := npu.CheckRule(rule, 1)
	fmt.Println(v.Result())
	fmt.Println(v.Counter.Inputs[0].Type())

	rule.Match = rewrite.Must("abs(neg(x))")
	fmt.Println(npu.CheckRule(rule, 1).Result())
	// Output:
	// failed
	// f64[]
	// passed
}
