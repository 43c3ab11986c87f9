package rewrite

import (
	"fmt"
	"sync"

	"github.com/npulang/npu/ir"
)

// growDepth is how many operators stand one above the other where a pattern says
// nothing.
const growDepth = 2

// grow drafts a call of an operator whose arguments a pattern leaves open, some
// of them computed by other operators:
//
//	concat(...)  =>  %0 = slice %x0 {...}
//	                 %1 = concat %0, %x1 {axis=1}
//
// It is nil if nothing legal has come about.
func (d *draft) grow(op *ir.Op, depth int) *ir.Value {
	if op.Sample == nil || len(op.Regions) > 0 {
		return nil
	}
	shape := op.Sample(d.Rand)
	n := &node{kind: opNode, op: op, args: make([]*node, len(shape.In)), attrs: d.sampledAttrs(op)}
	args := make([]operand, len(shape.In))
	for i, t := range shape.In {
		if t.Absent() {
			continue
		}
		if depth > 0 && d.chance(2) {
			args[i].v = d.growAny(depth - 1)
		}
		if args[i].v == nil && i > 0 && args[i-1].v != nil && d.chance(3) {
			args[i].v = args[i-1].v // read twice
		}
		if args[i].v == nil {
			args[i].open = d.openName()
		}
	}
	for range triesPerCall {
		if c := d.sample(n, args); c != nil {
			return d.commit(n, c, args)
		}
	}
	return nil
}

// sampledAttrs leaves every attribute to the samples: each is a name of its own.
func (d *draft) sampledAttrs(op *ir.Op) []attr {
	out := make([]attr, len(op.Attrs))
	for i := range out {
		out[i] = attr{named: true, id: d.newName("")}
	}
	return out
}

// newName adds a name to those of the pattern.
func (d *draft) newName(text string) int {
	d.values = append(d.values, nil)
	d.lits = append(d.lits, bound{})
	d.names = append(d.names, text)
	return len(d.names) - 1
}

func (d *draft) openName() *node {
	return &node{kind: nameNode, id: d.newName(fmt.Sprintf("x%d", len(d.names)))}
}

// growAny drafts a call of an operator that rewrites are often about: one that
// moves elements, or computes them one by one.
func (d *draft) growAny(depth int) *ir.Value {
	ops := grown()
	return d.grow(ops[d.IntN(len(ops))], depth)
}

// grown lists these operators, those that move elements thrice.
var grown = sync.OnceValue(func() []*ir.Op {
	var ops []*ir.Op
	for _, op := range ir.Ops() {
		switch {
		case op.Sample == nil || op.Flags&(ir.Impure|ir.Unbound|ir.Projection) != 0:
		case op.Class == ir.Move:
			ops = append(ops, op, op, op)
		case op.Class == ir.Elementwise:
			ops = append(ops, op)
		}
	}
	return ops
})
