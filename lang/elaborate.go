package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// An elaborator turns syntax into IR by running it: an expression gives a value
// that is known now, or adds operators to the function that is being built and
// gives a tensor.
type elaborator struct {
	opts    Options
	unit    *Unit
	files   map[string]*file // by their full name
	library map[*diag.Source]bool

	diags    diag.List
	reported map[place]bool
	unread   map[*diag.Diagnostic]diag.Span // warnings of names that are never read: their statements
	trap     *trap
	locator  locator

	prog   *program
	frame  *ir.Frame // of prog, or of a region inside it
	act    *activation
	annots []ir.Annot
	region int // how many regions are open

	signatures map[*syntax.FuncDecl]*signature
	graphs     map[*syntax.FuncDecl]*Graph
	busy       map[callKey]bool            // what is being elaborated, against recursion
	used       map[*syntax.FuncDecl]bool   // elaborated at least once
	made       map[*syntax.ModuleDecl]bool // instantiated at least once

	born      int // counts values, and is the age of each
	products  int // counts values that a cube can make
	steps     int // counts work
	proposals int // counts the names that misspellings were compared with
	depth     int // of expressions, statements and calls
	stopped   bool
}

// callKey is a body together with the instance it belongs to: a fn that calls
// itself on another instance is no recursion.
type callKey struct {
	decl syntax.Decl
	self *instance
}

// A program is the function under construction and what belongs to all of it.
type program struct {
	frame    *ir.Frame
	params   map[string]*boundParam
	weights  []*ir.Value             // the values of params, in order of first use
	declared map[*ir.Value]diag.Span // where a weight was declared
	asserted map[string]bool
	test     *testBuild // nil but in tests
	seg      *segment   // of a test
}

// A boundParam is a weight that the program has asked for.
type boundParam struct {
	decl    *syntax.ParamDecl
	owner   *space
	running bool  // its type is being evaluated
	val     value // poison if it cannot be
}

func newProgram(name string) *program {
	return &program{
		frame: ir.NewFrame(name), params: map[string]*boundParam{},
		declared: map[*ir.Value]diag.Span{}, asserted: map[string]bool{},
	}
}

// finish puts the weights before everything else and returns the function.
func (p *program) finish() *ir.Func {
	p.frame.Func.Body = append(p.weights, p.frame.Func.Body...)
	p.weights = nil
	return p.frame.Func
}

// inProgram runs body with p as the program under construction.
func (e *elaborator) inProgram(p *program, body func()) {
	prog, frame, annots, region := e.prog, e.frame, e.annots, e.region
	e.prog, e.frame, e.annots, e.region = p, p.frame, nil, 0
	body()
	e.prog, e.frame, e.annots, e.region = prog, frame, annots, region
}

// inActivation runs body inside a.
func (e *elaborator) inActivation(a *activation, body func()) {
	caller := e.act
	a.caller = caller
	if caller != nil {
		a.depth = caller.depth + 1
	}
	e.act = a
	body()
	e.act = caller
}

// inScope runs body in a new scope inside the current one, and returns it.
func (e *elaborator) inScope(kind scopeKind, body func(*scope)) *scope {
	outer := e.act.scope
	s := newScope(outer, kind)
	e.act.scope = s
	body(s)
	e.act.scope = outer
	return s
}

// Limits of one compilation; see Options.
const (
	defaultMaxValues = 1_000_000
	defaultMaxSteps  = 16_000_000
	maxDepth         = 20_000        // nested expressions, statements and calls
	maxCalls         = 1_000         // calls inside calls
	maxRegions       = ir.MaxNesting // run-time loops and ifs inside each other

	// What an instance counts, by the memory that it stays in.
	instanceSteps = 64
	memberSteps   = 8
)

// step counts work done at a place. It is false when the compilation has to
// stop: a script must not keep the compiler busy for ever.
func (e *elaborator) step(at diag.Span, n int) bool {
	if e.stopped {
		return false
	}
	e.steps += n
	if e.steps > e.opts.MaxSteps {
		e.stop(at, "the program needs more than %d steps to compile", e.opts.MaxSteps)
		return false
	}
	return true
}

// stop ends the compilation with one last error.
func (e *elaborator) stop(at diag.Span, format string, args ...any) {
	if e.stopped {
		return
	}
	e.stopped = true
	d := e.errorf("limit", at, format, args...)
	note(d, "the limits keep a script from using up the machine; unrolled loops and calls count each time")
}

// enter counts one level of nesting.
func (e *elaborator) enter(at diag.Span) bool {
	if e.depth >= maxDepth {
		e.stop(at, "expressions and calls are nested more than %d deep", maxDepth)
		return false
	}
	e.depth++
	return e.step(at, 1)
}

func (e *elaborator) leave() { e.depth-- }

// add appends a call of an operator, reported at s when it is not legal.
func (e *elaborator) add(s site, op *ir.Op, args []*ir.Value, attrs []ir.Lit) []value {
	return e.finish(s, op, args, attrs, func() ([]*ir.Value, error) { return e.frame.Add(op, args, attrs) })
}

// finish adds a call and gives its results a place, annotations and an age.
func (e *elaborator) finish(s site, op *ir.Op, args []*ir.Value, attrs []ir.Lit, add func() ([]*ir.Value, error)) []value {
	if !e.step(s.at, 1) {
		return []value{poison{}}
	}
	if e.born >= e.opts.MaxValues {
		e.stop(s.at, "the program has more than %d operators", e.opts.MaxValues)
		return []value{poison{}}
	}
	vs, err := add()
	if err != nil {
		e.refuse(s, err, callOf(op, args, attrs))
		return []value{poison{}}
	}
	where := e.where(s.at)
	e.frame.Func.PlaceAsserts(where)
	if op.Class == ir.Contract {
		e.products++
	}
	out := make([]value, len(vs))
	for i, v := range vs {
		v.Pos = where
		v.Annots = e.annots
		out[i] = e.tensor(v)
	}
	return out
}

// callOf views a call that was not added, for help with its mistake.
func callOf(op *ir.Op, args []*ir.Value, attrs []ir.Lit) *ir.Call {
	c := &ir.Call{Op: op, Attrs: attrs, In: make([]ir.Type, len(args))}
	for i, a := range args {
		if a != nil {
			c.In[i] = a.Type
		}
	}
	if attrs == nil {
		c.Attrs = op.Defaults()
	}
	return c
}

// tensor wraps a value of the current program.
func (e *elaborator) tensor(v *ir.Value) tensorVal {
	e.born++
	return tensorVal{v, e.prog, e.born}
}

// use gives the IR value for a tensor, fetched from an earlier part of the test
// when it belongs to one.
func (e *elaborator) use(t tensorVal) *ir.Value {
	if t.home == e.prog {
		return t.v
	}
	return e.prog.test.fetch(e, t)
}

// assert adds a relation between dimensions that is checked when they are
// bound.
func (e *elaborator) assert(left ir.Dim, rel string, right ir.Dim, what string, at diag.Span) {
	key := left.String() + rel + right.String()
	if e.prog.asserted[key] {
		return
	}
	e.prog.asserted[key] = true
	f := e.prog.frame.Func
	for _, a := range f.Asserts {
		if a.Rel == rel && a.Left.Equal(left) && a.Right.Equal(right) {
			return // the operator has asked for it
		}
	}
	f.Asserts = append(f.Asserts, ir.Assert{Left: left, Rel: rel, Right: right, What: what, Pos: e.where(at)})
}
