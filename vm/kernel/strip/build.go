package strip

import (
	"fmt"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/vec"
)

// An Elem is the type of the elements in memory.
type Elem uint8

// The types of elements. Inside, a half float is a float, a byte an int32, of which
// the lowest byte is kept, and a Bool is a lane of all ones or zeros.
const (
	F32 Elem = iota
	I32
	Bool
	F16
	BF16
	I8
	U8
)

// elems has an element's size in bytes, the codes that bring it into a lane and back, and
// the one, if any, that does to a lane what going there and back does.
var elems = [...]struct {
	size       int
	load, save vec.Code
	round      vec.Code
}{
	F32:  {4, vec.Load, vec.Save, 0},
	I32:  {4, vec.Load, vec.Save, 0},
	Bool: {1, vec.LoadBool, vec.SaveBool, 0},
	F16:  {2, vec.LoadF16, vec.SaveF16, vec.RoundF16},
	BF16: {2, vec.LoadBF16, vec.SaveBF16, vec.RoundBF16},
	I8:   {1, vec.LoadI8, vec.SaveByte, 0},
	U8:   {1, vec.LoadU8, vec.SaveByte, 0},
}

// Size is the size of an element in bytes.
func (e Elem) Size() int { return elems[e].size }

// A Value names what a builder's inputs, constants and operators give.
type Value int

// A node is a value's origin: an input, a constant, or an operator.
type node struct {
	kind nodeKind
	elem Elem     // of an input
	code vec.Code // of an operator
	args [3]Value
	n    int // how many arguments
	bits uint32
	view int // of an input: which one
}

type nodeKind uint8

const (
	input nodeKind = iota
	constant
	operator
)

type result struct {
	value Value
	elem  Elem
}

// A Builder collects the operators of a program, each after those it reads.
type Builder struct {
	level   isa.Level
	nodes   []node
	consts  map[uint32]Value
	inputs  []Elem
	results []result
}

// New begins a program for a level that the processor has.
func New(level isa.Level) *Builder {
	return &Builder{level: level, consts: map[uint32]Value{}}
}

func (b *Builder) add(n node) Value {
	b.nodes = append(b.nodes, n)
	return Value(len(b.nodes) - 1)
}

// Input is the next operand of Box.
func (b *Builder) Input(e Elem) Value {
	b.inputs = append(b.inputs, e)
	return b.add(node{kind: input, elem: e, view: len(b.inputs) - 1})
}

// Op is a code of values: the accumulator's first, then its operands.
func (b *Builder) Op(code vec.Code, args ...Value) Value {
	n := node{kind: operator, code: code, n: len(args)}
	copy(n.args[:], args)
	return b.add(n)
}

// Result makes a value the next result of Box, which follow the operands.
func (b *Builder) Result(v Value, e Elem) { b.results = append(b.results, result{v, e}) }

// check refuses what Compile can't take.
func (b *Builder) check() error {
	for i, n := range b.nodes {
		if n.kind != operator {
			continue
		}
		if n.n != n.code.Args()+1 {
			return fmt.Errorf("%s has %d arguments, not %d", n.code.Name(), n.code.Args()+1, n.n)
		}
		for _, a := range n.args[:n.n] {
			if a < 0 || int(a) >= i {
				return fmt.Errorf("%s reads value %d, which does not come before it", n.code.Name(), a)
			}
		}
	}
	for _, r := range b.results {
		if r.value < 0 || int(r.value) >= len(b.nodes) {
			return fmt.Errorf("result %d is not a value", r.value)
		}
	}
	if len(b.results) == 0 {
		return fmt.Errorf("a program without results")
	}
	return nil
}
