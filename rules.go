package npu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
	"github.com/npulang/npu/passes/rewrite"
)

// ParseRules reads a file of rules: rewrite and fusion declarations, as a script
// may have them too, and nothing else. The rules go into Options.Rules. All
// mistakes of the file are in the error, a Diagnostics; the warnings come apart.
//
// A rewrite that says safe is checked on random graphs before it is applied; see
// CheckRule.
func ParseRules(src Source) ([]*Rule, Diagnostics, error) { return readRules(src, false) }

// ScriptRules reads the rules of a script, or of a file of rules, and leaves the
// rest of the script aside, mistakes in it too.
func ScriptRules(src Source) ([]*Rule, Diagnostics, error) { return readRules(src, true) }

func readRules(src Source, script bool) ([]*Rule, Diagnostics, error) {
	t, err := src.open()
	if err != nil {
		return nil, nil, asDiagnostics(err)
	}
	if t.file != nil || t.graph != nil || t.isIR() {
		return nil, nil, Diagnostics{{Code: "bad-file", Loc: diag.Loc{File: t.name}, Message: "the file holds a program and no rules",
			Helps: []string{"rules are written as rewrite NAME { pattern => replacement } and fusion NAME { pattern }"}}}
	}
	file, ds := syntax.Parse(t.source())
	var rules []*Rule
	for _, d := range file.Decls {
		decl, ok := d.(*syntax.RuleDecl)
		switch {
		case ok:
			r, found := rewrite.Compile(decl)
			ds = append(ds, found...)
			if r != nil {
				rules = append(rules, r)
			}
		case !script:
			ds = append(ds, &Diagnostic{Code: "bad-file", Span: firstLine(d.Span()), Message: "a file of rules holds rewrites and fusions only",
				Helps: []string{"keep rules that one program needs in its script, where they are applied as well"}})
		}
	}
	ds = append(ds, repeated(rules)...).Sort()
	if err := ds.Err(); err != nil {
		return nil, nil, err
	}
	return rules, ds, nil
}

// firstLine is the beginning of a declaration.
func firstLine(s diag.Span) diag.Span {
	if end := strings.IndexByte(s.Src.Text[s.Start:s.End], '\n'); end >= 0 {
		s.End = s.Start + end
	}
	return s
}

// repeated reports rules that have the name of one before them, or one that no switch
// could name. The names of npu's own rules are free: a user's is tried before them.
func repeated(rules []*Rule) Diagnostics {
	var ds Diagnostics
	first := map[string]*Rule{}
	for _, r := range rules {
		f := first[r.Name]
		if r.Name == switchAll || slices.Contains(modeNames(), r.Name) {
			d := ruleDiagnostic(r, "duplicate-name", fmt.Sprintf("%s is what switches call many rules, and cannot name one", r.Name))
			d.Helps = []string{"choose another name"}
			ds = append(ds, d)
			continue
		}
		if f == nil {
			first[r.Name] = r
			continue
		}
		d := ruleDiagnostic(r, "duplicate-name", fmt.Sprintf("two rules are named %s", r.Name))
		if at := f.Span(); at.Src != nil {
			d.Witnesses = []diag.Label{{Span: at, Text: "first declared here"}}
		}
		ds = append(ds, d)
	}
	return ds
}

// ruleDiagnostic is a diagnostic about a rule, at its name.
func ruleDiagnostic(r *Rule, code, message string) *Diagnostic {
	return &Diagnostic{Code: code, Span: r.Span(), Loc: r.Pos, Message: message}
}
