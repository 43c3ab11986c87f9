package passes

import (
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

const (
	// maxSweeps bounds how often a pass goes over a function. What one sweep
	// makes possible further up another one finds; two or three are usual, and
	// the bound keeps the cost linear.
	maxSweeps = 16
	// maxSteps bounds the rewrites of one value and of all that it becomes: rules
	// that undo each other, or one that matches its own result, would go on for
	// ever.
	maxSteps = 128
	// maxMade bounds what the rules of a pass make of a function, in values, and
	// each value that was there adds madePerValue, which is what the largest rule
	// makes of it: sweeps might go on from there.
	maxMade      = 1 << 18
	madePerValue = 256
)

// sweep applies rules to a function until none matches.
//
//	%a = transpose %x                     %c = exp %x       (rules: a transpose sinks
//	%b = transpose %a   drop the pair =>  %y = relu %c       below exp, and two of them
//	%c = exp %b                                              are none)
//	%y = relu %c
//
// It walks down the body, so that a value's arguments have their final form when
// its turn comes, and what a rule makes is looked at before the readers are. At
// a value the rules are tried in their order until one changes it, then all of
// them again on what it has become. Values that nothing reads any more are left
// alone: they are dead code, not work.
func sweep(f *ir.Func, t *Trace, rules []*rewrite.Rule) {
	if len(rules) == 0 {
		return
	}
	s := &sweeper{f: f, t: t, byRoot: indexed(rules), left: maxMade + madePerValue*len(f.Body)}
	for range maxSweeps {
		if !s.once() || t.runaway {
			return
		}
	}
}

// An index holds rules by the operators that their roots may be of, in order.
type index map[*ir.Op][]*rewrite.Rule

func newIndex(rules []*rewrite.Rule) index {
	x := index{}
	for _, r := range rules {
		for _, op := range r.Roots() {
			x[op] = append(x[op], r)
		}
	}
	return x
}

// indexes keeps those of the compiler's own tables, by the first places of the
// tables: small graphs, and the bodies of regions, are swept in less time than it
// takes to make one.
var indexes sync.Map

// indexed is the index of rules.
func indexed(rules []*rewrite.Rule) index {
	if x, ok := indexes.Load(&rules[0]); ok {
		return x.(index)
	}
	return newIndex(rules)
}

// A sweeper is the state of one sweep.
type sweeper struct {
	f       *ir.Func
	t       *Trace
	byRoot  index
	uses    *rewrite.Uses
	with    map[*ir.Value]*ir.Value // what readers of a rewritten value read
	body    []*ir.Value             // the new one
	changed bool
	left    int // values that the rules may still make
}

// once goes down the body one time, and reports whether anything changed.
func (s *sweeper) once() bool {
	s.uses = rewrite.NewUses(s.f)
	s.with = map[*ir.Value]*ir.Value{}
	s.body = make([]*ir.Value, 0, len(s.f.Body))
	s.changed = false
	for _, v := range s.f.Body {
		s.resolve(v)
		s.value(v)
	}
	s.f.Body = s.body
	s.f.Replace(s.with)
	return s.changed
}

// resolve lets v read what its arguments have become.
func (s *sweeper) resolve(v *ir.Value) {
	for i, a := range v.Args {
		for w := s.with[a]; w != nil; w = s.with[a] {
			a = w
		}
		v.Args[i] = a
	}
}

// value rewrites v, and then what it has become.
func (s *sweeper) value(v *ir.Value) {
	todo := []*ir.Value{v} // a stack: the next one is last
	for steps := 0; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s.resolve(v)
		var c *rewrite.Change
		if steps < maxSteps {
			c = s.try(v)
		}
		if c == nil {
			s.body = append(s.body, v)
			continue
		}
		steps++
		if s.left -= len(c.Made); steps == maxSteps || s.left < 0 {
			s.t.noEnd()
		}
		s.replace(v, c)
		for i := len(c.Made) - 1; i >= 0; i-- {
			todo = append(todo, c.Made[i])
		}
	}
}

// try finds the first rule that changes v.
func (s *sweeper) try(v *ir.Value) *rewrite.Change {
	rules := s.byRoot[v.Op]
	if len(rules) == 0 || s.uses.Count(v) == 0 || s.left < 0 || s.t.runaway {
		return nil
	}
	for _, r := range rules {
		if !s.t.takesLiberty(r) {
			continue
		}
		m := r.Find(v, s.uses)
		if m == nil || !s.t.enabled(r.Name) { // asked last: a match is rare, and a switch a look-up
			continue
		}
		if c := r.Apply(m, s.f.Asserts); c != nil && s.t.apply(r, v, c) {
			return c
		}
	}
	return nil
}

// replace puts a change in the place of v, which stays in no body: its readers
// move to what stands for it.
func (s *sweeper) replace(v *ir.Value, c *rewrite.Change) {
	s.changed = true
	for _, n := range c.Made {
		s.uses.Add(n)
	}
	s.uses.Move(v, c.Root)
	s.with[v] = c.Root
}
