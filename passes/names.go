package passes

// codeRules are the rules that passes of code record, beside those of tables.
var codeRules = []string{"fold-const", "merge-equal", "join-products", "drop-dead"}

// RuleNames lists the names of the compiler's own rewrites, each once, in the
// order of the pipeline: what a switch may name and a trace may hold.
func RuleNames() []string {
	names := append([]string(nil), codeRules...)
	seen := map[string]bool{}
	for _, row := range Rules() {
		if !seen[row.Rule.Name] {
			seen[row.Rule.Name] = true
			names = append(names, row.Rule.Name)
		}
	}
	return names
}
