package passes

import (
	"slices"

	"github.com/npulang/npu/passes/rewrite"
)

// A RuleRow is a rule of the compiler's own with the pass that applies it.
type RuleRow struct {
	Pass string
	Rule *rewrite.Rule
}

// Rules lists the compiler's own rewrites in the order of the pipeline, each with
// the first pass that applies it. Those of passes with code of their own are not
// among them; see RuleNames.
func Rules() []RuleRow {
	var rows []RuleRow
	seen := map[*rewrite.Rule]bool{}
	for _, p := range Pipeline {
		if p.Rules == nil {
			continue
		}
		for _, r := range p.Rules(&Options{}) {
			if !seen[r] {
				seen[r] = true
				rows = append(rows, RuleRow{p.Name, r})
			}
		}
	}
	return rows
}

// codeRules are the passes of code that record rewrites under their own names;
// fold-again and merge-again go by those that they repeat.
var codeRules = []string{"fold-const", "merge-equal", "join-products", "drop-dead", "precision", "make-weights"}

// RuleNames lists the names of the compiler's own rewrites in the order of the
// pipeline: what a switch may name and a trace may hold.
func RuleNames() []string {
	var names []string
	rows := Rules()
	for _, p := range Pipeline {
		if slices.Contains(codeRules, p.Name) {
			names = append(names, p.Name)
		}
		for ; len(rows) > 0 && rows[0].Pass == p.Name; rows = rows[1:] {
			names = append(names, rows[0].Rule.Name)
		}
	}
	return names
}
