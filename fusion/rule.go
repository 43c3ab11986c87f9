package fusion

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes/rewrite"
)

// A Rule is one row of the table of fusions: operators that a pattern names go
// to one kernel.
type Rule struct {
	*rewrite.Rule
	Unit ir.Unit // that runs the kernel
	// Together is a name of the pattern, or empty. All matches for which it stands
	// for the same value make one region: products that read the same data. One
	// match alone is none.
	Together string
	// Through says that the kernel takes tiles from one unit to the other through
	// memory by itself, so that it needs no path between them.
	Through bool
	// Shares says that values inside which are read outside are results of the region
	// as well.
	Shares bool
}

// cube makes a row whose kernel runs on the cube. The text is a pattern with its
// tests, as in a rule of the language; also are further patterns. Two words stand
// for what exporters write in several ways, each of which becomes a form:
//
//	product(x, w)    matmul(x, w), linear(x, w)
//	biased(x, w, c)  bias_add(matmul(x, w), c), bias_add(linear(x, w), c), linear(x, w, c)
//
// Their sums have any dtype; those of two products of a pattern have the same.
func cube(name, doc, text string, also ...string) *Rule {
	return &Rule{Rule: own(name, doc, text, also), Unit: ir.Cube}
}

// vector is cube for kernels of the vector unit.
func vector(name, doc, text string, also ...string) *Rule {
	return &Rule{Rule: own(name, doc, text, also), Unit: ir.Vector}
}

// together lets all matches with the same value for a name be one region.
func (r *Rule) together(name string) *Rule { r.Together = name; return r }

// through says that the kernel goes through memory by itself.
func (r *Rule) through() *Rule { r.Through = true; return r }

// shares makes results of values inside that are read outside.
func (r *Rule) shares() *Rule { r.Shares = true; return r }

// when adds a guard in Go.
func (r *Rule) when(guard func(*rewrite.Match) bool) *Rule { r.When = guard; return r }

func own(name, doc, text string, also []string) *rewrite.Rule {
	pattern, tests := text, ""
	if at := whereLine.FindStringIndex(text); at != nil {
		pattern, tests = text[:at[0]], text[at[0]:]
	}
	var all []string
	for _, p := range append([]string{pattern}, also...) {
		all = append(all, written(p)...)
	}
	r := rewrite.Own(name, doc, all[0]+tests).Or(all[1:]...)
	r.Safe = true // outlining changes no bits, whatever the pattern
	return r
}

var whereLine = regexp.MustCompile(`(?m)^\s*(where|safe)\b`)

// A form replaces one of the two words.
type form struct {
	word *regexp.Regexp
	text string
}

var (
	productWord = regexp.MustCompile(`\bproduct\(([^(),]+), ([^(),]+)\)`)
	biasedWord  = regexp.MustCompile(`\bbiased\(([^(),]+), ([^(),]+), ([^(),]+)\)`)
)

// writings lists how products are written; a pattern takes one way throughout.
var writings = [][]form{
	{{productWord, "matmul($1, $2, dtype=sums)"}, {biasedWord, "bias_add(matmul($1, $2, dtype=sums), $3)"}},
	{{productWord, "linear($1, $2, dtype=sums)"}, {biasedWord, "linear($1, $2, $3, dtype=sums)"}},
	{{productWord, "linear($1, $2, dtype=sums)"}, {biasedWord, "bias_add(linear($1, $2, dtype=sums), $3)"}},
}

// written lists the forms of a pattern with its words replaced, each once.
func written(pattern string) []string {
	if !strings.Contains(pattern, "product(") && !strings.Contains(pattern, "biased(") {
		return []string{pattern} // most are such, and a table is made while a compilation waits
	}
	var out []string
	seen := map[string]bool{}
	for _, forms := range writings {
		text := pattern
		for _, f := range forms {
			text = f.word.ReplaceAllString(text, f.text)
		}
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// A Set is the rules of one compilation: a user's before the compiler's own,
// since who writes a rule means it.
type Set struct {
	rules []*Rule
	users int // how many of these are the user's: the first ones
}

// NewSet joins a user's fusions with Rules. Rewrites among them are left out:
// they are a pass's. A user's rule stands for the compiler's own of its name; two
// of a user's with one name are an error at the second.
func NewSet(user []*rewrite.Rule) (*Set, diag.List) {
	s := &Set{}
	var errs diag.List
	seen := map[string]diag.Loc{}
	for _, r := range user {
		if !r.Fusion() {
			continue
		}
		if first, twice := seen[r.Name]; twice {
			errs = append(errs, duplicate(r, first))
			continue
		}
		seen[r.Name] = r.Pos
		s.rules = append(s.rules, &Rule{Rule: r, Unit: unitOf(r.Match)})
	}
	s.users = len(s.rules)
	for _, r := range Rules() {
		if _, replaced := seen[r.Name]; !replaced {
			s.rules = append(s.rules, r)
		}
	}
	return s, errs
}

func duplicate(r *rewrite.Rule, first diag.Loc) *diag.Diagnostic {
	return &diag.Diagnostic{
		Code: "duplicate-name", Loc: r.Pos, Message: fmt.Sprintf("two fusions are named %s", r.Name),
		Notes: []string{fmt.Sprintf("the other is at %s", first)},
	}
}

// unitOf is the unit of a user's rule: Cube if one of its operators needs it,
// since the others can ride in a product's epilogue.
func unitOf(p *rewrite.Pattern) ir.Unit {
	for _, op := range p.Ops() {
		if op.Unit == ir.Cube {
			return ir.Cube
		}
	}
	return ir.Vector
}

// Rules lists the set in order of priority.
func (s *Set) Rules() []*Rule { return s.rules }
