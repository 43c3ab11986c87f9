package main

import (
	"bytes"
	"fmt"

	"github.com/npulang/npu/ir"
)

// reference writes docs/ops.md: the operators by group, then by name.
func reference() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Operators\n\nGenerated from the operator table by `go run ./ir/gen`. `npu ops NAME` prints one entry.\n")
	group := ""
	for _, op := range ir.Ops() {
		if op.Group != group {
			group = op.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s", op.Name, ir.Reference(op))
	}
	return b.Bytes(), nil
}
