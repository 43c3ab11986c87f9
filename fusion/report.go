package fusion

import "github.com/npulang/npu/ir/diag"

// A Status tells about one rule, and what it did to a function.
type Status struct {
	Rule     string    `json:"rule"`
	Doc      string    `json:"doc"`
	Pattern  string    `json:"pattern"` // or, of a rule of growth, what it joins
	Enabled  bool      `json:"enabled"`
	Required bool      `json:"required"` // it cannot be switched off
	Matches  int       `json:"matches"`  // where its operators are
	Effects  int       `json:"effects"`  // regions that it made, or values that it added to one
	Refused  []Refusal `json:"refused"`
}

// A Refusal is a candidate that was turned down.
type Refusal struct {
	Code   string   `json:"code"`   // shared-value, would-cycle, on-chip-budget, ...: Reasons has them
	Value  string   `json:"value"`  // the printed name of the value at which the rule matched
	Detail string   `json:"detail"` // the numbers: needs 393216, has 262144
	Pos    diag.Loc `json:"-"`
	At     string   `json:"at"` // Pos as text
}

// Reasons holds the codes of refusals, with what each means.
var Reasons = []struct{ Code, Doc string }{
	{"disabled", "the rule, or one whose pattern the region would hold, is switched off"},
	{"not-safe", "the rule does not promise the same bits, and the mode is all_safe"},
	{"kept-apart", "the script says @fuse(off), or puts the values into different groups"},
	{"shared-value", "a value inside is read outside, or is a result"},
	{"would-cycle", "a value outside would have to run between two inside"},
	{"on-chip-budget", "the working set of the smallest tile, double buffering counted, is larger than the device's on-chip memory"},
	{"raises-peak", "more bytes would be live at once, and memory has priority"},
	{"no-path", "the device cannot hand the values from one unit to the other without memory"},
	{"too-many-inputs", "the region would read more values than a kernel of the device can"},
	{"dtype", "the kernel does not compute with this dtype"},
	{"layout", "the shapes do not walk together: neither broadcast nor reduced along the last axis"},
	{"dearer", "the fused region would do more work than it saves"},
}
