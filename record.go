package npu

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/npulang/npu/fusion"
)

// Trace is one line for each rewrite, in the order in which they were made:
// pass, rule, the printed name of the value before the pass, how far results may
// be off by it, and the place in the source.
//
//	simplify  mul-one  %y  mlp.npu:3:9
//	raise     gelu     %h  within 1e-05  mlp.npu:4:9
func (r *Record) Trace() string {
	return align("llll", func(row func(...string)) {
		for _, w := range r.Rewrites {
			within := ""
			if w.Within > 0 {
				within = fmt.Sprintf("within %v  ", w.Within)
			}
			row(w.Pass, w.Rule, w.Value, within+w.Pos.String())
		}
	})
}

// Stats is a table of the passes: how many rewrites each made, how many values
// there were before and after it, and how long it took.
func (r *Record) Stats() string {
	return align("lrrrr", func(row func(...string)) {
		row("pass", "rewrites", "before", "after", "time")
		total := PassStat{Pass: "all"}
		for i, s := range r.Passes {
			row(statRow(s)...)
			if i == 0 {
				total.Before = s.Before
			}
			total.After = s.After
			total.Rewrites += s.Rewrites
			total.Time += s.Time
		}
		if len(r.Passes) > 0 {
			row(statRow(total)...)
		}
	})
}

func statRow(s PassStat) []string {
	return []string{s.Pass, fmt.Sprint(s.Rewrites), fmt.Sprint(s.Before), fmt.Sprint(s.After), s.Time.Round(time.Microsecond).String()}
}

// FusionTable tells of each fusion rule whether it is enabled, where its
// operators stand (matches) and how many regions came of it (effects); then of
// each candidate that was turned down, why. Rules without matches are left out
// unless all is set.
func (r *Record) FusionTable(all bool) string {
	rules, refused := 0, false
	table := align("lllrr", func(row func(...string)) {
		row("rule", "enabled", "required", "matches", "effects")
		for _, s := range r.Fusions {
			refused = refused || len(s.Refused) > 0
			if all || s.Matches > 0 {
				rules++
				row(s.Rule, yesNo(s.Enabled), yesNo(s.Required), fmt.Sprint(s.Matches), fmt.Sprint(s.Effects))
			}
		}
	})
	if rules == 0 {
		table = r.noMatches() + "\n"
	}
	if refused {
		table += "\nrefused\n" + align("llll", r.refusals)
	}
	return "fusion @" + r.Graph + "\n" + table
}

// noMatches says why the table of fusion rules is empty.
func (r *Record) noMatches() string {
	switch {
	case !slices.ContainsFunc(r.Passes, func(s PassStat) bool { return s.Pass == fusionPass }):
		return "nothing is fused: the pass fuse does not run"
	case !slices.ContainsFunc(r.Fusions, func(s FusionStatus) bool { return s.Enabled }):
		return "nothing is fused: every rule is off"
	}
	return "no rule matches"
}

// refusals are the rows of candidates that were turned down.
func (r *Record) refusals(row func(...string)) {
	for _, s := range r.Fusions {
		for _, n := range s.Refused {
			why := n.Code
			if n.Detail != "" {
				why += ": " + n.Detail
			}
			if n.Count > 1 {
				why += fmt.Sprintf(" (and %d more)", n.Count-1)
			}
			row("  "+s.Rule, n.Value, why, n.At)
		}
	}
}

// A FusionReason is a code of refusals, and what it means.
type FusionReason = fusion.Reason

// FusionReasons lists the codes of refusals, with what each means.
func FusionReasons() []FusionReason { return fusion.Reasons }

func yesNo(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }

// align lays rows of cells into columns, two blanks apart. Sides has a letter a
// column: l puts its cells at the left, r at the right.
func align(sides string, fill func(row func(...string))) string {
	var rows [][]string
	width := make([]int, len(sides))
	fill(func(cells ...string) {
		rows = append(rows, cells)
		for i, cell := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	})
	var b strings.Builder
	for _, cells := range rows {
		line := ""
		for i, cell := range cells {
			blanks := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if sides[i] == 'r' {
				cell, blanks = blanks+cell, ""
			}
			line += cell + blanks + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
