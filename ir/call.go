package ir

import (
	"strings"

	"github.com/npulang/npu/ir/tensor"
)

// A Call is one use of an operator: what its row's functions see. It has types,
// not values; an absent optional argument has the zero Type.
type Call struct {
	Op     *Op
	In     []Type
	Attrs  []Lit       // one for each of Op.Attrs, in that order
	Bodies []*Func     // regions
	Out    []Type      // the results' types, once inferred
	Known  []*tensor.T // values of arguments that are known (nil: unknown); may be shorter than In
	Env    Env         // what Bind put for the symbols; regions need it
	Budget *Budget     // what Eval may use; nil: anything
	// Scratch is memory that Eval may use on its way; nil: it makes it.
	Scratch *Scratch
	// Into is memory for the results of Eval: tensors of the types in Out that
	// share none with the arguments, but for one that InPlace allows. Nil: Eval
	// makes new ones.
	Into []*tensor.T
}

// Attr returns the attribute of that name. It panics on a name that the row
// does not declare: a fault of the compiler.
func (c *Call) Attr(name string) Lit {
	for i := range c.Op.Attrs {
		if c.Op.Attrs[i].Name == name {
			return c.Attrs[i]
		}
	}
	panic("ir: operator " + c.Op.Name + " has no attribute " + name)
}

// Int returns an attribute that is an integer, and those that follow one of the
// kind that their names say; see Attr.
func (c *Call) Int(name string) int64          { return c.Attr(name).Int }
func (c *Call) Ints(name string) []int64       { return c.Attr(name).Ints }
func (c *Call) Float(name string) float64      { return c.Attr(name).Float }
func (c *Call) Bool(name string) bool          { return c.Attr(name).Int != 0 }
func (c *Call) Str(name string) string         { return c.Attr(name).Str }
func (c *Call) DType(name string) tensor.DType { return c.Attr(name).DType }
func (c *Call) Dims(name string) []Dim         { return c.Attr(name).Dims }

// Bind returns the call with numbers for its symbols, its results inferred
// anew.
func (c *Call) Bind(env Env) (*Call, error) {
	b := &Call{Op: c.Op, Bodies: c.Bodies, Known: c.Known, Env: env, Budget: c.Budget, In: make([]Type, len(c.In)), Attrs: make([]Lit, len(c.Attrs))}
	var err error
	for i, t := range c.In {
		if b.In[i], err = t.Bind(env); err != nil {
			return nil, err
		}
	}
	for i, l := range c.Attrs {
		if b.Attrs[i], err = l.Bind(env); err != nil {
			return nil, err
		}
	}
	b.Out = make([]Type, len(c.Out))
	for i, t := range c.Out {
		if b.Out[i], err = t.Bind(env); err != nil {
			return nil, err
		}
		if err := b.Out[i].Check(); err != nil {
			return nil, err // S-2 where S is 1
		}
	}
	return b, nil
}

// Cost counts the call's work; see Op.Cost.
func (c *Call) Cost() Cost {
	if c.Op.Cost != nil {
		return c.Op.Cost(c)
	}
	return DefaultCost(c, 1)
}

// DefaultCost counts flops per element of the first result, and the bytes of
// arguments and results.
func DefaultCost(c *Call, flops int64) Cost {
	var cost Cost
	for _, t := range c.In {
		n, _ := t.Bytes().Const()
		cost.In += n
	}
	for _, t := range c.Out {
		n, _ := t.Bytes().Const()
		cost.Out += n
	}
	if len(c.Out) > 0 {
		n, _ := c.Out[0].Elements().Const()
		cost.Flops = n * flops
	}
	return cost
}

// InferCall fills in c.Out. It checks what holds for every operator (the
// number of arguments, which may be absent, the kinds of attributes), asks the
// row, and checks the results.
func InferCall(c *Call) error {
	if err := checkArity(c); err != nil {
		return err
	}
	if err := checkAttrs(c); err != nil {
		return err
	}
	if err := checkBodies(c); err != nil {
		return err
	}
	out, err := c.Op.Infer(c)
	if err != nil {
		return err
	}
	for _, t := range out {
		if err := t.Check(); err != nil {
			return err
		}
	}
	c.Out = out
	return nil
}

// ArgKind splits the declaration of an argument into its name and what follows.
func ArgKind(arg string) (name string, optional, variadic bool) {
	if name, ok := strings.CutSuffix(arg, "..."); ok {
		return name, false, true
	}
	name, optional = strings.CutSuffix(arg, "?")
	return name, optional, false
}

// argAt returns the declaration of the i-th argument of a call.
func (op *Op) argAt(i int) (name string, optional, variadic, ok bool) {
	if n := len(op.Args); n > 0 {
		if name, _, variadic := ArgKind(op.Args[n-1]); variadic && i >= n-1 {
			return name, false, true, true
		}
	}
	if i >= len(op.Args) {
		return "", false, false, false
	}
	name, optional, _ = ArgKind(op.Args[i])
	return name, optional, false, true
}

// ArgName is the name of the i-th argument of a call.
func (op *Op) ArgName(i int) string {
	name, _, _, _ := op.argAt(i)
	return name
}

func checkArity(c *Call) error {
	for i, t := range c.In {
		name, optional, _, ok := c.Op.argAt(i)
		if !ok {
			return Errorf("wrong-arguments", "takes %d arguments, got %d", len(c.Op.Args), len(c.In))
		}
		if t.Absent() && !optional {
			return Errorf("missing-argument", "argument %s is missing", name)
		}
	}
	for i := len(c.In); i < len(c.Op.Args); i++ {
		if name, optional, variadic, _ := c.Op.argAt(i); !optional && !variadic {
			return Errorf("missing-argument", "argument %s is missing", name)
		}
	}
	return nil
}

func checkAttrs(c *Call) error {
	if len(c.Attrs) != len(c.Op.Attrs) {
		return Errorf("wrong-arguments", "has %d attributes, wants %d", len(c.Attrs), len(c.Op.Attrs))
	}
	for i, a := range c.Op.Attrs {
		if err := a.check(c.Attrs[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkBodies checks that the regions are there, and that each has what the
// text form and the interpreter need.
func checkBodies(c *Call) error {
	required := 0
	for _, r := range c.Op.Regions {
		if !r.Optional {
			required++
		}
	}
	if n := len(c.Bodies); n < required || n > len(c.Op.Regions) {
		return Errorf("wrong-arguments", "has %d bodies, wants %d", n, len(c.Op.Regions))
	}
	for i, b := range c.Bodies {
		if b == nil {
			return Errorf("wrong-arguments", "body %d is missing", i)
		}
	}
	return nil
}

func (a *Attr) check(l Lit) error {
	switch {
	case l.Kind == KNone:
		if a.Required {
			return Errorf("missing-argument", "argument %s is missing", a.Name)
		}
		return nil
	case a.Kind == KNum && (l.Kind == KDim || l.Kind == KFloat), a.Kind == l.Kind:
	default:
		return Errorf("wrong-arguments", "argument %s has the wrong kind", a.Name)
	}
	if a.Values == nil {
		return nil
	}
	for _, v := range a.Values {
		if v == l.Str {
			return nil
		}
	}
	return Errorf("wrong-arguments", "argument %s is %q, not one of %s", a.Name, l.Str, strings.Join(a.Values, ", "))
}

// Defaults returns the attributes of op with nothing set.
func (op *Op) Defaults() []Lit {
	ls := make([]Lit, len(op.Attrs))
	for i, a := range op.Attrs {
		ls[i] = a.Default
	}
	return ls
}

// InPlace reports whether Eval may compute the result in the memory of argument
// i: it reads each element of that argument before it writes the result's
// element of the same index, and never looks at it again. The other arguments
// must lie elsewhere.
func (c *Call) InPlace(i int) bool {
	return c.Op.Class == Elementwise && len(c.Out) == 1 && i < len(c.In) && c.In[i].Equal(c.Out[0])
}
