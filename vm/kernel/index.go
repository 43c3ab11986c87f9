package kernel

import (
	"iter"
	"maps"
	"sync"

	"github.com/npulang/npu/ir"
)

// Traits are what operators may be for the rows of the table, so that a row is asked
// only for bodies that it could take.
type traits uint32

const (
	aMove     traits = 1 << iota // elements change places
	anElement                    // element by element
	aProduct
	aConvolution
	aPool
	anIndex // by tensors of indices
	anOrder
	aCumulation
	aRope
	anAttention
	aNorm
	aReduction
	anything traits = 1<<32 - 1
)

// traitsOf has those of all operators.
var traitsOf = sync.OnceValue(func() map[*ir.Op]traits {
	of := map[*ir.Op]traits{}
	for _, op := range ir.Ops() {
		if op.Class == ir.Elementwise {
			of[op] = anElement
		}
		if op.Class == ir.Move || op.Flags&ir.View != 0 {
			of[op] = aMove
		}
	}
	mark := func(t traits, names iter.Seq[string]) {
		for name := range names {
			of[ir.Lookup(name)] |= t
		}
	}
	mark(aMove, maps.Keys(movers))
	mark(aProduct, maps.Keys(products))
	mark(aPool, maps.Keys(pools))
	mark(anIndex, maps.Keys(indexers))
	mark(anOrder, maps.Keys(sorters))
	mark(aNorm, maps.Keys(rowNorms))
	mark(aNorm, maps.Keys(channelNorms))
	mark(aReduction, maps.Keys(reductions))
	for name, t := range map[string]traits{"bitcast": aMove, "conv": aConvolution, "cumsum": aCumulation, "cumprod": aCumulation, "rope": aRope, "attention": anAttention} {
		of[ir.Lookup(name)] |= t
	}
	return of
})

// A profile is the traits of a body's operators.
type profile struct {
	all  traits // those of any of them
	each []traits
}

// profileOf finds the traits of a body's operators; room is used if it is enough.
func profileOf(b *Body, room []traits) profile {
	of := traitsOf()
	p := profile{each: room[:0]}
	for i := range b.Ops {
		t := aMove // what a view is
		if c := b.Ops[i].Call; c != nil {
			t = of[c.Op]
		}
		p.all |= t
		p.each = append(p.each, t)
	}
	return p
}

// A reach says for which bodies a row is asked: those with an operator of the heart
// whose others are of the heart or of the rest. The zero value is all bodies.
type reach struct {
	heart, rest traits
	alone       bool // bodies of one operator only
}

// holds reports whether a body is within reach.
func (r *reach) holds(p *profile) bool {
	switch {
	case r.alone && len(p.each) != 1:
		return false
	case r.heart == 0:
		return true
	case p.all&r.heart == 0:
		return false
	case r.rest == anything:
		return true
	}
	for _, t := range p.each {
		if t&(r.heart|r.rest) == 0 {
			return false
		}
	}
	return true
}
