package fusion

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes"
	"github.com/npulang/npu/passes/rewrite"
)

// A Survival tells what simplification makes of a user's fusion, before the pass
// fuse looks for it.
//
//	fusion F {            func @before(%x: f32[3]) -> f32[3] {
//	    exp(x * x)    =>    %0 = square %x : f32[3]          =>  a form: exp(square(x))
//	}                       %1 = exp %0 : f32[3]
//
// A pattern means what the same expression means in a script, and that is
// simplified. So the pattern is written down as small graphs of many dtypes and
// shapes, the passes of the compilation run over each, and what they leave is read
// back as a further form of the rule. Nothing is known here of what single
// rewrites do: one that is added to the tables is taken account of.
//
// The other way, to look for a user's fusions before the graph is simplified,
// would be simpler and worse: what is found would have to be kept from all
// rewrites that cross its edge, and what `npu emit opt` shows, and a user copies,
// would not be found.
type Survival struct {
	Graphs int // that the pattern fits and that were simplified
	Kept   int // of these, where the rule still matches as it is written
	Read   int // where it matches by one of Forms
	Lost   int // where it does not

	Forms []*rewrite.Pattern // what simplification leaves of it otherwise

	// Of one graph that is lost: what it was and what has become of it, by which
	// rewrites, and why that is no form of the rule.
	Before, After string
	Rewrites      []string
	Why           string
	Alone         bool // since one operator is left
}

// Dead reports whether the rule matches nothing that comes out of a script.
func (s *Survival) Dead() bool { return s.Graphs > 0 && s.Lost == s.Graphs }

// Reason says why a graph is lost, in one line.
func (s *Survival) Reason() string {
	if len(s.Rewrites) == 0 {
		return s.Why
	}
	return fmt.Sprintf("simplification (%s) comes first: %s", strings.Join(s.Rewrites, ", "), s.Why)
}

const (
	mostInstances = 48 // graphs that are simplified for one rule: some ten milliseconds
	mostForms     = 16
	mostTrials    = 8 // graphs on which a form is tried
)

// fusePass is the pass that looks for fusions.
const fusePass = "fuse"

// Survive finds out what is left of a user's fusion by the passes that o selects.
// Nothing is known (Graphs is 0) of a rule with a guard in Go, which may count on
// the operators of its pattern and whose author can add forms to Rule.Also, nor of
// one whose tests ask for what no instance has.
func Survive(r *rewrite.Rule, o *passes.Options) *Survival {
	if r.When != nil {
		return &Survival{}
	}
	before, runs := o.Before(fusePass)
	if !runs {
		return &Survival{}
	}
	key, known := survivalKey(r, &before)
	if !known {
		return survive(r, &before)
	}
	return survivals.of(key, func() *Survival { return survive(r, &before) })
}

func survive(r *rewrite.Rule, o *passes.Options) *Survival {
	v := &surviving{rule: r, options: o, reasons: map[*rewrite.Instance]string{}}
	s := &v.Survival
	for _, e := range r.Instances(mostInstances) {
		x := simplified{Instance: e, before: e.Func.String()}
		report, err := passes.Run(e.Func, *o)
		if err != nil {
			continue // of the user's rewrites, which the compilation reports
		}
		x.rewrites = rewritesOf(report)
		v.all = append(v.all, x)
	}
	s.Graphs = len(v.all)
	for _, x := range v.all {
		v.read(x.Instance)
	}
	whole := *r
	whole.Also = slices.Concat(r.Also, s.Forms)
	for i := range v.all {
		v.count(&v.all[i], &whole)
	}
	return s
}

// A surviving is a Survival that is being found.
type surviving struct {
	Survival
	rule    *rewrite.Rule
	options *passes.Options
	all     []simplified
	reasons map[*rewrite.Instance]string // why of an instance there is no form
	plain   bool                         // the graph that is shown has no scalars among its inputs
}

// A simplified is an instance after the passes.
type simplified struct {
	*rewrite.Instance
	before   string
	rewrites []string
}

const (
	alone     = "one operator is left, which has a kernel without a rule"
	ambiguous = "what is left is left of other expressions, too"
)

// read adds what is left of an instance to the forms, unless the rule matches it
// already.
func (v *surviving) read(e *rewrite.Instance) {
	if m := v.rule.Fits(e); m != nil {
		if busy(m.Ops()) < 2 {
			v.reasons[e] = alone
		}
		return
	}
	p, err := e.Read()
	switch {
	case err != nil:
		v.reasons[e] = err.Error()
	case busy(p.Ops()) < 2:
		v.reasons[e] = alone
	case len(rewrite.Join(slices.Clone(v.Forms), p)) > mostForms:
		v.reasons[e] = fmt.Sprintf("there are more than %d forms", mostForms)
	case !v.stands(p, e):
		v.reasons[e] = ambiguous
	default:
		v.Forms = rewrite.Join(v.Forms, p)
	}
}

// stands reports whether a form means what the pattern does also in other graphs
// than the one that it was read of: written down in the pattern's place it has to
// become the same.
//
//	relu(a @ b + c), c of rank 1    relu(bias_add(matmul(a, b), c)), wherever that is legal
//	relu(transpose(x)), x of rank 1   relu(x), which of rank 2 is another expression
func (v *surviving) stands(p *rewrite.Pattern, of *rewrite.Instance) bool {
	tried := 0
	for _, x := range v.all {
		if tried == mostTrials || !x.Like(of) || x.Instance != of && !x.Plain() {
			continue
		}
		f := x.As(p)
		if f == nil {
			continue
		}
		tried++
		if _, err := passes.Run(f, *v.options); err != nil || !rewrite.Same(f, x.Func) {
			return false
		}
	}
	return true
}

// count sorts an instance into those that the rule, with its new forms, matches
// and those that are lost.
func (v *surviving) count(x *simplified, whole *rewrite.Rule) {
	why := v.reasons[x.Instance]
	switch m := whole.Fits(x.Instance); {
	case why == "" && v.rule.Fits(x.Instance) != nil:
		v.Kept++
		return
	case why != alone && m != nil:
		v.Read++
		return
	}
	v.Lost++
	if v.Why != "" && (v.plain || scalars(x.Func)) {
		return
	}
	v.plain = !scalars(x.Func)
	x.Func.Name = "after"
	v.Before, v.After, v.Rewrites = x.before, x.Func.String(), x.rewrites
	v.Why, v.Alone = why, why == alone
}

func scalars(f *ir.Func) bool {
	return slices.ContainsFunc(f.Params, func(v *ir.Value) bool { return v.Type.Rank() == 0 })
}

// busy counts the operators that compute.
func busy(ops []*ir.Op) int {
	n := 0
	for _, op := range ops {
		if op != ir.Const && op.Flags&ir.View == 0 {
			n++
		}
	}
	return n
}

// rewritesOf lists the rules that changed a graph, each once.
func rewritesOf(report *passes.Report) []string {
	var names []string
	for _, w := range report.Rewrites {
		if w.Rule != "drop-dead" && !slices.Contains(names, w.Rule) {
			names = append(names, w.Rule)
		}
	}
	return names
}

// adapt gives the user's rules the forms that the passes of this run leave of
// them.
func (u *Fuser) adapt(o *passes.Options) {
	if u.adapted {
		return
	}
	u.adapted = true
	for _, r := range u.set.rules[:u.set.users] {
		if s := Survive(r.Rule, o); len(s.Forms) > 0 {
			more := *r.Rule
			more.Also = slices.Concat(r.Also, s.Forms)
			r.Rule = &more
		}
	}
}

// survivalKey is a text on which alone a Survival depends; false: there is none,
// since a rewrite was made in Go.
func survivalKey(r *rewrite.Rule, o *passes.Options) (string, bool) {
	var b strings.Builder
	for _, f := range r.Also {
		fmt.Fprintln(&b, f)
	}
	fmt.Fprintln(&b, r, o.Passes, o.FastMath, o.MaxBytes)
	for _, u := range o.Rules {
		if u.Build != nil || u.When != nil {
			return "", false
		}
		fmt.Fprintln(&b, u, u.Liberty != "")
	}
	if o.Enabled != nil {
		for _, name := range passes.RuleNames() {
			if !o.Enabled(name) {
				fmt.Fprintln(&b, "off", name)
			}
		}
	}
	return b.String(), true
}

// survivals keeps what was found in this process: a server compiles the same
// script often.
var survivals kept

type kept struct {
	sync.Mutex
	byKey map[string]*Survival
}

// mostKept bounds what is kept: beyond it all is found again.
const mostKept = 256

func (k *kept) of(key string, find func() *Survival) *Survival {
	k.Lock()
	s := k.byKey[key]
	k.Unlock()
	if s != nil {
		return s
	}
	s = find()
	k.Lock()
	defer k.Unlock()
	if k.byKey == nil || len(k.byKey) == mostKept {
		k.byKey = map[string]*Survival{}
	}
	k.byKey[key] = s
	return s
}
