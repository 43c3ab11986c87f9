package ir

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/npulang/npu/ir/tensor"
)

// An Op is one row of the operator table. A Value points at its row.
type Op struct {
	Name    string   // text form: "matmul"
	Aliases []string // further names that callers may write; printed is Name
	Doc     string   // one line, for `npu ops` and the reference
	Group   string   // heading in the reference: "unary", "activation", ...
	Args    []string // "a", "b", "bias?" optional, "xs..." variadic (last)
	Attrs   []Attr
	Regions []RegionDecl // the bodies of a Region operator
	Over    DTypes       // which dtypes the operator computes with
	Class   Class
	Unit    Unit
	Flags   Flags

	// Infer gives the result types of a legal call, or an *Error. In holds the
	// argument types, Attrs every attribute (defaults filled in), Bodies the
	// regions. Dimensions may be symbolic.
	Infer func(*Call) ([]Type, error)
	// Asserts lists relations between sizes that a call which Infer has passed
	// relies on and that could be neither proved nor refuted; nil: none. That no
	// size of a result is negative is asked for every operator.
	Asserts func(*Call) []Assert
	// Cost counts work of a call without symbols. Nil: one flop an element of
	// the first result, and the bytes of arguments and results.
	Cost func(*Call) Cost
	// Eval computes a call without symbols. Arguments are not written to, and
	// results, of the types in Out, share no memory with them. An absent
	// argument is nil.
	Eval func(*Call, ...*tensor.T) ([]*tensor.T, error)
	// strides says how the results lie in the memory of the first argument, where
	// each is elements of it at regular distances; nil: they do not. It is asked
	// through Call.Within.
	strides func(*Call) ([]stride, error)
	// Sample makes a random legal call without symbols: In, Attrs, and Known
	// for arguments that cannot be just any values.
	Sample func(*rand.Rand) Call
}

// An Attr declares one attribute of an operator.
type Attr struct {
	Name     string
	Kind     AttrKind
	Default  Lit      // None with Required false: may be absent
	Required bool     // has no default
	Values   []string // allowed values of a KString
	Axis     AxisOf   // set if it holds axes
	Variadic bool     // a KDims or KInts that calls may write as the last arguments: reshape(x, B, 4)
	Doc      string
}

// AxisOf tells which axes an attribute counts: of the first argument or of the
// first result. A negative number counts from the end of these.
type AxisOf uint8

const (
	NoAxis AxisOf = iota
	OfArgument
	OfResult
)

// A RegionDecl declares one body of an operator.
type RegionDecl struct {
	Label    string // printed before the body: then, else, cond; may be empty
	Optional bool
	// First is the argument for which the body's first parameter stands; the
	// others follow one by one. Negative: the parameters are the body's own.
	First int
}

// Class groups operators by how they read their arguments; it supplies
// defaults and steers fusion.
type Class uint8

const (
	Elementwise Class = iota // each result element from the elements at its (broadcast) place
	Reduce                   // along axes
	Contract                 // products of sums
	Move                     // elements change places, not values
	Source                   // no tensor arguments
	Region                   // has bodies
)

// Unit is the kind of hardware unit that runs a task.
type Unit uint8

const (
	Vector Unit = iota
	Cube
	Scalar
	DMA
)

var (
	classNames = [...]string{Elementwise: "elementwise", Reduce: "reduce", Contract: "contract", Move: "move", Source: "source", Region: "region"}
	unitNames  = [...]string{Vector: "vector", Cube: "cube", Scalar: "scalar", DMA: "dma"}
)

func (c Class) String() string { return classNames[c] }
func (u Unit) String() string  { return unitNames[u] }

// ParseUnit finds a unit by its name.
func ParseUnit(name string) (Unit, bool) {
	i := slices.Index(unitNames[:], name)
	return Unit(max(i, 0)), i >= 0
}

// Flags are properties that passes and lowering ask for.
type Flags uint8

const (
	Commutative Flags = 1 << iota // the two arguments may change places
	View                          // the result is the argument's memory under another shape
	Impure                        // random: never merged, folded or moved
	Projection                    // a further result of the value that is its argument
	Unbound                       // has no Eval: its value is bound from outside (input, param)
)

// Cost counts the work of one call.
type Cost struct {
	Flops int64 // multiply and add count 2
	In    int64 // bytes read
	Out   int64 // bytes written
}

// DTypes is a set of dtypes.
type DTypes uint8

const (
	AnyDType DTypes = iota
	Floats
	SignedInts
	Ints    // signed and unsigned
	Numbers // floats and integers
	SignedNumbers
	IntsOrBool
	BoolOnly
)

// dtypeSets has the name and the kinds of each set.
var dtypeSets = [...]struct {
	name  string
	kinds []tensor.Kind
}{
	AnyDType:      {"any dtype", []tensor.Kind{tensor.Float, tensor.Signed, tensor.Unsigned, tensor.Logical}},
	Floats:        {"a float dtype", []tensor.Kind{tensor.Float}},
	SignedInts:    {"a signed integer dtype", []tensor.Kind{tensor.Signed}},
	Ints:          {"an integer dtype", []tensor.Kind{tensor.Signed, tensor.Unsigned}},
	Numbers:       {"a number dtype", []tensor.Kind{tensor.Float, tensor.Signed, tensor.Unsigned}},
	SignedNumbers: {"a float or signed integer dtype", []tensor.Kind{tensor.Float, tensor.Signed}},
	IntsOrBool:    {"an integer dtype or bool", []tensor.Kind{tensor.Signed, tensor.Unsigned, tensor.Logical}},
	BoolOnly:      {"bool", []tensor.Kind{tensor.Logical}},
}

// Has reports whether d belongs to the set.
func (s DTypes) Has(d tensor.DType) bool {
	for _, k := range dtypeSets[s].kinds {
		if d.Kind() == k {
			return true
		}
	}
	return false
}

func (s DTypes) String() string { return dtypeSets[s].name }

// table holds every operator, in the order in which Go initialises the
// package's variables, which follows what rows share and not their lines.
var table []*Op
var byName = map[string]*Op{}

// row adds an operator to the table: var Exp = row(Op{...}).
func row(op Op) *Op {
	p := &op
	table = append(table, p)
	for _, name := range append([]string{op.Name}, op.Aliases...) {
		if byName[name] != nil {
			panic("ir: two operators named " + name)
		}
		byName[name] = p
	}
	return p
}

// Groups lists the headings of the reference, in its order.
var Groups = []string{
	"unary", "activation", "binary", "choose, convert", "product", "reduction", "normalisation", "attention",
	"convolution", "shape", "index", "make", "control", "structure",
}

// Ops lists the operator table by group, and within a group by name. The slice
// must not be changed.
func Ops() []*Op { return inGroups() }

var inGroups = sync.OnceValue(func() []*Op {
	ops := slices.Clone(table)
	slices.SortFunc(ops, func(a, b *Op) int {
		return cmp.Or(cmp.Compare(slices.Index(Groups, a.Group), slices.Index(Groups, b.Group)), cmp.Compare(a.Name, b.Name))
	})
	return ops
})

// Lookup finds an operator by its name or an alias of it.
func Lookup(name string) *Op { return byName[name] }
