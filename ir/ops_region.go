package ir

import (
	"fmt"

	"github.com/npulang/npu/ir/tensor"
)

// Operators with bodies. A body sees nothing outside: its parameters stand for
// arguments of the operator.
var (
	// If computes one of two bodies.
	//
	//	%y = if %c, %a, %b : f32[4] then {
	//	  yield %a
	//	} else {
	//	  yield %b
	//	}
	If = row(Op{
		Name: "if", Group: "control", Class: Region, Unit: Scalar,
		Doc:     "one of two bodies, as a bool scalar says; both read the further arguments and have results of the same types",
		Args:    []string{"cond", "args..."},
		Regions: []RegionDecl{{Label: "then", First: 1}, {Label: "else", First: 1}},
		Infer:   inferIf, Eval: evalIf, Cost: costIf, Sample: sampleIf,
	})
	// Loop repeats a body with carried values.
	//
	//	%h, %hs = loop %h0, %w {to=S, carry=1, collect=1} : f32[4], f32[S,4] body(%t: i64[], %h: f32[4], %w: f32[4]) {
	//	  %h.1 = mul %h, %w : f32[4]
	//	  yield %h.1, %h.1
	//	}
	Loop = row(Op{
		Name: "loop", Group: "control", Class: Region, Unit: Scalar,
		Doc:  "rounds of a body: arguments are the carried values, then what the bodies read besides; results are the last carried values, then the collected ones stacked along a new first axis",
		Args: []string{"args..."},
		Attrs: []Attr{
			{Name: "from", Kind: KDim, Default: DimLit(N(0)), Doc: "the counter's value in the first round"},
			{Name: "to", Kind: KDim, Doc: "the counter stays below; absent: only the condition ends the loop"},
			{Name: "carry", Kind: KInt, Default: IntLit(0), Doc: "how many values go from round to round"},
			{Name: "collect", Kind: KInt, Default: IntLit(0), Doc: "how many values are stacked; needs to, and no condition"},
		},
		Regions: []RegionDecl{{Label: "body", First: -1}, {Label: "cond", Optional: true, First: -1}},
		Infer:   inferLoop, Eval: evalLoop, Cost: costLoop, Sample: sampleLoop,
	})
	// Fused is one kernel for several operators; its body says what it means.
	Fused = row(Op{
		Name: "fused", Group: "control", Class: Region,
		Doc:  "operators that run as one kernel; the body is their meaning",
		Args: []string{"args..."},
		Attrs: []Attr{
			{Name: "rule", Kind: KString, Doc: "the fusion rule that made it"},
			{Name: "unit", Kind: KString, Values: []string{"cube", "vector", "scalar", "dma"}, Doc: "the unit that runs it"},
		},
		Regions: []RegionDecl{{First: 0}},
		Infer:   inferFused, Eval: evalFused, Cost: costFused, Sample: sampleFused,
	})
)

var counterType = T(tensor.I64)

func inferFused(c *Call) ([]Type, error) {
	if err := checkParams(c, 0, "the body", c.In); err != nil {
		return nil, err
	}
	return bodyResults(c, 0, "the body")
}

func inferIf(c *Call) ([]Type, error) {
	if err := checkCond(c.In[0]); err != nil {
		return nil, err.Label(0, "%s", c.In[0])
	}
	sides := []string{"the then side", "the else side"}
	var out [2][]Type
	for i, side := range sides {
		if err := checkParams(c, i, side, c.In[1:]); err != nil {
			return nil, err
		}
		var err error
		if out[i], err = bodyResults(c, i, side); err != nil {
			return nil, err
		}
	}
	return out[0], sameTypes(out[1], out[0], sides[1], sides[0]).orNil()
}

func inferLoop(c *Call) ([]Type, error) {
	carry, collect := c.Int("carry"), c.Int("collect")
	to, hasCond := c.Attr("to"), len(c.Bodies) > 1
	switch {
	case carry < 0 || carry > int64(len(c.In)):
		return nil, Errorf("wrong-arguments", "carries %d values, but has %d arguments", carry, len(c.In))
	case to.IsNone() && !hasCond:
		return nil, Errorf("wrong-arguments", "has neither a last round nor a condition, so that it never ends")
	case collect < 0 || collect > 0 && (to.IsNone() || hasCond):
		return nil, Errorf("wrong-arguments", "collects %d values, but the number of rounds is not known", collect)
	}
	if hasCond {
		if err := checkLoopCond(c); err != nil {
			return nil, err
		}
	}
	if err := checkParams(c, 0, "the body", append([]Type{counterType}, c.In...)); err != nil {
		return nil, err
	}
	out, err := bodyResults(c, 0, "the body")
	if err != nil {
		return nil, err
	}
	if int64(len(out)) != carry+collect {
		return nil, Errorf("wrong-arguments", "the body yields %d values, but must yield %d carried and %d collected ones", len(out), carry, collect)
	}
	if err := sameTypes(out[:carry], c.In[:carry], "the body", "what the loop starts with").orNil(); err != nil {
		return nil, err
	}
	for i := carry; i < carry+collect; i++ {
		out[i] = T(out[i].DType, append([]Dim{loopRounds(c)}, out[i].Shape...)...)
	}
	return out, nil
}

// loopRounds is how many rounds a loop with a last one has.
func loopRounds(c *Call) Dim {
	return MaxOf(c.Dims("to")[0].Sub(c.Dims("from")[0]), N(0))
}

func checkLoopCond(c *Call) error {
	if err := checkParams(c, 1, "the condition", c.In); err != nil {
		return err
	}
	out, err := bodyResults(c, 1, "the condition")
	if err != nil {
		return err
	}
	if len(out) != 1 {
		return Errorf("wrong-arguments", "the condition yields %d values, but must yield one", len(out))
	}
	return checkCond(out[0]).orNil()
}

// checkCond checks that a condition is one bool.
func checkCond(t Type) *Error {
	switch {
	case t.DType != tensor.Bool:
		return Errorf("dtype-mismatch", "the condition has dtype %s, but must have bool", t.DType)
	case t.Rank() != 0:
		return Errorf("rank-mismatch", "the condition has rank %d, but must be a scalar", t.Rank()).
			Note("all(c) or any(c) makes one bool of many")
	}
	return nil
}

// orNil keeps a nil *Error from becoming an error that is not nil.
func (e *Error) orNil() error {
	if e == nil {
		return nil
	}
	return e
}

// checkParams checks that the parameters of a body are of the given types.
func checkParams(c *Call, body int, who string, want []Type) error {
	params := c.Bodies[body].Params
	if len(params) != len(want) {
		return Errorf("wrong-arguments", "%s takes %d values, but gets %d", who, len(params), len(want))
	}
	for i, p := range params {
		if p == nil || !p.Type.Equal(want[i]) {
			return Errorf("wrong-arguments", "%s takes %s as value %d, but gets %s", who, typeOrNone(p), i, want[i])
		}
	}
	return nil
}

// bodyResults are the types that a body yields; there is at least one.
func bodyResults(c *Call, body int, who string) ([]Type, error) {
	var out []Type
	for i, v := range c.Bodies[body].Results {
		if v == nil {
			return nil, Errorf("wrong-arguments", "%s yields nothing as result %d", who, i)
		}
		out = append(out, v.Type)
	}
	if len(out) == 0 {
		return nil, Errorf("wrong-arguments", "%s yields nothing", who)
	}
	return out, nil
}

// sameTypes checks what two sides give.
func sameTypes(got, want []Type, gotBy, wantBy string) *Error {
	if len(got) != len(want) {
		return Errorf("wrong-arguments", "%s has %d values, but %s has %d", gotBy, len(got), wantBy, len(want))
	}
	for i := range got {
		switch g, w := got[i], want[i]; {
		case g.DType != w.DType:
			return Errorf("dtype-mismatch", "value %d is %s in %s, but %s in %s", i, g, gotBy, w, wantBy)
		case !SameShape(g.Shape, w.Shape):
			return Errorf("shape-mismatch", "value %d is %s in %s, but %s in %s", i, g, gotBy, w, wantBy)
		}
	}
	return nil
}

func typeOrNone(v *Value) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(v.Type)
}
