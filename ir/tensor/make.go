package tensor

import (
	"fmt"
	"slices"
	"unsafe"
)

// DTypeOf is the dtype whose elements are held as E.
func DTypeOf[E Native]() DType {
	var e E
	switch any(e).(type) {
	case float64:
		return F64
	case float32:
		return F32
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case int64:
		return I64
	case int32:
		return I32
	case int16:
		return I16
	case int8:
		return I8
	case uint64:
		return U64
	case uint32:
		return U32
	case uint16:
		return U16
	case uint8:
		return U8
	}
	return Bool
}

// FromSlice makes a tensor that holds a copy of data, row by row. It panics
// if the shape does not hold len(data) elements.
func FromSlice[E Native](shape []int, data []E) *T {
	t := sized(DTypeOf[E](), shape, len(data))
	copy(Of[E](t), data)
	return t
}

// Scalar makes a tensor of rank 0.
func Scalar[E Native](v E) *T { return FromSlice(nil, []E{v}) }

// FromFloats makes a tensor of dtype d out of values, each converted by the
// rules of Cast from f64. It panics if the shape does not hold len(v) elements.
func FromFloats(d DType, shape []int, v []float64) *T {
	t := sized(d, shape, len(v))
	t.StoreFloats(0, v)
	return t
}

// FromInts is FromFloats for integers, converted by the rules of Cast from
// i64: they wrap.
func FromInts(d DType, shape []int, v []int64) *T {
	t := sized(d, shape, len(v))
	t.StoreInts(0, v)
	return t
}

// FromUints is FromInts from u64.
func FromUints(d DType, shape []int, v []uint64) *T {
	t := sized(d, shape, len(v))
	t.StoreUints(0, v)
	return t
}

// FromBytes views data as a tensor without a copy. It is an error if data has
// not the size that the shape needs, or lies at an address that elements of
// d cannot have.
func FromBytes(d DType, shape []int, data []byte) (*T, error) {
	n, ok := Elements(shape)
	if !ok || d == Invalid {
		return nil, fmt.Errorf("%v%v is not the type of a tensor", d, shape)
	}
	if n*d.Size() != len(data) {
		return nil, fmt.Errorf("%v%v needs %d bytes, not %d", d, shape, n*d.Size(), len(data))
	}
	if !Aligned(d, data) {
		return nil, fmt.Errorf("data of %v%v begins at an address that is not a multiple of %d", d, shape, d.Size())
	}
	return &T{DType: d, Shape: slices.Clone(nonNil(shape)), Data: data}, nil
}

// Aligned reports whether elements of d may be read in place from data.
func Aligned(d DType, data []byte) bool {
	return len(data) == 0 || uintptr(unsafe.Pointer(&data[0]))%uintptr(d.Size()) == 0
}

// Clone copies the tensor and its memory.
func (t *T) Clone() *T {
	c := New(t.DType, t.Shape...)
	copy(c.Data, t.Data)
	return c
}

// Reshape views t's memory under another shape. It panics if the number of
// elements differs.
func (t *T) Reshape(shape ...int) *T {
	if n, ok := Elements(shape); !ok || n != t.Len() {
		panic(fmt.Sprintf("tensor.Reshape: %v does not hold the %d elements of %v", shape, t.Len(), t.Shape))
	}
	return &T{DType: t.DType, Shape: slices.Clone(nonNil(shape)), Data: t.Data}
}

// sized is New for a known number of elements.
func sized(d DType, shape []int, n int) *T {
	if want, ok := Elements(shape); !ok || want != n {
		panic(fmt.Sprintf("tensor: shape %v does not hold %d elements", shape, n))
	}
	return New(d, shape...)
}

// nonNil keeps the promise that a scalar's shape is empty, not nil.
func nonNil(shape []int) []int {
	if shape == nil {
		return []int{}
	}
	return shape
}
