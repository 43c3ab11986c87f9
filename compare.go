package npu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes/rewrite"
)

// A Side is a program and how it is compiled, for Compare.
type Side struct {
	Source  Source
	Options Options
}

// A Comparison tells how two programs agree.
type Comparison struct {
	Values  int // values of one name that both have, and that were compared
	Results int // results that were compared
	// Differs is the first value, in the order of the first program, that differs;
	// else the first result. Nil: all agree.
	Differs *ValueDifference
	// Errors, of programs at different precisions or with different kernels, tell of
	// each result how far it is off; Differs is the first that is further off than the
	// tolerance, where one is given.
	Errors   []ResultError
	Warnings Diagnostics // of both programs: of banks that are not used, too
}

// A ValueDifference is a value that is not the same in two programs.
type ValueDifference struct {
	Name       string // of the value, or of the result
	Result     bool
	Ops        [2]string // that compute it
	Types      [2]string
	Pos        [2]string // where; empty: unknown
	Difference string
}

// Compare runs two programs, or one in two pipelines, on the same inputs: their
// optimised graphs by the interpreter, value by value, and both on the machine.
// Values are the same if they have one name, which the compiler keeps through
// all passes. Parameters and inputs of one name have the same values.
//
// Programs at different precisions, or with different kernels, run on the machine alone,
// and their results are measured: see Comparison.Errors. Kernels of a side are those of
// the reference, unless its options name a kind, an instruction set or a bank. Two banks
// choose among kernels of the same bits, so that they are no difference of kernels: that
// the results are equal is what is held.
func Compare(a, b Side, opts TrialOptions) (*Comparison, error) {
	measured := precisionsDiffer(&a.Options, &b.Options)
	every := !measured && !kernelsDiffer(&a.Options, &b.Options)
	var sides [2]*compared
	for i, s := range []Side{a, b} {
		o := opts
		o.Options = s.Options
		o.Kernels = o.sideKernels(measured)
		side, err := runSide(s.Source, o, every)
		if err != nil {
			return nil, err
		}
		sides[i] = side
	}
	out, err := compareSides(sides, measured, &opts)
	if err != nil {
		return nil, err
	}
	out.Warnings = bothWarnings(sides)
	return out, nil
}

// compareSides compares what two sides have computed; measured: for their precisions.
func compareSides(sides [2]*compared, measured bool, opts *TrialOptions) (*Comparison, error) {
	if err := sides[0].sameInputs(sides[1]); err != nil {
		return nil, err
	}
	switch differ := precisionsDiffer(&sides[0].opts, &sides[1].opts); {
	case differ: // compiled files have precisions of their own
		return comparePrecisions(sides, opts)
	case measured:
		return nil, Diagnostics{{Code: "wrong-arguments", Message: "both programs have their products at precision " + string(sides[0].opts.Precision) + ", since a compiled file keeps its own",
			Helps: []string{"compare it with its source, or with a file that was built without precision"}}}
	case kernelsDiffer(&sides[0].opts, &sides[1].opts):
		return compareKernels(sides, opts)
	}
	return sides[0].against(sides[1], opts.within(sides[0].within, sides[1].within))
}

// bothWarnings are those of two sides, once each.
func bothWarnings(sides [2]*compared) (all Diagnostics) {
	for _, d := range slices.Concat(sides[0].warnings, sides[1].warnings) {
		if !slices.ContainsFunc(all, func(w *Diagnostic) bool { return w.Message == d.Message && w.Subject == d.Subject && w.Loc == d.Loc }) {
			all = append(all, d)
		}
	}
	return all
}

// A compared is what one side computed.
type compared struct {
	opts     Options // with the precision of a compiled file
	fn       *ir.Func
	within   float64
	order    []*seen            // values with a name
	byName   map[string][]*seen // of order
	byPlace  map[seenAt][]*seen // of order
	results  []*Tensor          // of the machine
	warnings Diagnostics
}

// A seen is a value with what it was.
type seen struct {
	value *ir.Value
	is    *Tensor
	nth   int // of those of its place: a module's values come once a call, a loop's once a round
}

// A seenAt is where values of one name come from.
type seenAt struct {
	name string
	pos  diag.Loc
}

func (s *seen) at() seenAt { return seenAt{s.value.Name, s.value.Pos} }

// runSide runs one side on the machine, and, if every value is wanted, by the
// interpreter too, which shows them.
func runSide(src Source, opts TrialOptions, every bool) (*compared, error) {
	t, err := newTrial(src, opts)
	if err != nil {
		return nil, err
	}
	defer t.close()
	o, err := t.compile(opts.Fuel)
	if err != nil {
		return nil, err
	}
	c := t.compared(o)
	if c.results, err = t.run(o); err != nil {
		return nil, excerpt(t.base.script, err)
	}
	if every {
		err = t.interpret(o, c)
	}
	return c, err
}

// interpret runs one side by the interpreter, which shows its values to c.
func (t *trial) interpret(o *optimised, c *compared) error {
	flat, _ := o.fn.Clone()
	flat.Unfuse()
	interp := ir.Interp{Param: func(v *ir.Value) (*Tensor, error) { return t.base.weight(v.Key()) }, Trace: c.see}
	if _, err := interp.Run(t.base.withoutMade(flat), t.args...); err != nil {
		return asDiagnostics(runError(err))
	}
	return nil
}

// compared begins one side.
func (t *trial) compared(o *optimised) *compared {
	return &compared{opts: t.c.opts, fn: o.fn, within: o.within, byName: map[string][]*seen{}, byPlace: map[seenAt][]*seen{}, warnings: slices.Concat(t.c.warnings, t.base.warnings)}
}

// see keeps a value that has a name; weights are the same on both sides.
func (c *compared) see(v *ir.Value, out []*Tensor) {
	if v.Name == "" || v.Op == ir.Param {
		return
	}
	s := &seen{value: v, is: out[0]}
	at := s.at()
	s.nth = len(c.byPlace[at])
	c.order = append(c.order, s)
	c.byName[v.Name] = append(c.byName[v.Name], s)
	c.byPlace[at] = append(c.byPlace[at], s)
}

// sameInputs refuses programs that do not take the same inputs.
func (c *compared) sameInputs(d *compared) error {
	list := func(f *ir.Func) string {
		ports := make([]string, len(f.Params))
		for i, v := range f.Params {
			ports[i] = v.Name + ": " + v.Type.String()
		}
		return "(" + strings.Join(ports, ", ") + ")"
	}
	if a, b := list(c.fn), list(d.fn); a != b {
		return Diagnostics{{Code: "wrong-arguments", Message: "the two programs do not take the same inputs",
			Notes: []string{"the first takes " + a, "the second takes " + b}}}
	}
	return nil
}

// against compares value by value, then the results.
func (c *compared) against(d *compared, within float64) (*Comparison, error) {
	out := &Comparison{}
	for _, s := range c.order {
		other := d.same(s, c)
		if other == nil {
			continue
		}
		out.Values++
		if err := rewrite.Differ(s.is, other.is, within); err != nil && !d.moved(s, within) {
			out.Differs = &ValueDifference{
				Name: s.value.Name, Difference: err.Error(),
				Ops:   [2]string{s.value.Op.Name, other.value.Op.Name},
				Types: [2]string{s.value.Type.String(), other.value.Type.String()},
				Pos:   [2]string{placeOf(s.value), placeOf(other.value)},
			}
			return out, nil
		}
	}
	return out, c.compareResults(d, within, out)
}

func (c *compared) compareResults(d *compared, within float64, out *Comparison) error {
	if len(c.results) != len(d.results) {
		return Diagnostics{{Code: "wrong-arguments", Message: fmt.Sprintf("the two programs have %d and %d results", len(c.results), len(d.results))}}
	}
	for i, r := range c.results {
		out.Results++
		if err := rewrite.Differ(r, d.results[i], within); err != nil {
			a, b := c.fn.Results[i], d.fn.Results[i]
			out.Differs = &ValueDifference{
				Name: c.fn.ResultName(i), Result: true, Difference: err.Error(),
				Ops:   [2]string{a.Op.Name, b.Op.Name},
				Types: [2]string{a.Type.String(), b.Type.String()},
				Pos:   [2]string{placeOf(a), placeOf(b)},
			}
			return nil
		}
	}
	return nil
}

// same finds the value of this side that stands for one of another: of its name, and
// where several have that name, of its place, in their order if both sides have as many.
func (c *compared) same(s *seen, from *compared) *seen {
	list := c.byName[s.value.Name]
	if len(list) == 1 && len(from.byName[s.value.Name]) == 1 {
		return list[0]
	}
	at := s.at()
	if list = c.byPlace[at]; at.pos.Line > 0 && len(list) == len(from.byPlace[at]) {
		return list[s.nth]
	}
	return nil
}

// moved reports whether this side has a value of another at its place, though not in its
// order: what is independent may have changed places.
func (c *compared) moved(s *seen, within float64) bool {
	return slices.ContainsFunc(c.byPlace[s.at()], func(o *seen) bool { return rewrite.Differ(s.is, o.is, within) == nil })
}

func placeOf(v *ir.Value) string { return placeText(v.Pos) }

// placeText is a place in the source; empty: it is unknown.
func placeText(at diag.Loc) string {
	if at.Line == 0 {
		return ""
	}
	return at.String()
}
