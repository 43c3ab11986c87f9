package npu

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lang"
	"github.com/npulang/npu/passes"
)

// A Shrunk is the smallest graph that was found to fail as the whole one does.
type Shrunk struct {
	Failure string // what goes wrong, of the reduced graph
	IR      string // the reduced graph, with how it fails in a comment
	Before  int    // values of the whole graph
	After   int    // and of the reduced one
	Tries   int    // graphs that were tried
}

// maxTries bounds a reduction.
const maxTries = 5000

// Shrink makes a graph smaller that fails: whose optimised form does not
// compile, does not run, or computes something else on the machine than the
// interpreter makes of the graph as it stands. It leaves out results, cuts values
// off by making inputs of them, and passes values by, as long as the failure is of
// the same kind. Inputs that are not given are random, from Options.Seed. When ctx
// ends, it returns the smallest graph found so far.
func Shrink(ctx context.Context, src Source, opts TrialOptions) (*Shrunk, error) {
	c, g, err := loadGraph(src, opts.Options)
	if err != nil {
		return nil, err
	}
	defer c.close()
	r := &reducer{ctx: endless(ctx), c: c, opts: opts}
	f, _ := g.Func.Clone()
	kind, failure := r.failure(f)
	if kind == "" {
		return nil, r.whyNot(f)
	}
	r.kind, r.message, r.best = kind, failure, f
	before := len(f.Body)
	r.reduce()
	return &Shrunk{
		Failure: r.message, IR: r.comment() + r.best.String(),
		Before: before, After: len(r.best.Body), Tries: r.tries,
	}, nil
}

// A reducer is a reduction under way.
type reducer struct {
	ctx     context.Context
	c       *compilation
	opts    TrialOptions
	kind    string // of the failure that is kept
	message string
	best    *ir.Func
	tries   int
}

// failure runs a graph. The kind is empty if nothing is wrong.
func (r *reducer) failure(f *ir.Func) (kind, message string) {
	defer func() {
		if p := recover(); p != nil {
			kind, message = "panic", fmt.Sprint(p)
		}
	}()
	if ir.Verify(f) != nil {
		return "", ""
	}
	t, err := r.trial(f)
	if err != nil {
		return "", ""
	}
	defer t.base.plans.close()
	want, wantErr := t.expected()
	o, err := t.compile(r.opts.Fuel)
	if err != nil {
		return "compile " + AsDiagnostic(err).Code, err.Error()
	}
	got, err := t.run(o)
	switch {
	case err != nil && wantErr != nil:
		return "", "" // both refuse
	case err != nil:
		return "run " + AsDiagnostic(err).Code, err.Error()
	case wantErr != nil && t.refuses(o):
		return "no error", "the machine computes what the interpreter refuses: " + wantErr.Error()
	case wantErr != nil:
		return "", "" // a rewrite has found that no result needs what fails
	}
	if err := t.compare(o.fn, got, want, o.within); err != nil {
		return "differs", err.Error()
	}
	return "", ""
}

// whyNot says why a graph does not fail: it cannot be tried with the options and the
// inputs that the user gives, it ends with an error as it is written too, or nothing
// is wrong.
func (r *reducer) whyNot(f *ir.Func) error {
	t, err := r.trialWith(f, r.opts.Inputs)
	if err != nil {
		return asDiagnostics(err)
	}
	defer t.base.plans.close()
	if _, err := t.expected(); err != nil {
		return excerpt(r.c.script(), asDiagnostics(runError(err)))
	}
	return append(slices.Clone(r.c.warnings), &Diagnostic{Code: "wrong-arguments", Subject: f.Name, Message: "the graph does not fail: it compiles, and the machine computes what the interpreter does",
		Helps: []string{"give the inputs and options with which it fails, or another --seed"}})
}

// trial is a trial of a graph made of the program's. Weights are made up, or cut
// graphs would not find theirs.
func (r *reducer) trial(f *ir.Func) (*trial, error) { return r.trialWith(f, r.given(f)) }

func (r *reducer) trialWith(f *ir.Func, inputs map[string]string) (*trial, error) {
	c := *r.c
	c.graphs = []*lang.Graph{{Name: f.Name, Func: f}}
	c.opts.Graph, c.opts.Weights, c.opts.RandomWeights = f.Name, nil, true
	c.text = &text{name: r.c.text.name, read: r.c.text.read}
	opts := r.opts
	opts.Inputs = inputs
	return c.trial(opts)
}

// given are those of the user's inputs that a graph still has.
func (r *reducer) given(f *ir.Func) map[string]string {
	given := map[string]string{}
	for _, p := range f.Params {
		if value, ok := r.opts.Inputs[p.Name]; ok {
			given[p.Name] = value
		}
	}
	return given
}

// keep takes a smaller graph if it fails in the same way.
func (r *reducer) keep(f *ir.Func) bool {
	if r.tries >= maxTries || r.ctx.Err() != nil {
		return false
	}
	r.tries++
	tidy(f)
	kind, message := r.failure(f)
	if kind != r.kind {
		return false
	}
	r.best, r.message = f, message
	return true
}

// reduce looks for one result that is wrong, and then tries ever smaller cuts, as
// long as one helps.
func (r *reducer) reduce() {
	r.oneResult()
	r.earliest()
	for size := max(1, len(r.best.Body)/2); ; {
		switch cut := r.cuts(size); {
		case size == 1 && !cut && !r.earlier() && !r.bypasses():
			return
		case size > 1:
			size = max(1, min(size/2, len(r.best.Body)/2))
		}
	}
}

// only is the graph with one result.
func (r *reducer) only(result func(f *ir.Func) *ir.Value) *ir.Func {
	f, _ := r.best.Clone()
	f.Results, f.ResultNames = []*ir.Value{result(f)}, nil
	return f
}

// oneResult leaves all results out but one.
func (r *reducer) oneResult() {
	for i := range r.best.Results {
		if r.keep(r.only(func(f *ir.Func) *ir.Value { return f.Results[i] })) {
			return
		}
	}
}

// earliest halves the body as long as a value of the first half, as the only
// result, fails.
func (r *reducer) earliest() {
	for least := 0; least < len(r.best.Body)-1; {
		middle := (least + len(r.best.Body) - 1) / 2
		if !r.keep(r.only(func(f *ir.Func) *ir.Value { return f.Body[middle] })) {
			least = middle + 1
		}
	}
}

// earlier takes what the result is made of as the result.
func (r *reducer) earlier() bool {
	for at, a := range r.best.Results[0].Args {
		if a != nil && a.Op != ir.Input && r.keep(r.only(func(f *ir.Func) *ir.Value { return f.Results[0].Args[at] })) {
			return true
		}
	}
	return false
}

// cuts tries to cut off stretches of the body of that many values, the last
// ones first, since what they read goes with them.
func (r *reducer) cuts(size int) (cut bool) {
	for end := len(r.best.Body); end > 0; end = min(end, len(r.best.Body)) {
		start := max(0, end-size)
		f, _ := r.best.Clone()
		cutOff(f, start, end)
		if len(f.Body) < len(r.best.Body) && r.keep(f) {
			cut = true
		}
		end = start
	}
	return cut
}

// cutOff lets whatever reads a value of Body[start:end] read an input instead.
// The results stay what they are.
func cutOff(f *ir.Func, start, end int) {
	gone := map[*ir.Value]bool{}
	for _, v := range f.Body[start:end] {
		gone[v] = !slices.Contains(f.Results, v)
	}
	with := map[*ir.Value]*ir.Value{}
	var body []*ir.Value
	for _, v := range f.Body {
		if gone[v] || v.Op.Flags&ir.Projection != 0 && gone[v.Args[0]] {
			continue
		}
		body = append(body, v)
	}
	read := (&ir.Func{Body: body, Results: f.Results}).Readers()
	for _, v := range f.Body {
		cut := gone[v] || v.Op.Flags&ir.Projection != 0 && gone[v.Args[0]]
		if cut && read[v] > 0 {
			with[v] = f.NewInput(freshName(f), v.Type)
		}
	}
	f.Body = body
	f.Replace(with)
}

// freshName is a name that no input has yet.
func freshName(f *ir.Func) string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("in%d", i)
		if !slices.ContainsFunc(f.Params, func(p *ir.Value) bool { return p.Name == name }) {
			return name
		}
	}
}

// bypasses lets readers of a value read an argument of it, where the types
// agree.
func (r *reducer) bypasses() (changed bool) {
	for i := len(r.best.Body) - 1; i >= 0; i = min(i-1, len(r.best.Body)-1) {
		v := r.best.Body[i]
		for at, a := range v.Args {
			if a == nil || !a.Type.Equal(v.Type) || len(r.best.Body) == 1 {
				continue
			}
			f, _ := r.best.Clone()
			f.Replace(map[*ir.Value]*ir.Value{f.Body[i]: f.Body[i].Args[at]})
			if r.keep(f) {
				changed = true
				break
			}
		}
	}
	return changed
}

// tidy removes what nothing needs: values, inputs, and asserts about sizes that
// are no longer there.
func tidy(f *ir.Func) {
	// The pass has no way to fail.
	_, _ = passes.Run(f, passes.Options{Passes: []string{"drop-dead"}})
	dropInputs(f)
	bound := ir.BareSymbols(f.Params)
	f.Asserts = slices.DeleteFunc(f.Asserts, func(a ir.Assert) bool {
		return !allBound(bound, a.Left, a.Right)
	})
}

// dropInputs removes the inputs that nothing reads and whose sizes others tell.
func dropInputs(f *ir.Func) {
	read := f.Readers()
	for i := len(f.Params) - 1; i >= 0; i-- {
		p := f.Params[i]
		others := slices.Delete(slices.Clone(f.Params), i, i+1)
		if read[p] == 0 && allBound(ir.BareSymbols(others), p.Type.Shape...) {
			f.Params = others
		}
	}
}

// allBound reports whether all symbols of some sizes are bound.
func allBound(bound map[string]bool, dims ...ir.Dim) bool {
	all := true
	for _, d := range dims {
		d.Symbols(func(s string) { all = all && bound[s] })
	}
	return all
}

// comment says above the reduced graph how it fails.
func (r *reducer) comment() string {
	var b strings.Builder
	for line := range strings.Lines(r.message) {
		fmt.Fprintf(&b, "// %s\n", strings.TrimSpace(line))
	}
	fmt.Fprintf(&b, "// seed %d", r.opts.Seed)
	for _, name := range sortedKeys(r.given(r.best)) {
		fmt.Fprintf(&b, ", input %s=%s", name, r.opts.Inputs[name])
	}
	b.WriteString("\n")
	if len(r.c.own) > 0 {
		fmt.Fprintf(&b, "// the rules of %s are not in this graph: copy them to a file for --rules\n", r.c.text.name)
	}
	return b.String()
}
