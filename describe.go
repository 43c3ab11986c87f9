package npu

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// An OpSummary is a line of the operator table.
type OpSummary struct {
	Name, Group, Signature, Unit, Doc string
}

// Ops lists the operators in the table's order.
func Ops() []OpSummary {
	var list []OpSummary
	for _, op := range ir.Ops() {
		list = append(list, OpSummary{op.Name, op.Group, op.Signature(), op.Unit.String(), op.Doc})
	}
	return list
}

// OpReference describes one operator: arguments, attributes, dtypes, results.
func OpReference(name string) (string, error) {
	op := ir.Lookup(name)
	if op == nil {
		var names []string
		for _, op := range ir.Ops() {
			names = append(names, op.Name)
		}
		return "", helped(unknown("operator", name, names), "npu ops lists all operators")
	}
	return ir.Reference(op), nil
}

// Explain gives the long form of a diagnostic's code; the empty code lists all
// with the beginning of theirs, in 100 columns.
func Explain(code string) (string, error) {
	if code == "" {
		var list strings.Builder
		for i := range diag.Codes {
			fmt.Fprintf(&list, "%-*s %s\n", codeWidth, diag.Codes[i].Name, headline(diag.Codes[i].Doc))
		}
		return list.String(), nil
	}
	c := diag.FindCode(code)
	if c == nil {
		return "", helped(unknown("code", code, diag.CodeNames()), "npu explain lists all codes")
	}
	return c.Page(), nil
}

// Widths of the list of codes.
const (
	codeWidth     = 20
	headlineWidth = 100 - codeWidth - 1
)

// headline is the beginning of a text up to its first stop, in the second
// column of the list.
func headline(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if end := stop.FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > headlineWidth:
			b.WriteString("\n" + strings.Repeat(" ", codeWidth+1))
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// stop ends a clause that can stand alone.
var stop = regexp.MustCompile(`[.:;]( |$)`)

// unknown says that there is no such thing, and what comes near.
func unknown(kind, name string, known []string) error {
	d := &Diagnostic{Code: "unknown-name", Message: "unknown " + kind + " " + name}
	suggest(d, name, known)
	return Diagnostics{d}
}

// helped adds a help where there is none.
func helped(err error, help string) error {
	if d := AsDiagnostic(err); len(d.Helps) == 0 {
		d.Helps = []string{help}
	}
	return err
}

// fewNames is how many names a note lists.
const fewNames = 12

// suggest adds the known name that comes near, else all that there are if they
// are few.
func suggest(d *Diagnostic, name string, known []string) {
	near := diag.Suggest(name, known)
	switch {
	case near != "":
		d.Helps = append(d.Helps, "did you mean "+near+"?")
	case len(known) == 0:
		d.Notes = append(d.Notes, "there is none")
	case len(known) <= fewNames:
		d.Notes = append(d.Notes, "there is "+strings.Join(known, ", "))
	default:
		if kin := akin(name, known); len(kin) > 0 && len(kin) <= fewNames {
			d.Notes = append(d.Notes, "there is "+strings.Join(kin, ", "))
		}
	}
}

// akin lists the known names that have a word in common with name: shape-mismatch
// and rank-mismatch for mismatch, conv for conv2d.
func akin(name string, known []string) []string {
	if len(name) < 3 {
		return nil
	}
	name = strings.ToLower(name)
	return slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		return !strings.Contains(k, name) && (len(k) < 3 || !strings.HasPrefix(name, k))
	})
}

// Version is the version of npu in this binary, as Go's build recorded it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if info.Main.Path == "github.com/npulang/npu" {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/npulang/npu" {
			return dep.Version
		}
	}
	return "(unknown)"
}
