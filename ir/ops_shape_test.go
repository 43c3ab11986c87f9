package ir_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
)

// groupsB are the groups of operators that this file's tests and those of the
// fixtures walk.
var groupsB = []string{"convolution", "shape", "index", "make"}

// rowsOf lists the operators of some groups.
func rowsOf(groups []string) []*ir.Op {
	var ops []*ir.Op
	for _, op := range ir.Ops() {
		if slices.Contains(groups, op.Group) {
			ops = append(ops, op)
		}
	}
	return ops
}

// TestMovesSampled is TestRowsSampled for these groups.
func TestMovesSampled(t *testing.T) {
	for _, op := range rowsOf(groupsB) {
		t.Run(op.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				c := op.Sample(r)
				c.Op = op
				checkSample(t, r, &c)
			}
		})
	}
}

// TestAliases finds an operator under each of its names.
func TestAliases(t *testing.T) {
	for alias, name := range map[string]string{"permute": "transpose", "broadcast_to": "expand"} {
		if op := ir.Lookup(alias); op == nil || op.Name != name {
			t.Errorf("Lookup(%q) = %v, want %s", alias, op, name)
		}
	}
}
