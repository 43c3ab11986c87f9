package ir

import (
	"bytes"
	"math"
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// An AttrKind is what an attribute may hold.
type AttrKind uint8

const (
	KNone   AttrKind = iota // absent
	KInt                    // Int
	KInts                   // Ints
	KFloat                  // Float
	KBool                   // Int is 0 or 1
	KString                 // Str
	KDType                  // DType
	KType                   // DType and Dims
	KDim                    // Dims[0]
	KDims                   // Dims
	KNum                    // declared kind only: a KDim or a KFloat literal
	KTensor                 // Tensor
)

// A Lit is the value of an attribute. The zero Lit is "absent" (None).
type Lit struct {
	Kind   AttrKind
	DType  tensor.DType
	Int    int64
	Float  float64
	Str    string
	Ints   []int64
	Dims   []Dim
	Tensor *tensor.T
}

// IntLit is an integer as the value of an attribute. So are those that follow,
// of the kind that their names say.
func IntLit(n int64) Lit          { return Lit{Kind: KInt, Int: n} }
func IntsLit(ns ...int64) Lit     { return Lit{Kind: KInts, Ints: ns} }
func FloatLit(f float64) Lit      { return Lit{Kind: KFloat, Float: f} }
func StrLit(s string) Lit         { return Lit{Kind: KString, Str: s} }
func DTypeLit(d tensor.DType) Lit { return Lit{Kind: KDType, DType: d} }
func TypeLit(t Type) Lit          { return Lit{Kind: KType, DType: t.DType, Dims: t.Shape} }
func DimLit(d Dim) Lit            { return Lit{Kind: KDim, Dims: []Dim{d}} }
func DimsLit(ds ...Dim) Lit       { return Lit{Kind: KDims, Dims: ds} }
func TensorLit(t *tensor.T) Lit   { return Lit{Kind: KTensor, Tensor: t} }
func BoolLit(b bool) Lit          { return Lit{Kind: KBool, Int: map[bool]int64{true: 1}[b]} }

// None is the absent attribute.
var None = Lit{}

// IsNone reports whether the attribute is absent.
func (l Lit) IsNone() bool { return l.Kind == KNone }

// Type is the value of a KType literal.
func (l Lit) Type() Type { return Type{l.DType, l.Dims} }

// Bind puts numbers for the symbols in l.
func (l Lit) Bind(env Env) (Lit, error) {
	dims, err := bindDims(l.Dims, env)
	l.Dims = dims
	return l, err
}

// Equal reports whether two literals are the same: floats and tensors by their
// bits, so that 0 differs from -0 and a NaN is equal to itself.
func (l Lit) Equal(m Lit) bool {
	return l.Kind == m.Kind && l.DType == m.DType && l.Int == m.Int && l.Str == m.Str &&
		math.Float64bits(l.Float) == math.Float64bits(m.Float) &&
		slices.Equal(l.Ints, m.Ints) && SameShape(l.Dims, m.Dims) && sameTensor(l.Tensor, m.Tensor)
}

func sameTensor(a, b *tensor.T) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && bytes.Equal(a.Data, b.Data)
}
