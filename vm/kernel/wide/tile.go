package wide

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// An Element is a number that is multiplied.
type Element interface{ float64 | int32 | int64 }

// A tile is the argument of a kernel: C = A·B or C += A·B, where C has a few rows and the
// columns of a panel of B. Distances are in bytes. The generator of the kernels knows the
// offsets of the fields.
type tile struct {
	a    unsafe.Pointer // columns of A, each in one piece, one behind the other
	b, c unsafe.Pointer
	line int // from one row of B to the next
	ldc  int // from one row of C to the next
	k    int // products an element, at least one
	add  int // 0: begin with zero; 1: with C
	n    int // of dots, in Go: columns
}

const (
	mostRows  = 12 // of a tile, over all levels
	mostWidth = 32 // columns of one
)

// kernels are what a level has for a type: tiles by their height, all as wide as a panel.
type kernels struct {
	width int
	tiles []func(*tile) // from one row on
	dots  func(*tile)   // of one row by columns of B in one piece each, line bytes apart
}

// rows is how many rows the largest tile has.
func (k *kernels) rows() int { return len(k.tiles) }

// byLevel are kernels; where there are none, the portable ones serve.
type byLevel = [isa.NEON + 1]*kernels

// at finds the kernels of a level; the processor must have it.
func at[E Element](level isa.Level) *kernels {
	if k := direct[kindOf[E]()][level]; k != nil {
		return k
	}
	return portable[kindOf[E]()]
}

// A kind is a type of elements as a number.
type kind int

const (
	f64 kind = iota
	i32
	i64
	kinds
)

func kindOf[E Element]() kind {
	var e E
	switch any(e).(type) {
	case float64:
		return f64
	case int32:
		return i32
	}
	return i64
}

// widths says how many columns the panels of each level have, also of those that this
// processor lacks.
var widths = [kinds][isa.NEON + 1]int{
	f64: {isa.Portable: 4, isa.AVX2: 8, isa.AVX512: 16, isa.NEON: 4},
	i32: {isa.Portable: 4, isa.AVX2: 16, isa.AVX512: 32, isa.NEON: 4},
	i64: {isa.Portable: 4, isa.AVX2: 8, isa.AVX512: 16, isa.NEON: 4},
}

// Width is how many columns a panel of B has at a level, also one that this processor lacks.
func Width[E Element](level isa.Level) int { return widths[kindOf[E]()][level] }
