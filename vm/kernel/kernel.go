package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A Kind says how far a kernel is from the operator's definition.
type Kind uint8

const (
	Reference Kind = iota // the operator's own evaluation
	Generic               // portable Go
	Fast                  // assembly
)

func (k Kind) String() string {
	return [...]string{Reference: "reference", Generic: "generic", Fast: "fast"}[k]
}

// A Kernel is one row: code for the calls of one operator that it accepts.
type Kernel struct {
	For  string // the operator's name; empty: any operator
	Name string // op/dtype/isa: "matmul/f32/avx2"; of a row for any operator the part behind the operator
	Kind Kind
	// Accept reports whether the kernel can run a call without symbols. Nil: any
	// call.
	Accept func(*ir.Call) bool
	// Run computes the results of a call into out, whose tensors have the types
	// of c.Out; c.Into is nil or out. An argument that is absent is nil. Scratch
	// memory beyond some kilobytes is taken from c.Budget, which long kernels also
	// ask whether to stop. An error is an *ir.Error, or what the budget said.
	Run func(c *ir.Call, out, in []*tensor.T) error
	// Apart says that the results must not share memory with arguments, even where
	// the operator allows one of them to.
	Apart bool
	// Rows says which rows of a call's result the kernel can compute by themselves,
	// by a call of its own; see Split. Nil: none.
	Rows func(*ir.Call) rows
}

// InPlace reports whether the kernel may compute the result of a call in the
// memory of argument i; see ir.Call.InPlace.
func (k *Kernel) InPlace(c *ir.Call, i int) bool { return !k.Apart && c.InPlace(i) }

// table holds every kernel, those of one operator in order of preference and
// the rows for any operator last.
var table = []*Kernel{
	reference,
}

// Table lists the kernels. The slice must not be changed.
func Table() []*Kernel { return table }

// NameFor is the full name of the kernel when it runs an operator:
// "softmax/any/reference".
func (k *Kernel) NameFor(op *ir.Op) string {
	if k.For != "" {
		return k.Name
	}
	return op.Name + "/" + k.Name
}

// Select returns the first kernel that accepts the call; there always is one
// for an operator that has an evaluation.
func Select(c *ir.Call) *Kernel {
	for _, k := range table {
		if (k.For == "" || k.For == c.Op.Name) && (k.Accept == nil || k.Accept(c)) {
			return k
		}
	}
	return nil
}
