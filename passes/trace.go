package passes

import "github.com/npulang/npu/ir"

// A Trace records the rewrites of one run, and stops them when the fuel is
// spent. Statistics, the report page, the directives of golden files and the
// search for a wrong rewrite all read this one list.
type Trace struct {
	rewrites []Rewrite
	fuel     int
	limited  bool

	folded foldBudget

	pass  *Pass // running now
	fn    *ir.Func
	names map[*ir.Value]string // of fn, made for its first rewrite
}

func (t *Trace) enter(p *Pass, f *ir.Func) { t.pass, t.fn, t.names = p, f, nil }

// Rewrite records that a rule changes v, and reports whether it may: false
// means that v has to stay as it is. A pass puts a new body in place only when
// it is through, so that the names are those from before it.
func (t *Trace) Rewrite(rule string, v *ir.Value) bool {
	if t.limited && t.fuel == 0 {
		return false
	}
	t.fuel--
	if t.names == nil {
		t.names = t.fn.Names()
	}
	t.rewrites = append(t.rewrites, Rewrite{t.pass.Name, rule, t.names[v], v.Pos})
	return true
}
