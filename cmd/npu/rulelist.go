package main

import (
	"fmt"
	"strings"

	"github.com/npulang/npu"
)

const (
	ruleWidth = 26 // of the column of names
	mostForms = 3  // that the list shows of one rule
)

// listRules prints the rules pass by pass.
func listRules(list []npu.RuleSummary) string {
	var b strings.Builder
	pass := ""
	for i := range list {
		r := &list[i]
		if r.Pass != pass {
			if pass != "" {
				b.WriteByte('\n')
			}
			pass = r.Pass
			fmt.Fprintf(&b, "pass %s: %s\n", pass, npu.PassDoc(pass))
		}
		b.WriteString(listRule(r))
	}
	return b.String()
}

// listRule is the entry of one rule.
func listRule(r *npu.RuleSummary) string {
	var b strings.Builder
	if r.Doc == "" {
		b.WriteString("  " + r.Name)
	} else {
		fmt.Fprintf(&b, "  %-*s  ", ruleWidth, r.Name)
		b.WriteString(indentRest(r.Doc, docColumns, ruleWidth+4))
	}
	b.WriteByte('\n')
	line := func(text string) {
		if text != "" {
			b.WriteString("      " + indentRest(text, patternColumns, 6) + "\n")
		}
	}
	for i, p := range r.Patterns {
		if i == mostForms && len(r.Patterns) > mostForms+1 {
			line(fmt.Sprintf("and %d more forms", len(r.Patterns)-i))
			break
		}
		if r.Replacement != "" {
			p += "  =>  " + r.Replacement
		}
		line(p)
	}
	line(conditions(r))
	return b.String()
}

// Columns of the parts of an entry.
const (
	docColumns     = helpWidth - ruleWidth - 4
	patternColumns = helpWidth - 6
)

// indentRest wraps a text; the lines after the first are indented by as much.
func indentRest(text string, width, by int) string {
	lines := strings.Split(wrap(text, width), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", by))
}

// conditions says when a rule runs, if there is anything to say.
func conditions(r *npu.RuleSummary) string {
	var parts []string
	for _, t := range r.Where {
		parts = append(parts, "where "+t)
	}
	switch {
	case r.Liberty != "":
		parts = append(parts, "fast-math: "+r.Liberty)
	case !r.Safe:
		parts = append(parts, "not safe: runs with --fusion all, or by name")
	case r.Within > 0:
		parts = append(parts, fmt.Sprintf("within %v", r.Within))
	}
	if r.At != "" {
		parts = append(parts, r.At)
	}
	return strings.Join(parts, "; ")
}

// describeRule is the long form of one rule.
func describeRule(r *npu.RuleSummary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, applied by the pass %s\n", r.Kind, r.Name, r.Pass)
	row := func(name string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				fmt.Fprintf(&b, "  %-8s  %s\n", name, indentRest(text, helpWidth-12, 12))
				name = ""
			}
		}
	}
	row("doc", r.Doc)
	row("matches", r.Patterns...)
	row("makes", made(r))
	row("where", r.Where...)
	if r.Guarded {
		row("guard", "a test in Go asks for more than the patterns say")
	}
	if r.Closed {
		row("closed", "no value inside may be read outside")
	}
	row("results", promise(r))
	row("switch", "--fusion all_safe,"+sign(r)+r.Name)
	row("at", r.At)
	return b.String()
}

// sign is what stands before a rule's name to change what the default mode does
// with it.
func sign(r *npu.RuleSummary) string {
	if r.Safe || r.Liberty != "" {
		return "-"
	}
	return ""
}

// made says what a rule puts in the place of a match.
func made(r *npu.RuleSummary) string {
	switch {
	case r.Replacement != "":
		return r.Replacement
	case r.Kind == "rewrite":
		return "what code in Go builds"
	case r.Kind == "fusion", r.Kind == "growth":
		return "one region, which runs as one kernel"
	}
	return ""
}

// promise says how far a rule keeps results.
func promise(r *npu.RuleSummary) string {
	switch {
	case r.Liberty != "":
		return "may differ, so that it runs only with --fast-math, or in a pass that is named: " + r.Liberty
	case !r.Safe:
		return "not promised to be the same: runs with --fusion all, or when it is named"
	case r.Within > 0:
		return fmt.Sprintf("within %v of the largest element (f32; as many roundings in other dtypes)", r.Within)
	}
	return "the same bits"
}
