package fusion

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A Candidate is a place where a rule matches.
type Candidate struct {
	Func  *ir.Func // the graph, or the region that holds the operators
	Rule  *Rule
	Match *rewrite.Match
}

// Candidates finds where the rules of the set match in f and its regions, in
// the order of the functions' values from the end, so that the largest match of
// a chain is seen first. No operator is in two candidates. f is not changed.
func Candidates(f *ir.Func, s *Set) []Candidate {
	if len(s.rules) == 0 {
		return nil
	}
	var out []Candidate
	for g := range f.Funcs() {
		out = append(out, s.inFunc(g)...)
	}
	return out
}

func (s *Set) inFunc(f *ir.Func) []Candidate {
	var out []Candidate
	uses := rewrite.NewUses(f)
	taken := map[*ir.Value]bool{}
	for i := len(f.Body) - 1; i >= 0; i-- {
		v := f.Body[i]
		for _, r := range s.byRoot[v.Op] {
			m := r.Find(v, uses)
			if m == nil || overlaps(m, taken) {
				continue
			}
			for _, u := range m.Inside {
				taken[u] = true
			}
			out = append(out, Candidate{f, r, m})
			break
		}
	}
	return out
}

func overlaps(m *rewrite.Match, taken map[*ir.Value]bool) bool {
	for _, v := range m.Inside {
		if taken[v] {
			return true
		}
	}
	return false
}
