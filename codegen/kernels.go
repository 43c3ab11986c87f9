package codegen

import (
	"encoding/binary"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lower"
)

// Kernels and types are found by short keys in bytes, since a plan has many tasks
// and few kinds of them: texts are made for the first of each kind only.

// typ returns the number of a type in e.types.
func (e *emitter) typ(t ir.Type) int {
	key := append(e.key[:0], byte(t.DType))
	for _, d := range t.Shape {
		n, _ := d.Const()
		key = binary.AppendVarint(key, n)
	}
	e.key = key
	i, ok := e.typeIndex[string(key)]
	if !ok {
		i = len(e.types)
		e.typeIndex[string(key)] = i
		e.types = append(e.types, typeOf(t))
	}
	return i
}

func typeOf(t ir.Type) bytecode.Type {
	if t.Absent() {
		return bytecode.Type{Shape: []int{}}
	}
	return bytecode.Type{DType: t.DType, Shape: t.Ints()}
}

// rows are the types of a list.
func (e *emitter) rows(list []ir.Type) []bytecode.Type {
	out := make([]bytecode.Type, len(list))
	for i, t := range list {
		out[i] = e.types[e.typ(t)]
	}
	return out
}

// kernel returns the index of the kernel that runs a task; tasks that differ
// only in their operands share one. inPlace is the argument in whose memory the
// result lies.
func (e *emitter) kernel(t *lower.Task, inPlace int) int {
	c := t.Call
	key := append(e.kernelKey[:0], c.Op.Name...)
	key = append(key, 0, byte(t.Unit))
	key = binary.AppendVarint(key, int64(inPlace))
	for _, list := range [][]ir.Type{c.In, c.Out} {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, typ := range list {
			key = binary.AppendUvarint(key, uint64(e.typ(typ)))
		}
	}
	if len(c.Attrs) > 0 {
		key = append(key, c.Op.AttrsText(c.Attrs)...)
	}
	e.kernelKey = key
	i, ok := e.kernels[string(key)]
	if !ok {
		i = len(e.out.Kernels)
		e.kernels[string(key)] = i
		e.out.Kernels = append(e.out.Kernels, bytecode.Kernel{
			Op: c.Op.Name, Attrs: c.Op.AttrsText(c.Attrs), Unit: t.Unit.String(),
			In: e.rows(c.In), Out: e.rows(c.Out), InPlace: inPlace,
		})
		e.calls = append(e.calls, c)
	}
	return i
}
