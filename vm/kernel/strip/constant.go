package strip

import (
	"math"

	"github.com/npulang/npu/vm/kernel/vec"
)

// Const is a float that is the same for all elements.
func (b *Builder) Const(v float32) Value { return b.Bits(math.Float32bits(v)) }

// Int is an int32 that is the same for all elements.
func (b *Builder) Int(v int32) Value { return b.Bits(uint32(v)) }

// Truth is a bool that is the same for all elements.
func (b *Builder) Truth(v bool) Value {
	if v {
		return b.Bits(vec.Ones)
	}
	return b.Bits(0)
}

// Bits is a lane that is the same for all elements.
func (b *Builder) Bits(v uint32) Value {
	if have, ok := b.consts[v]; ok {
		return have
	}
	b.consts[v] = b.add(node{kind: constant, bits: v})
	return b.consts[v]
}

// blocksOf fills blocks with the constants, in the order of the nodes.
func (b *Builder) blocksOf() (blocks []vec.Block, at map[Value]int) {
	at = map[Value]int{}
	blocks = vec.Aligned(len(b.consts))
	for v, n := range b.nodes {
		if n.kind == constant {
			blocks[len(at)].Fill(math.Float32frombits(n.bits))
			at[Value(v)] = len(at)
		}
	}
	return blocks, at
}
