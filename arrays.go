package npu

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang"
)

// A Tensor is a dense, row-major tensor in memory: its fields are DType, Shape
// ([]int, empty for a scalar) and Data, the bytes of its elements, which Of shows
// as a Go slice. Floats, Ints, Uints and Bools copy the elements of any dtype out;
// String prints it on one line.
type Tensor = tensor.T

// A DType is the type of a tensor's elements.
type DType = tensor.DType

// A Type is the dtype and the shape of a tensor, perhaps symbolic.
type Type = ir.Type

// A Dim is one dimension: a number, or an expression over symbols.
type Dim = ir.Dim

// Native are the Go types that hold elements.
type Native = tensor.Native

// The dtypes.
const (
	F64  = tensor.F64
	F32  = tensor.F32
	F16  = tensor.F16
	BF16 = tensor.BF16
	I64  = tensor.I64
	I32  = tensor.I32
	I16  = tensor.I16
	I8   = tensor.I8
	U64  = tensor.U64
	U32  = tensor.U32
	U16  = tensor.U16
	U8   = tensor.U8
	Bool = tensor.Bool
)

// N is the dimension n.
func N(n int64) Dim { return ir.N(n) }

// Sym is the symbolic dimension of that name.
func Sym(name string) Dim { return ir.Sym(name) }

// ParseType reads a type as scripts write it: "f32[B, 784]"; "i64" is a scalar.
func ParseType(text string) (Type, error) { return ir.ParseType(text) }

// MustType is ParseType for a text that is known to be right; it panics
// otherwise.
func MustType(text string) Type {
	t, err := ir.ParseType(text)
	if err != nil {
		panic(err)
	}
	return t
}

// NewTensor makes a tensor of zeros.
func NewTensor(d DType, shape ...int) *Tensor { return tensor.New(d, shape...) }

// FromSlice makes a tensor of a shape from its elements in row-major order,
// which are copied. It panics when their number does not fit the shape.
func FromSlice[E Native](shape []int, data []E) *Tensor { return tensor.FromSlice(shape, data) }

// Scalar makes a tensor of rank 0.
func Scalar[E Native](v E) *Tensor { return tensor.Scalar(v) }

// Of views the elements of a tensor as a Go slice that shares its memory. It
// panics when E is not the Go type of the dtype.
func Of[E Native](t *Tensor) []E { return tensor.Of[E](t) }

// TypeOf is the type of a tensor.
func TypeOf(t *Tensor) Type { return ir.TypeOf(t) }

// FormatTensor prints a tensor for people: nested brackets, large ones
// shortened.
func FormatTensor(t *Tensor) string { return t.Pretty() }

// TensorJSON prints a tensor's elements as nested JSON lists; nan, inf and -inf
// are strings, since JSON has no such numbers.
func TensorJSON(t *Tensor) []byte { return tensor.AppendJSON(nil, t) }

// ParseTensor reads nested brackets of numbers: [[1, 2], [3, 4]].
func ParseTensor(text string, d DType) (*Tensor, error) { return tensor.ParseLiteral(text, d, nil) }

// ReadArray reads a .npy file, or one array of an .npz file written as
// FILE.npz:KEY.
func ReadArray(path string) (*Tensor, error) {
	return lang.LoadArray(path, readFile)
}

// RandomTensor fills a tensor from a seed and a name: floats standard normal,
// integers 0 to 9, bool fair.
func RandomTensor(d DType, shape []int, seed uint64, name string) *Tensor {
	t := tensor.New(d, shape...)
	r := rand.New(rand.NewPCG(seed, hash(name)))
	fill := map[tensor.Kind]func(i int){
		tensor.Float:    func(i int) { t.SetFloat(i, r.NormFloat64()) },
		tensor.Signed:   func(i int) { t.SetInt(i, r.Int64N(10)) },
		tensor.Unsigned: func(i int) { t.SetUint(i, uint64(r.Int64N(10))) },
		tensor.Logical:  func(i int) { t.SetBool(i, r.IntN(2) == 1) },
	}[d.Kind()]
	for i := range t.Len() {
		fill(i)
	}
	return t
}

// hash is FNV-1a of a name: the same on every machine.
func hash(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(name); i++ {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

// scalar makes a constant of a number that a Go program wrote.
func scalar(d DType, v float64) (*Tensor, error) {
	if !d.IsFloat() && v != float64(int64(v)) {
		return nil, ir.Errorf("dtype-mismatch", "the number %v beside a tensor of dtype %s", v, d)
	}
	if d.IsFloat() && !tensor.FitsFloat(d, v) || !d.IsFloat() && !tensor.FitsInt(d, int64(v)) {
		return nil, ir.Errorf("out-of-range", "the number %v does not fit dtype %s", v, d)
	}
	t := tensor.New(d)
	if d.IsFloat() {
		t.SetFloat(0, v)
	} else {
		t.SetInt(0, int64(v))
	}
	return t, nil
}
