package npu

import (
	"fmt"
	"runtime/debug"
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
		return "", unknown("operator", name, names)
	}
	return ir.Reference(op), nil
}

// Explain gives the long form of a diagnostic's code; the empty code lists all.
func Explain(code string) (string, error) {
	var names []string
	var list strings.Builder
	for _, c := range diag.Codes {
		if c.Name == code {
			return c.Doc, nil
		}
		names = append(names, c.Name)
		headline, _, _ := strings.Cut(c.Doc, "\n")
		fmt.Fprintf(&list, "%-20s %s\n", c.Name, headline)
	}
	if code == "" {
		return list.String(), nil
	}
	return "", unknown("code", code, names)
}

// unknown says that there is no such thing, and what comes near.
func unknown(kind, name string, known []string) error {
	d := &Diagnostic{Code: "unknown-name", Message: "unknown " + kind + " " + name}
	if near := diag.Suggest(name, known); near != "" {
		d.Helps = []string{"did you mean " + near + "?"}
	}
	return Diagnostics{d}
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
