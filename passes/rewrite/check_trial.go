package rewrite

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A trial is one graph before and after a rule, and what the two compute.
type trial struct {
	rule          *Rule
	form          int // of the rule's forms, the one that matched
	before, after *ir.Func
	inputs        []*tensor.T

	skipped   bool  // the runs could not be compared
	err       error // how the sides differ
	want, got []*tensor.T
}

// apply lets the engine change a copy of a function at its first result; nil: the
// rule does not match there, or makes no legal change.
func (r *Rule) apply(f *ir.Func) *trial {
	after, _ := f.Clone()
	after.Name = "after"
	root := after.Results[0]
	m := r.Find(root, NewUses(after))
	if m == nil {
		return nil
	}
	c := r.change(m, after)
	if c == nil {
		return nil
	}
	after.Body = append(after.Body, c.Made...)
	after.Replace(map[*ir.Value]*ir.Value{root: c.Root})
	prune(after)
	if !runnable(after) {
		return nil
	}
	return &trial{rule: r, before: f, after: after, form: slices.Index(r.Forms(), m.pattern)}
}

// change is what a rewrite makes of a match, or the region that a fusion makes.
func (r *Rule) change(m *Match, f *ir.Func) *Change {
	if !r.Fusion() {
		return r.Apply(m, f.Asserts)
	}
	return m.outline(f)
}

// outline puts what is matched into a region.
func (m *Match) outline(f *ir.Func) *Change {
	body := &ir.Func{}
	inside := map[*ir.Value]*ir.Value{}
	var args []*ir.Value
	for _, v := range f.Body {
		if !slices.Contains(m.Inside, v) {
			continue
		}
		operands := make([]*ir.Value, len(v.Args))
		for i, a := range v.Args {
			if a != nil && inside[a] == nil {
				inside[a] = body.NewInput("", a.Type)
				args = append(args, a)
			}
			operands[i] = inside[a]
		}
		out, err := body.Add(v.Op, operands, slices.Clone(v.Attrs))
		if err != nil {
			return nil
		}
		inside[v] = out[0]
	}
	body.Results = []*ir.Value{inside[m.Root]}
	made := &ir.Func{}
	out, err := made.Add(ir.Fused, args, nil, body)
	if err != nil {
		return nil
	}
	return &Change{made.Body, out[0]}
}

// prune drops what no result needs: its errors are no part of what the rule does.
func prune(f *ir.Func) {
	live := map[*ir.Value]bool{}
	for _, v := range f.Results {
		live[v] = true
	}
	for _, v := range slices.Backward(f.Body) {
		if live[v] {
			for _, a := range v.Args {
				live[a] = true
			}
		}
	}
	f.Body = slices.DeleteFunc(f.Body, func(v *ir.Value) bool { return !live[v] })
}

// runnable bounds what a rule may make, as its pattern is bounded; sizes with
// symbols are bounded when they are bound.
func runnable(f *ir.Func) bool {
	for _, v := range f.Body {
		if n, ok := v.Type.Elements().Const(); ok && n > 64*mostElements {
			return false
		}
	}
	return true
}

// Bounds of one run: a rule of a user's may make anything.
const (
	runBytes = 16 << 20
	runStops = 10_000
)

// run computes both sides and compares them.
func (t *trial) run() {
	t.skipped, t.err, t.want, t.got = false, nil, nil, nil
	if err := ir.Verify(t.after); err != nil {
		t.err = fmt.Errorf("the rule makes a graph that is not legal: %w", err)
		return
	}
	want, overflow, err := t.left(t.inputs)
	if err != nil || t.rule.Within > 0 && overflow && t.overflows() {
		t.skipped = true
		return
	}
	got, err := interpret(t.after, t.inputs, nil)
	var e *ir.Error
	switch {
	case errors.As(err, &e) && e.Code == "limit", errors.Is(err, errEndless):
		t.skipped = true
	case err != nil:
		t.want, t.err = want, fmt.Errorf("the graph runs before and fails after: %w", err)
	default:
		t.compare(want, got)
	}
}

// left computes the graph as it was, and tells whether it meets infinities or NaN
// on the way.
func (t *trial) left(inputs []*tensor.T) (results []*tensor.T, overflow bool, err error) {
	results, err = interpret(t.before, inputs, func(v *ir.Value, out []*tensor.T) {
		overflow = overflow || v.Op != ir.Const && !finite(out)
	})
	return results, overflow, err
}

// overflows reports whether the graph as it was meets infinities that do not come
// from its inputs: whether it does with 0 in their place.
func (t *trial) overflows() bool {
	for _, v := range t.before.Body {
		if v.Op == ir.Const && !finite([]*tensor.T{v.Attrs[0].Tensor}) {
			return false
		}
	}
	inputs := make([]*tensor.T, len(t.inputs))
	for i, in := range t.inputs {
		inputs[i] = in.Clone()
		if !in.DType.IsFloat() {
			continue
		}
		for j, f := range in.Floats() {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				inputs[i].SetFloat(j, 0)
			}
		}
	}
	_, overflow, err := t.left(inputs)
	return err == nil && overflow
}

var errEndless = errors.New("the run takes too long for a check")

func interpret(f *ir.Func, inputs []*tensor.T, trace func(*ir.Value, []*tensor.T)) ([]*tensor.T, error) {
	asked := 0
	stop := func() error {
		if asked++; asked > runStops {
			return errEndless
		}
		return nil
	}
	in := ir.Interp{Budget: &ir.Budget{Bytes: runBytes, Stop: stop}, Trace: trace}
	return in.Run(f, inputs...)
}

func finite(ts []*tensor.T) bool {
	for _, t := range ts {
		if !t.DType.IsFloat() {
			continue
		}
		for _, f := range t.Floats() {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return false
			}
		}
	}
	return true
}

// compare compares the results; those of a fusion, which computes what it
// computed before, have the same bits whatever a kernel may do later.
func (t *trial) compare(want, got []*tensor.T) {
	within := t.rule.Within
	if t.rule.Fusion() {
		within = 0
	}
	for i := range want {
		if err := Differ(got[i], want[i], within); err != nil {
			t.err, t.want, t.got = err, want, got
			return
		}
	}
}
