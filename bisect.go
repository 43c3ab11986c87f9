package npu

import "sort"

// A Bisection tells which rewrite changes what a graph computes.
type Bisection struct {
	Total int // rewrites of the whole pipeline
	// Number counts, from 1, the rewrite after which the numbers differ. 0: none
	// changes them; then Difference is empty, or tells that they differ without
	// any rewrite.
	Number     int
	Rewrite    Rewrite
	Difference string // the result that differs, and where
	Before     string // the IR without that rewrite
	After      string // the IR with it

	Warnings Diagnostics // of the program: of rules that are not applied, too
}

// Bisect finds the rewrite that changes what a graph computes: it compares the
// machine, after so many rewrites, with the interpreter on the graph as the front
// end made it, and halves their number until one is left.
func Bisect(src Source, opts TrialOptions) (*Bisection, error) {
	t, err := newTrial(src, opts)
	if err != nil {
		return nil, err
	}
	defer t.close()
	want, err := t.expected()
	if err != nil {
		return nil, excerpt(t.base.script, asDiagnostics(runError(err)))
	}
	s := &bisecting{t, want}
	whole, err := t.compile(opts.Fuel)
	b := &Bisection{Total: maxRewrites, Warnings: t.c.warnings}
	if err == nil {
		b.Total = len(whole.record.Rewrites)
	} else if _, err := t.compile(fuel(0)); err != nil {
		return nil, asDiagnostics(err) // no rewrite is to blame
	}
	if s.wrong(b.Total) == nil {
		return b, nil
	}
	if err := s.wrong(0); err != nil {
		b.Difference = err.Error()
		return b, nil
	}
	// wrong(0) is nil and wrong(Total) is not: somewhere between it turns.
	b.Number = 1 + sort.Search(b.Total-1, func(n int) bool { return s.wrong(n+1) != nil })
	return b, s.describe(b)
}

// maxRewrites stands for the number of rewrites of a pipeline that does not come
// to its end, since the verifier refuses what a pass leaves.
const maxRewrites = 1 << 24

// A bisecting is a search for the rewrite that changes the numbers.
type bisecting struct {
	*trial
	want []*Tensor
}

// fuel is what allows just n rewrites.
func fuel(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// wrong says how the numbers differ after n rewrites; a graph that does not
// compile or run is wrong too.
func (s *bisecting) wrong(n int) error {
	o, err := s.compile(fuel(n))
	if err != nil {
		return err
	}
	got, err := s.run(o)
	if err != nil {
		return err
	}
	return s.compare(o.fn, got, s.want, o.within)
}

// describe fills in what the rewrite is.
func (s *bisecting) describe(b *Bisection) error {
	b.Difference = s.wrong(b.Number).Error()
	before, _, err := s.text(b.Number - 1)
	if err != nil {
		return err
	}
	after, record, err := s.text(b.Number)
	if err != nil {
		return err
	}
	b.Before, b.After = before, after
	if len(record.Rewrites) >= b.Number {
		b.Rewrite = record.Rewrites[b.Number-1]
	}
	return nil
}

// text is the IR after n rewrites, legal or not.
func (s *bisecting) text(n int) (string, *Record, error) {
	c := *s.c
	c.opts.Fuel, c.opts.Verify = fuel(n), false
	o, err := c.optimise(s.graph.Func)
	if err != nil {
		return "", nil, err
	}
	return o.fn.String(), o.record, nil
}
