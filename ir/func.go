package ir

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A Value is one result of one operator. An operator with several results is
// the value of its first result, followed by a Projection for each further one
// whose only argument is that value and whose attribute index says which.
type Value struct {
	Op     *Op
	Args   []*Value // nil: an optional argument that is absent
	Attrs  []Lit    // one for each of Op.Attrs
	Bodies []*Func  // the regions of a Region operator
	Type   Type
	Name   string // from the source; need not be unique; empty: numbered when printed
	Pos    diag.Loc
	Annots []Annot
}

// An Annot is an annotation that the value carries for later stages.
type Annot struct {
	Name string // stream, unit, device, stage, fuse, precision
	Arg  string // as text: io, vector, 2, off
}

// A Func is a graph, or the body of a region. Bodies see nothing outside: what
// they read comes through their parameters, one for each captured argument.
type Func struct {
	Name        string
	Params      []*Value // of operator Input
	Body        []*Value // every other value, definitions before uses
	Results     []*Value
	ResultNames []string // of a graph: one for each result
	Asserts     []Assert
	Weights     *Func // of a graph: how weights are made of others, see MadeWeights; nil: none is
}

// An Assert is a relation between dimensions that could not be proved and is
// checked when the symbols are bound.
type Assert struct {
	Left  Dim
	Rel   string // "==", "<=", "%" (Left divides by Right without rest)
	Right Dim
	Pos   diag.Loc
	What  string // the construct that needs it, for the message: "reshape"
}

// Inputs and parameters: values that are bound from outside.
var (
	Input = row(Op{
		Name: "input", Group: "structure", Class: Source, Flags: Unbound,
		Doc:   "a parameter of a graph or region, bound by the caller",
		Attrs: []Attr{typeOnly},
		Infer: typeAttr,
	})
	Param = row(Op{
		Name: "param", Group: "structure", Class: Source, Flags: Unbound,
		Doc: "a weight, bound by name when the program is loaded",
		Attrs: []Attr{
			typeOnly,
			{Name: "key", Kind: KString, Doc: "the name in the weights file; absent: the value's name"},
			{Name: "init", Kind: KString, Doc: "how to make the values when no weights file has them"},
			{Name: "value", Kind: KTensor, Doc: "the values of a bracketed init"},
		},
		Infer: typeAttr,
	})
	Const = row(Op{
		Name: "const", Group: "structure", Class: Source,
		Doc:   "a tensor known when the program is compiled",
		Attrs: []Attr{{Name: "value", Kind: KTensor, Required: true, Doc: "the tensor"}},
		Infer: func(c *Call) ([]Type, error) { return []Type{TypeOf(c.Attr("value").Tensor)}, nil },
		Eval: func(c *Call, _ ...*tensor.T) ([]*tensor.T, error) {
			return one(c.Attr("value").Tensor), nil
		},
	})
	// Result is a further result of a value with several.
	Result = row(Op{
		Name: "result", Group: "structure", Class: Move, Flags: Projection | View,
		Doc:   "a further result of an operator that has several",
		Args:  []string{"x"},
		Attrs: []Attr{{Name: "index", Kind: KInt, Required: true, Doc: "which of the results, from 1 on"}, typeOnly},
		Infer: typeAttr,
	})
)

func typeAttr(c *Call) ([]Type, error) { return []Type{c.Attr("type").Type()}, nil }

// NewInput makes a parameter and adds it to f.
func (f *Func) NewInput(name string, t Type) *Value {
	v := &Value{Op: Input, Attrs: []Lit{TypeLit(t)}, Type: t, Name: name}
	f.Params = append(f.Params, v)
	return v
}

// Add appends a call of op to f and returns its results. attrs has one Lit for
// each of op.Attrs; nil means the defaults. What the call takes on trust is
// added to f.Asserts, without a place. The error is an *Error.
func (f *Func) Add(op *Op, args []*Value, attrs []Lit, bodies ...*Func) ([]*Value, error) {
	if attrs == nil {
		attrs = op.Defaults()
	}
	v := &Value{Op: op, Args: trimAbsent(args), Attrs: attrs, Bodies: bodies}
	c := v.Call()
	if err := InferCall(c); err != nil {
		return nil, err
	}
	f.require(c)
	v.Type = c.Out[0]
	f.Body = append(f.Body, v)
	results := []*Value{v}
	for i, t := range c.Out[1:] {
		r := projection(v, i+1, t)
		f.Body = append(f.Body, r)
		results = append(results, r)
	}
	return results, nil
}

// require adds the relations that c relies on to f, each of them once.
func (f *Func) require(c *Call) {
	var as []Assert
	if c.Op.Asserts != nil {
		as = c.Op.Asserts(c)
	}
	for _, t := range c.Out {
		for _, d := range t.Shape {
			if !d.NonNeg() {
				as = append(as, Assert{Left: N(0), Rel: "<=", Right: d})
			}
		}
	}
	for _, a := range as {
		if !slices.ContainsFunc(f.Asserts, a.Follows) {
			a.What = c.Op.Name
			f.Asserts = append(f.Asserts, a)
		}
	}
}

// Follows reports whether a says no more than b.
func (a Assert) Follows(b Assert) bool {
	if a.Rel != b.Rel || !a.Right.Equal(b.Right) {
		return false
	}
	return a.Left.Equal(b.Left) || a.Rel == "<=" && LessEq(a.Left, b.Left)
}

// PlaceAsserts gives the last asserts of f, those that Add has left without a
// place, the place of the call.
func (f *Func) PlaceAsserts(at diag.Loc) {
	for i := len(f.Asserts) - 1; i >= 0 && f.Asserts[i].Pos == (diag.Loc{}); i-- {
		f.Asserts[i].Pos = at
	}
}

// trimAbsent drops absent arguments at the end, so that one call has one form.
func trimAbsent(args []*Value) []*Value {
	for len(args) > 0 && args[len(args)-1] == nil {
		args = args[:len(args)-1]
	}
	return args
}

// Call views v as a call. Out is left to InferCall.
func (v *Value) Call() *Call {
	c := &Call{Op: v.Op, Attrs: v.Attrs, Bodies: v.Bodies, In: make([]Type, len(v.Args))}
	for i, a := range v.Args {
		if a != nil {
			c.In[i] = a.Type
		}
	}
	return c
}

// Key is the name under which the values of a weight are looked up.
func (v *Value) Key() string {
	if v.Op == Param && v.Attrs[1].Kind == KString {
		return v.Attrs[1].Str
	}
	return v.Name
}

// Index is the number of the result that v is: 0 but for projections.
func (v *Value) Index() int {
	if v.Op.Flags&Projection != 0 {
		return int(v.Attrs[0].Int)
	}
	return 0
}

// ResultName is the name of the i-th result of a graph: as declared, else out,
// with a number behind it where there are several.
func (f *Func) ResultName(i int) string {
	switch {
	case i < len(f.ResultNames) && f.ResultNames[i] != "":
		return f.ResultNames[i]
	case len(f.Results) == 1:
		return "out"
	}
	return fmt.Sprintf("out%d", i)
}
