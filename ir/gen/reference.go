package main

import (
	"bytes"
	"fmt"

	"github.com/npulang/npu/ir"
)

// reference writes docs/ops.md: the operators by group, in the table's order.
func reference() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Operators\n\nGenerated from the operator table by `go run ./ir/gen`. `npu ops NAME` prints one entry.\n")
	var groups []string
	members := map[string][]*ir.Op{}
	for _, op := range ir.Ops() {
		if members[op.Group] == nil {
			groups = append(groups, op.Group)
		}
		members[op.Group] = append(members[op.Group], op)
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n", g)
		for _, op := range members[g] {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", op.Name, ir.Reference(op))
		}
	}
	return b.Bytes(), nil
}
