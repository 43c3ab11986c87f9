package lang

import (
	"slices"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// The built-in functions are the rows of the operator table. A call's
// arguments go to the row's arguments and then to its attributes, in the order
// in which they are declared; surface.go has the few that are written
// otherwise.

// hidden are the groups of operators that scripts have statements for.
var hidden = map[string]bool{"structure": true, "control": true}

// builtin finds a built-in function by its name.
func builtin(name string) (value, bool) {
	if f, ok := pureFuncs[name]; ok {
		return builtinVal{name: name, fn: f}, true
	}
	op := ir.Lookup(name)
	if op == nil || hidden[op.Group] {
		return nil, false
	}
	return builtinVal{name: name, op: op}, true
}

// builtinNames lists all of them, for did-you-mean.
var builtinNames = sync.OnceValue(func() []string {
	var names []string
	for _, op := range ir.Ops() {
		if !hidden[op.Group] {
			names = append(append(names, op.Name), op.Aliases...)
		}
	}
	for n := range pureFuncs {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
})

// callBuiltin calls a built-in function, x.f(...) with a receiver.
func (e *elaborator) callBuiltin(f builtinVal, at diag.Span, recv *operand, op *syntax.CallOp) value {
	args, ok := e.evalArgs(op, nil)
	if recv != nil {
		args = append([]argument{{operand: *recv}}, args...)
	}
	if !ok {
		return poison{}
	}
	return e.callRow(f, at, args)
}

// callRow calls a built-in function with evaluated arguments.
func (e *elaborator) callRow(f builtinVal, at diag.Span, args []argument) value {
	if f.fn != nil {
		return f.fn.call(e, f.name, at, args)
	}
	if v, ok := e.pure(f, at, args); ok {
		return v
	}
	c := &rowCall{e: e, name: f.name, row: f.op, at: at, args: args}
	if s, ok := surfaces[f.op.Name]; ok {
		c.order, c.apart = s.order, s.apart
		if s.adapt != nil && !s.adapt(c) {
			return poison{}
		}
	}
	return c.run()
}

// A rowCall is a call of an operator on its way from the surface to the row.
type rowCall struct {
	e     *elaborator
	name  string
	row   *ir.Op
	at    diag.Span
	args  []argument
	order []string // names of the slots by position, when not the row's own
	apart bool     // a list is one of the variadic arguments, not all of them
	slots []slot
}

// A slot is one argument or attribute of the row, and what the call gives it.
type slot struct {
	name     string
	attr     *ir.Attr // nil for an argument
	index    int      // in Args or Attrs
	optional bool
	variadic bool
	given    []operand
	listed   bool // a variadic one was given as a list
}

// run lays the arguments out, converts them, and adds the operator.
func (c *rowCall) run() value {
	c.makeSlots()
	if !c.fill() || !c.complete() {
		return poison{}
	}
	attrs, ok := c.attributes()
	if !ok {
		return poison{}
	}
	s := site{name: c.name, at: c.at, args: c.operands()}
	vs, ok := c.e.arguments(s, c.row, s.args)
	if !ok {
		return poison{}
	}
	out := c.e.add(s, c.row, vs, attrs)
	if len(out) == 1 && isPoison(out[0]) {
		return poison{}
	}
	c.e.obligations(c.row, vs, out[0].(tensorVal).v, c.at)
	if len(out) == 1 && !surfaces[c.row.Name].many {
		return out[0]
	}
	return listVal{elems: out, tuple: true}
}

// makeSlots lists what the call may give, in positional order.
func (c *rowCall) makeSlots() {
	for i, a := range c.row.Args {
		name, optional, variadic := ir.ArgKind(a)
		c.slots = append(c.slots, slot{name: name, index: i, optional: optional, variadic: variadic})
	}
	for i := range c.row.Attrs {
		a := &c.row.Attrs[i]
		c.slots = append(c.slots, slot{name: a.Name, attr: a, index: i, optional: !a.Required, variadic: a.Variadic})
	}
	if c.order == nil {
		return
	}
	rank := func(s slot) int {
		if i := slices.Index(c.order, s.name); i >= 0 {
			return i
		}
		return len(c.order)
	}
	slices.SortStableFunc(c.slots, func(a, b slot) int { return rank(a) - rank(b) })
}

// fill lays the arguments of the call into the slots.
func (c *rowCall) fill() bool {
	pos, ok := 0, true
	for _, a := range c.args {
		if a.name.Name != "" {
			ok = c.byName(a) && ok
			continue
		}
		if pos >= len(c.slots) {
			c.tooMany(a.operand)
			return false
		}
		pos = c.byPosition(pos, a.operand)
	}
	return ok
}

// tooMany reports an argument that finds no slot.
func (c *rowCall) tooMany(o operand) {
	d := c.e.errorf("wrong-arguments", o.at, "takes %s, got %d", count(len(c.slots), "argument"), len(c.args))
	if last := c.slots[len(c.slots)-1]; last.variadic && last.listed {
		d.Message = last.name + " is given as a list already"
		help(d, "put all of it into one list, or write it without brackets")
	}
	c.explain(d)
}

// byPosition gives an argument to slot pos and tells the slot of the next one.
func (c *rowCall) byPosition(pos int, o operand) int {
	s := &c.slots[pos]
	l, isList := o.val.(listVal)
	switch {
	case !s.variadic:
		s.given = []operand{o}
		return pos + 1
	case isList && !c.apart && len(s.given) == 0 && !(l.strong && s.attr == nil):
		s.spread(o, l)
		return pos + 1
	}
	s.given = append(s.given, o)
	return pos
}

// spread gives a variadic slot the elements of a list.
func (s *slot) spread(o operand, l listVal) {
	s.listed = true
	for i, el := range l.elems {
		s.given = append(s.given, operand{el, elemSpan(l, i, o.at)})
	}
}

// byName gives an argument to the slot that it names.
func (c *rowCall) byName(a argument) bool {
	i := slices.IndexFunc(c.slots, func(s slot) bool { return s.name == a.name.Name })
	if i < 0 {
		d := c.e.errorf("wrong-arguments", a.name.At, "there is no argument %s", a.name.Name)
		names := make([]string, len(c.slots))
		for i, s := range c.slots {
			names[i] = s.name
		}
		suggestArg(d, a.name.Name, names)
		c.explain(d)
		return false
	}
	s := &c.slots[i]
	if len(s.given) > 0 || s.listed {
		d := c.e.errorf("wrong-arguments", a.at, "argument %s is given twice", s.name)
		d.Subject = c.name
		if len(s.given) > 0 {
			witness(d, s.given[0].at, "given here")
		}
		return false
	}
	if l, ok := a.val.(listVal); ok && s.variadic {
		s.spread(a.operand, l)
		return true
	}
	s.given = []operand{a.operand}
	return true
}

// explain adds the signature to a mistake in the arguments.
func (c *rowCall) explain(d *diag.Diagnostic) {
	d.Subject = c.name
	note(d, "%s", c.row.Signature())
}

// complete checks that nothing required is absent. None leaves an optional one
// out.
func (c *rowCall) complete() bool {
	ok := true
	for i := range c.slots {
		s := &c.slots[i]
		if len(s.given) == 1 && !s.listed {
			if _, none := s.given[0].val.(noneVal); none && s.optional {
				s.given = nil
			}
		}
		if len(s.given) == 0 && !s.optional && !s.listed && (s.attr != nil || !s.variadic) {
			d := c.e.errorf("missing-argument", c.at, "argument %s is missing", s.name)
			c.explain(d)
			ok = false
		}
	}
	return ok
}

// operands lists what was given for the row's arguments.
func (c *rowCall) operands() []operand {
	ops := make([]operand, len(c.row.Args))
	for _, s := range c.slots {
		switch {
		case s.attr != nil:
		case s.variadic:
			ops = append(ops[:s.index], s.given...)
		case len(s.given) > 0:
			ops[s.index] = s.given[0]
		}
	}
	return ops
}
