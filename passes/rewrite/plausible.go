package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// plausibleDepth is how many operators deep plausible looks. Two tell nearly all
// patterns that begin with the same operator apart.
const plausibleDepth = 2

// plausible reports whether the operators of a pattern may be there, without
// looking at anything else, and without allocating: most patterns that are tried
// end here. It never turns down a match.
//
//	relu(bias_add(matmul(a, b), c))    is no match of    %2 = relu %1,  %1 = exp %0
func (n *node) plausible(v *ir.Value, depth int) bool {
	if n == nil || n.kind != opNode || n.optional {
		return true // perhaps absent, or any value
	}
	if v == nil || v.Op != n.op {
		return false
	}
	if n.open || depth == 0 {
		return true
	}
	for i, a := range n.args {
		if a == nil || a.kind != opNode || a.optional {
			continue
		}
		if n.op.Flags&ir.Commutative != 0 {
			if !slices.ContainsFunc(v.Args, func(x *ir.Value) bool { return a.plausible(x, depth-1) }) {
				return false
			}
			continue
		}
		if i >= len(v.Args) || !a.plausible(v.Args[i], depth-1) {
			return false
		}
	}
	return true
}
