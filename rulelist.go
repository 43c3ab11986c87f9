package npu

import (
	"slices"

	"github.com/npulang/npu/fusion"
	"github.com/npulang/npu/passes"
	"github.com/npulang/npu/passes/rewrite"
)

// A RuleSummary describes a rule: one of npu's own, or a user's.
type RuleSummary struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"` // rewrite, fusion, growth (of fused regions) or code (of a pass)
	Pass        string   `json:"pass"` // that applies it first
	Doc         string   `json:"doc"`
	Patterns    []string `json:"patterns"`    // the forms that it matches, in the language
	Replacement string   `json:"replacement"` // of a rewrite; empty if it is built in Go
	Where       []string `json:"where"`       // tests, as written
	Guarded     bool     `json:"guarded"`     // a guard in Go asks for more than patterns and tests say
	Closed      bool     `json:"closed"`      // no inner value may be read outside
	Safe        bool     `json:"safe"`        // takes part in the mode all_safe
	Within      float64  `json:"within"`      // how far results may be off; 0: not a bit
	Liberty     string   `json:"liberty"`     // what it takes for granted: runs with fast-math, or in a pass that is named
	At          string   `json:"at"`          // where a user's rule is declared
}

// Rules lists the rules in the order in which they are tried: rewrites by the
// first pass that applies them, then fusions by their priority, then the growth of
// regions. A user's rules come before npu's own of the same kind, as they do in a
// compilation.
func Rules(user []*Rule) []RuleSummary {
	var list []RuleSummary
	for i := range passes.Pipeline {
		list = append(list, ofPass(&passes.Pipeline[i], user)...)
	}
	return list
}

// ofPass lists what one pass applies.
func ofPass(p *passes.Pass, user []*Rule) []RuleSummary {
	switch {
	case p.Name == userPass:
		return summaries(user, p.Name, false)
	case p.Name == fusionPass:
		return append(append(summaries(user, p.Name, true), summaries(ownFusions(), p.Name, true)...), growth()...)
	case p.Rules != nil:
		return summaries(firstIn(p.Name), p.Name, false)
	case slices.Contains(passes.RuleNames(), p.Name):
		return []RuleSummary{{Name: p.Name, Kind: "code", Pass: p.Name, Doc: p.Doc, Patterns: []string{}, Where: []string{}, Safe: true}}
	}
	return nil
}

// firstIn lists npu's own rewrites that no pass before this one applies.
func firstIn(pass string) []*Rule {
	var rules []*Rule
	for _, row := range passes.Rules() {
		if row.Pass == pass {
			rules = append(rules, row.Rule)
		}
	}
	return rules
}

// The passes that apply a user's rules.
const (
	userPass   = "user-rules"
	fusionPass = "fuse"
)

func summaries(rules []*Rule, pass string, fusions bool) []RuleSummary {
	var list []RuleSummary
	for _, r := range rules {
		if r.Fusion() == fusions {
			list = append(list, summary(r, pass))
		}
	}
	return list
}

func summary(r *Rule, pass string) RuleSummary {
	s := RuleSummary{
		Name: r.Name, Kind: r.Kind(), Pass: pass, Doc: r.Doc, Patterns: []string{}, Where: []string{}, Guarded: r.When != nil,
		Closed: r.Closed || r.Fusion(), Safe: r.Safe, Within: r.Within, Liberty: r.Liberty, At: r.Pos.String(),
	}
	for _, p := range r.Forms() {
		s.Patterns = append(s.Patterns, p.String())
	}
	if r.Replace != nil {
		s.Replacement = r.Replace.String()
	}
	for _, t := range r.Where {
		s.Where = append(s.Where, t.String())
	}
	return s
}

func ownFusions() []*Rule {
	var rules []*Rule
	set, _ := fusion.NewSet(nil)
	for _, r := range set.Rules() {
		rules = append(rules, r.Rule)
	}
	return rules
}

// growth lists the rules of fusion that have no pattern.
func growth() []RuleSummary {
	named := ownFusions()
	var list []RuleSummary
	for _, s := range (&Options{}).FusionStatus() {
		if slices.ContainsFunc(named, func(r *Rule) bool { return r.Name == s.Rule }) {
			continue
		}
		list = append(list, RuleSummary{Name: s.Rule, Kind: "growth", Pass: fusionPass, Doc: s.Doc, Patterns: []string{s.Pattern}, Where: []string{}, Safe: true})
	}
	return list
}

// OwnRules lists npu's own rules that have patterns: rewrites in the order of the
// passes, then fusions by priority.
func OwnRules() []*Rule {
	var rules []*rewrite.Rule
	for _, row := range passes.Rules() {
		rules = append(rules, row.Rule)
	}
	return append(rules, ownFusions()...)
}

// FindRule looks a rule up by its name, the user's first. The error has the names
// that are near.
func FindRule(name string, user []*Rule) (*RuleSummary, error) {
	list := Rules(user)
	var names []string
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
		names = append(names, list[i].Name)
	}
	return nil, helped(unknown("rule", name, names), "npu rules lists all rules")
}
