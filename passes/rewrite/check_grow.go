package rewrite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	var args []operand
	if takesMany(op) && depth > 0 && d.chance(3) {
		args = d.parts()
	} else {
		args = d.operands(op, depth)
	}
	if len(args) == 0 && len(op.Args) > 0 {
		return nil
	}
	return d.draw(&node{kind: opNode, op: op, args: make([]*node, len(args)), attrs: d.sampledAttrs(op)}, args)
}

// operands are as many as a sample has: names, what other operators compute, and
// sometimes one value twice.
func (d *draft) operands(op *ir.Op, depth int) []operand {
	in := op.Sample(d.Rand).In
	args := make([]operand, len(in))
	for i, t := range in {
		if t.Absent() {
			continue
		}
		if depth > 0 && d.chance(2) {
			args[i].v = d.growAny(depth - 1)
		}
		if args[i].v == nil && i > 0 && args[i-1].v != nil && d.chance(3) {
			args[i].v = args[i-1].v
		}
		if args[i].v == nil {
			args[i].open = d.openName()
		}
	}
	return args
}

// takesMany reports whether the last operand of an operator may be many.
func takesMany(op *ir.Op) bool {
	if len(op.Args) == 0 {
		return false
	}
	_, _, variadic := ir.ArgKind(op.Args[len(op.Args)-1])
	return variadic
}

// parts drafts a call with several results, and has them read in their order.
func (d *draft) parts() []operand {
	if v := d.grow(splitting[d.IntN(len(splitting))], 0); v == nil {
		return nil
	}
	var out []operand
	for i := len(d.f.Body) - 1; i >= 0; i-- {
		v := d.f.Body[i]
		out = append(out, operand{v: v})
		if v.Op.Flags&ir.Projection == 0 {
			break
		}
	}
	slices.Reverse(out)
	return out
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
// moves elements, or computes them one by one; or of one that the rule's forms
// name, or that was part of a graph that it has changed before.
func (d *draft) growAny(depth int) *ir.Value {
	ops := grown()
	switch d.IntN(4) {
	case 0:
		ops = orElse(d.own, ops)
	case 1, 2:
		ops = orElse(d.liked, ops)
	}
	return d.grow(ops[d.IntN(len(ops))], depth)
}

func orElse(some, all []*ir.Op) []*ir.Op {
	if len(some) > 0 {
		return some
	}
	return all
}

// about lists the operators that a rule names in its forms, and in its own name,
// as slice-of-concat and conv-batchnorm do, whose forms are one operator with
// whatever it reads.
func (r *Rule) about() []*ir.Op {
	var out []*ir.Op
	for _, p := range r.Forms() {
		out = append(out, p.Ops()...)
	}
	for _, word := range strings.FieldsFunc(r.Name, func(c rune) bool { return c == '-' || c == '_' }) {
		word = strings.ToLower(word)
		if op := cmp.Or(ir.Lookup(word), ir.Lookup(strings.TrimSuffix(word, "s"))); op != nil {
			out = append(out, op)
		}
	}
	return out
}

// like remembers what a graph that the rule changes is made of.
func (c *checker) like(f *ir.Func) {
	for _, v := range f.Body {
		if len(c.liked) < mostLiked && !slices.Contains(c.liked, v.Op) {
			c.liked = append(c.liked, usable([]*ir.Op{v.Op})...)
		}
	}
}

// usable picks the operators that a graph may grow by.
func usable(ops []*ir.Op) []*ir.Op {
	var out []*ir.Op
	for _, op := range ops {
		if op.Sample != nil && op.Flags&(ir.Impure|ir.Unbound|ir.Projection) == 0 {
			out = append(out, op)
		}
	}
	return out
}

// mostLiked bounds the list: operators that were only there besides count too.
const mostLiked = 12

// grown lists these operators, those that move elements thrice, and products and
// those that make a tensor of nothing.
var grown = sync.OnceValue(func() []*ir.Op {
	var ops []*ir.Op
	for _, op := range usable(ir.Ops()) {
		switch {
		case op.Class == ir.Move:
			ops = append(ops, op, op, op)
		case op.Class == ir.Elementwise, op.Class == ir.Contract, op.Class == ir.Source && op.Group == "make":
			ops = append(ops, op)
		}
	}
	return ops
})

// splitting are the operators that take a value apart.
var splitting = []*ir.Op{ir.Split, ir.Chunk}
