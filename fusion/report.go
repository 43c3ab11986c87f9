package fusion

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// A Status tells about one rule, and what it did to a function.
type Status struct {
	Rule     string    `json:"rule"`
	Doc      string    `json:"doc"`
	Pattern  string    `json:"pattern"` // or, of a rule of growth, what it joins
	Enabled  bool      `json:"enabled"`
	Required bool      `json:"required"` // it cannot be switched off
	Matches  int       `json:"matches"`  // where its operators are
	Effects  int       `json:"effects"`  // regions that it made, or, of a rule of growth, how often it joined two
	Refused  []Refusal `json:"refused"`
}

// A Refusal is a candidate that was turned down. Of many with the same code the
// first few are there; the last of them counts the rest too.
type Refusal struct {
	Code   string   `json:"code"`   // shared-value, would-cycle, on-chip-budget, ...: Reasons has them
	Value  string   `json:"value"`  // the printed name of the value at which the rule matched
	Detail string   `json:"detail"` // the numbers: needs 393216, has 262144
	Pos    diag.Loc `json:"-"`
	At     string   `json:"at"`    // Pos as text
	Count  int      `json:"count"` // how many candidates it stands for
}

// A Reason is a code of refusals, and what it means.
type Reason struct{ Code, Doc string }

// Reasons holds the codes of refusals.
var Reasons = []Reason{
	{"disabled", "the rule, or one whose pattern the region would hold, is switched off"},
	{"not-safe", "the rule does not promise the same bits, and the mode is all_safe"},
	{"kept-apart", "the script says @fuse(off), has a region of its own for the values, or annotates them differently"},
	{"shared-value", "a value inside is read outside, or is a result"},
	{"taken", "an earlier rule has one of the operators"},
	{"would-cycle", "a value outside would have to run between two inside"},
	{"on-chip-budget", "the working set of the smallest tile, double buffering counted, is larger than the device's on-chip memory"},
	{"raises-peak", "more bytes would be live at once, and memory has priority"},
	{"no-path", "the device cannot hand the values from one unit to the other without memory"},
	{"dtype", "the device's cube does not compute with this dtype"},
	{"layout", "the shapes do not walk together: neither broadcast nor reduced along the last axis"},
	{"dearer", "the fused region would do more work, or read more bytes, than it saves"},
}

// keepRefusals is how many refusals of one rule and code are kept.
const keepRefusals = 8

// A tracker gathers what one rule did in all functions so far.
type tracker struct {
	Status
	kept map[string][]int // where the refusals of each code stand in Refused
}

// refuse notes a refusal at a value.
func (t *tracker) refuse(r *reason, name string, at *ir.Value) {
	kept := t.kept[r.code]
	if len(kept) == keepRefusals {
		t.Refused[kept[keepRefusals-1]].Count++
		return
	}
	if t.kept == nil {
		t.kept = map[string][]int{}
	}
	t.kept[r.code] = append(kept, len(t.Refused))
	loc := ""
	if at.Pos != (diag.Loc{}) {
		loc = at.Pos.String()
	}
	t.Refused = append(t.Refused, Refusal{Code: r.code, Value: name, Detail: r.detail, Pos: at.Pos, At: loc, Count: 1})
}

// A reason is why a candidate is turned down.
type reason struct {
	code   string
	detail string
}

// Status tells of every rule what it did in all functions so far: the named ones
// in order of priority, then those of growth.
func (u *Fuser) Status() []Status {
	var out []Status
	for _, t := range u.trackers {
		s := t.Status
		s.Refused = slices.Clone(s.Refused)
		out = append(out, s)
	}
	return out
}

// track makes the trackers of all rules.
func (u *Fuser) track() {
	add := func(s Status) *tracker {
		t := &tracker{Status: s}
		u.trackers = append(u.trackers, t)
		return t
	}
	for _, r := range u.set.rules {
		on, _ := u.options.enabled(r.Rule)
		u.named = append(u.named, add(Status{Rule: r.Name, Doc: r.Doc, Pattern: r.Match.String(), Enabled: on}))
	}
	for _, r := range growth {
		u.grown = append(u.grown, add(Status{Rule: r.name, Doc: r.doc, Pattern: r.joins, Enabled: u.options.grows(r)}))
	}
}
