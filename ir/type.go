package ir

import (
	"strings"

	"github.com/npulang/npu/ir/tensor"
)

// A Type is the dtype and shape of a tensor. The zero Type (dtype Invalid)
// stands for an optional argument that is absent.
type Type struct {
	DType tensor.DType
	Shape []Dim
}

// T makes a type.
func T(d tensor.DType, shape ...Dim) Type { return Type{d, shape} }

// Absent reports whether t stands for an argument that was left out.
func (t Type) Absent() bool { return t.DType == tensor.Invalid }

// Rank is the number of dimensions.
func (t Type) Rank() int { return len(t.Shape) }

// Elements is the product of the dimensions.
func (t Type) Elements() Dim {
	n := N(1)
	for _, d := range t.Shape {
		n = n.Mul(d)
	}
	return n
}

// Bytes is the size of the tensor in bytes.
func (t Type) Bytes() Dim { return t.Elements().Mul(N(int64(t.DType.Size()))) }

// Equal reports whether dtype and shape are provably the same.
func (t Type) Equal(u Type) bool { return t.DType == u.DType && SameShape(t.Shape, u.Shape) }

// SameShape reports whether two shapes are provably the same.
func SameShape(a, b []Dim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// String prints f32[B,256]; a scalar is f32[].
func (t Type) String() string {
	if t.Absent() {
		return "none"
	}
	return t.DType.String() + ShapeString(t.Shape)
}

// ShapeString prints [B,256].
func ShapeString(shape []Dim) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = d.String()
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// IsConst reports whether every dimension is a number known now.
func (t Type) IsConst() bool {
	for _, d := range t.Shape {
		if !d.IsConst() {
			return false
		}
	}
	return true
}

// Ints returns the dimensions of a type without symbols; it panics on others.
func (t Type) Ints() []int {
	ns := make([]int, len(t.Shape))
	for i, d := range t.Shape {
		n, ok := d.Const()
		if !ok {
			panic("ir: Ints of the symbolic type " + t.String())
		}
		ns[i] = int(n)
	}
	return ns
}

// Bind puts numbers for the symbols of t.
func (t Type) Bind(env Env) (Type, error) {
	shape, err := bindDims(t.Shape, env)
	return Type{t.DType, shape}, err
}

func bindDims(ds []Dim, env Env) ([]Dim, error) {
	out := make([]Dim, len(ds))
	for i, d := range ds {
		b, err := d.Bind(env)
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

// TypeOf is the type of a tensor in memory.
func TypeOf(t *tensor.T) Type { return Type{t.DType, Dims(t.Shape...)} }

// MaxRank bounds the rank of a tensor.
const MaxRank = 64

// MaxBytes bounds one tensor's bytes (1 TiB): beyond it a shape is a mistake,
// and sums of sizes stay far from overflow.
const MaxBytes = 1 << 40

// Check refuses types that no tensor can have: a negative size, one that has no
// value, more than MaxBytes, a rank above MaxRank. Symbolic sizes are checked
// when bound.
func (t Type) Check() error {
	if len(t.Shape) > MaxRank {
		return Errorf("limit", "rank %d is above the limit of %d", len(t.Shape), MaxRank)
	}
	bytes := N(int64(t.DType.Size()))
	for _, d := range t.Shape {
		if err := d.Err(); err != nil {
			return err
		}
		n, ok := d.Const()
		if !ok {
			continue
		}
		if n < 0 {
			return Errorf("out-of-range", "the type %s has a negative dimension", t)
		}
		// A zero size must not hide that the others overflow.
		bytes = bytes.Mul(N(max(n, 1)))
	}
	if n, ok := bytes.Const(); ok && n > MaxBytes {
		return Errorf("limit", "the type %s needs more than %d bytes", t, int64(MaxBytes))
	}
	return nil
}

// Broadcast joins two shapes as NumPy does, with one restriction: a symbol
// meets itself or the literal 1, nothing else.
func Broadcast(a, b []Dim) ([]Dim, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := append([]Dim{}, a...)
	lead := len(a) - len(b)
	for i, d := range b {
		switch e := a[lead+i]; {
		case d.Equal(e) || d.Is(1):
		case e.Is(1):
			out[lead+i] = d
		default:
			return nil, false
		}
	}
	return out, true
}
