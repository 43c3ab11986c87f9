package kernel

import (
	"fmt"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// Bind makes the call of an operator out of its text in bytecode: its name,
// its attributes as the IR prints them between braces, and the types of its
// arguments (the zero Type for one that is absent) and results, all without
// symbols. The call is legal: the operator itself has inferred the results. The
// error is a *diag.Diagnostic of code bad-bytecode.
func Bind(op, attrs string, in, out []ir.Type) (*ir.Call, error) {
	row := ir.Lookup(op)
	if row == nil || row.Name != op || row.Class == ir.Region || row.Eval == nil {
		return nil, fault("there is no operator %q that a kernel could run", op)
	}
	// The reader of the IR knows best how attributes are written, so it is given
	// a function with this one operator in it.
	fs, ds := ir.ParseFuncs(diag.NewSource("kernel", source(op, attrs, in, out)))
	if err := ds.Err(); err != nil {
		return nil, fault("kernel %s %q: %s", op, attrs, firstLine(err))
	}
	if len(fs) != 1 || len(fs[0].Body) != len(out) || len(out) == 0 || fs[0].Body[0].Op != row {
		return nil, fault("kernel %s %q is not one operator", op, attrs)
	}
	c, err := fs[0].Body[0].Call().Bind(nil)
	if err == nil {
		err = ir.InferCall(c)
	}
	if err != nil {
		return nil, fault("kernel %s %q: %s", op, attrs, firstLine(err))
	}
	if !sameTypes(c.In, in) || !sameTypes(c.Out, out) {
		return nil, fault("kernel %s %q takes or gives other types than the bytecode says", op, attrs)
	}
	return c, nil
}

func fault(format string, args ...any) error {
	return &diag.Diagnostic{Code: "bad-bytecode", Message: fmt.Sprintf(format, args...)}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// sameTypes compares types; absent arguments at the end may be left out.
func sameTypes(got, want []ir.Type) bool {
	for len(want) > len(got) && want[len(want)-1].Absent() {
		want = want[:len(want)-1]
	}
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if !got[i].Equal(want[i]) {
			return false
		}
	}
	return true
}

// source writes a function of one operator.
func source(op, attrs string, in, out []ir.Type) string {
	var params, args, results []string
	for i, t := range in {
		if t.Absent() {
			args = append(args, "_")
			continue
		}
		params = append(params, fmt.Sprintf("%%a%d: %s", i, t))
		args = append(args, fmt.Sprintf("%%a%d", i))
	}
	types := make([]string, len(out))
	for i, t := range out {
		types[i] = t.String()
		results = append(results, fmt.Sprintf("%%r%d", i))
	}
	if attrs != "" {
		attrs = " {" + attrs + "}"
	}
	all := strings.Join(types, ", ")
	made := strings.Join(results, ", ")
	return fmt.Sprintf("func @k(%s) -> (%s) {\n  %s = %s %s%s : %s\n  return %s\n}\n",
		strings.Join(params, ", "), all, made, op, strings.Join(args, ", "), attrs, all, made)
}
