package passes

import (
	"errors"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// A user's rules that do not come to an end are reported, and before they have
// filled the memory: the graph has 300 values that they match.
func TestRulesWithoutEnd(t *testing.T) {
	own := func(text string) *rewrite.Rule { return rewrite.Own("endless", "", text) }
	for name, rules := range map[string][]*rewrite.Rule{
		"itself":  {own(`exp(x)  =>  exp(x)`)},
		"turned":  {own(`exp(x)  =>  neg(x)`), own(`neg(x)  =>  exp(x)`)},
		"larger":  {own(`exp(x)  =>  ` + strings.Repeat("exp(", 200) + "x" + strings.Repeat(")", 200))},
		"doubled": {own(`exp(x)  =>  exp(x) + exp(x)`), own(`x + y  =>  exp(x) + exp(y)`)},
	} {
		report, err := Run(exponentials(t, 300), Options{Passes: []string{"user-rules"}, Rules: rules})
		var d *diag.Diagnostic
		if !errors.As(err, &d) || d.Code != "limit" || d.Subject != "endless" {
			t.Errorf("%s: ends with %v", name, err)
		}
		if n := len(report.Rewrites); n > 100*maxSteps {
			t.Errorf("%s: %d rewrites before it is noticed", name, n)
		}
	}
}

// exponentials is a row of n operators.
func exponentials(t *testing.T, n int) *ir.Func {
	f := ir.NewFrame("row")
	v := f.Input("x", ir.T(tensor.F32, ir.N(4)))
	for range n {
		out, err := f.Add(ir.Exp, []*ir.Value{v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v = out[0]
	}
	f.Return(v)
	return f.Func
}
