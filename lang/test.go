package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A Test is a test block, ready to run.
type Test struct {
	Name  string
	At    diag.Span
	steps []testStep
}

// A Runner compiles and runs a function on inputs, one for each parameter. It
// binds weights by itself.
type Runner interface {
	Run(f *ir.Func, inputs []*tensor.T) ([]*tensor.T, error)
}

// Run runs the test. The list holds every expectation that failed, and the
// error that ended the test, if one did.
func (t *Test) Run(r Runner) diag.List {
	run := &testRun{runner: r, values: map[*ir.Value]*tensor.T{}}
	for _, s := range t.steps {
		if err := s.run(run); err != nil {
			run.failures = append(run.failures, t.runError(s, err))
			break
		}
	}
	return run.failures
}

// A testRun is the state of one run: what has been computed so far.
type testRun struct {
	runner   Runner
	values   map[*ir.Value]*tensor.T
	failures diag.List
}

// A testStep does its part of a run. An error ends the test; an expectation
// that fails does not.
type testStep interface {
	run(*testRun) error
	span() diag.Span
}

type (
	segmentStep struct{ seg *segment }
	callStep    struct {
		graph   *Graph
		at      diag.Span
		args    []*ir.Value
		results []*ir.Value
	}
	staticStep struct {
		at   diag.Span
		ok   bool
		text string
	}
	trueStep struct {
		at diag.Span
		x  *ir.Value
	}
	compareStep struct {
		at, xAt, yAt diag.Span
		x, y         *ir.Value
		approx       bool
		within       float64 // negative: the dtype's default
	}
	errorStep struct {
		at     diag.Span
		want   string
		steps  []testStep
		caught diag.List // errors at compile time
	}
)

func (s *segmentStep) span() diag.Span { return diag.Span{} }
func (s *callStep) span() diag.Span    { return s.at }
func (s *staticStep) span() diag.Span  { return s.at }
func (s *trueStep) span() diag.Span    { return s.at }
func (s *compareStep) span() diag.Span { return s.at }
func (s *errorStep) span() diag.Span   { return s.at }

// run computes what later steps read of the segment.
func (s *segmentStep) run(t *testRun) error {
	seg := s.seg
	if len(seg.exports) == 0 {
		return nil
	}
	f := *seg.fn
	f.Results = seg.exports
	inputs := make([]*tensor.T, len(seg.feeds))
	for i, feed := range seg.feeds {
		inputs[i] = feed.literal
		if feed.from != nil {
			inputs[i] = t.values[feed.from]
		}
	}
	return t.call(&f, inputs, seg.exports)
}

// call runs a function and files its results.
func (t *testRun) call(f *ir.Func, inputs []*tensor.T, results []*ir.Value) error {
	out, err := t.runner.Run(f, inputs)
	if err != nil {
		return err
	}
	if len(out) != len(results) {
		return fmt.Errorf("%s gave %d results instead of %d", f.Name, len(out), len(results))
	}
	for i, v := range results {
		t.values[v] = out[i]
	}
	return nil
}

// run calls the graph.
func (s *callStep) run(t *testRun) error {
	inputs := make([]*tensor.T, len(s.args))
	for i, a := range s.args {
		inputs[i] = t.values[a]
	}
	return t.call(s.graph.Func, inputs, s.results)
}

// fail files an expectation that does not hold.
func (t *testRun) fail(at diag.Span, label, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: "expectation", Span: at, Subject: "expect", Message: fmt.Sprintf(format, args...), Label: label}
	t.failures = append(t.failures, d)
	return d
}

func (s *staticStep) run(t *testRun) error {
	if !s.ok {
		t.fail(s.at, "", "%s", s.text)
	}
	return nil
}

// run looks for the first element that is false.
func (s *trueStep) run(t *testRun) error {
	x := t.values[s.x]
	for i, b := range x.Bools() {
		if !b {
			where := ""
			if len(x.Shape) > 0 {
				where = fmt.Sprintf(" at %v", tensor.Index(x.Shape, i))
			}
			t.fail(s.at, "", "the condition is false%s", where)
			break
		}
	}
	return nil
}

// run compares the two sides element by element.
func (s *compareStep) run(t *testRun) error {
	got, want := t.values[s.x], t.values[s.y]
	tol := tensor.Exact
	if s.approx {
		tol = tensor.DefaultTolerance(want.DType)
	}
	if s.approx && s.within >= 0 {
		tol = tensor.Tolerance(s.within)
	}
	if diff := tensor.Compare(got, want, tol); diff != nil {
		d := t.fail(s.xAt, got.Type(), "%s", diff)
		witness(d, s.yAt, "%s", want.Type())
	}
	return nil
}

// run looks for the wanted text in the first error, of compile time or of the
// block's own run.
func (s *errorStep) run(t *testRun) error {
	first := ""
	if len(s.caught) > 0 {
		first = s.caught[0].Headline()
	}
	if first == "" {
		first = s.runtime(t)
	}
	switch {
	case first == "":
		t.fail(s.at, "", "there was no error, but one with %q is expected", s.want)
	case !strings.Contains(first, s.want):
		d := t.fail(s.at, "", "the error has no %q in it", s.want)
		note(d, "it is: %s", first)
	}
	return nil
}

// runtime runs the block and returns the first line of its error.
func (s *errorStep) runtime(t *testRun) string {
	before := len(t.failures)
	for _, st := range s.steps {
		err := st.run(t)
		if err != nil {
			return toDiagnostic(err, diag.Span{}).Headline()
		}
		if len(t.failures) > before {
			first := t.failures[before].Headline()
			t.failures = t.failures[:before]
			return first
		}
	}
	return ""
}

// runError places an error that has no place of its own.
func (t *Test) runError(s testStep, err error) *diag.Diagnostic {
	at := s.span()
	if at.Src == nil {
		at = t.At
	}
	d := toDiagnostic(err, at)
	if d.Span.Src != nil {
		return d
	}
	placed := *d // it tells where in the program; this is where the test asked for it
	placed.Notes = append(slices.Clone(d.Notes), "the test called it at "+at.Loc().String())
	return &placed
}

// toDiagnostic makes a diagnostic of what a runner returns.
func toDiagnostic(err error, at diag.Span) *diag.Diagnostic {
	var one *diag.Diagnostic
	if errors.As(err, &one) {
		return one
	}
	var list diag.List
	if errors.As(err, &list) {
		for _, d := range list {
			if d.Severity == diag.Error {
				return d
			}
		}
	}
	d := &diag.Diagnostic{Code: "run-time", Span: at}
	var run *ir.RunError
	if errors.As(err, &run) {
		d.Subject, err = run.What, run.Err
		if run.Pos.Line > 0 && at.Src != nil {
			note(d, "computed at %s:%d:%d", run.Pos.File, run.Pos.Line, run.Pos.Col)
		}
	}
	var refusal *ir.Error
	if errors.As(err, &refusal) {
		d.Code = refusal.Code
		d.Notes, d.Helps = append(d.Notes, refusal.Notes...), refusal.Helps
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	d.Message = strings.TrimSuffix(line, " ["+d.Code+"]")
	return d
}
