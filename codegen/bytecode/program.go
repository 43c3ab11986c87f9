package bytecode

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Version is the version of the format that this package writes and reads.
const Version = 2

// Limits on programs that come from files. They are far above what the
// compiler makes, and keep every sum of sizes inside an int64.
const (
	MaxStreams = 64
	MaxNesting = 1000    // bodies inside bodies
	MaxBytes   = 1 << 44 // of one buffer, and of the arena
)

// A Program is one function for one binding of its symbols, planned and ready
// to be checked and run. Tables refer to each other by index.
type Program struct {
	Name      string
	Env       []Binding // the sizes that the plan was made for, by name
	Arena     int64     // bytes of the memory that a run needs
	Align     int64     // what every arena offset is a multiple of
	Kernels   []Kernel
	Buffers   []Buffer
	Weights   []Weight
	Inputs    []Port
	Outputs   []Port
	Functions []Function // the first is the program; the others are bodies of regions
	Events    int
}

// A Binding is the size that a symbol stands for.
type Binding struct {
	Symbol string
	Size   int64
}

// A Type is the dtype and shape of a tensor. The zero Type stands for an
// optional argument that is absent.
type Type struct {
	DType tensor.DType
	Shape []int
}

// A Kernel is what an exec runs: an operator with its attributes in the text
// form of the IR, and the types that it was bound to.
type Kernel struct {
	Op      string
	Attrs   string // "axis=-1, eps=1e-05"
	Unit    string // cube, vector, scalar, dma
	In, Out []Type
	// InPlace is the argument in whose memory result 0 is computed: the same
	// bytes, which no other argument touches. Absent: results lie apart from all
	// arguments.
	InPlace int
}

// A Space is a kind of memory.
type Space uint8

const (
	InputSpace  Space = iota // what the caller gives; only read
	OutputSpace              // what the caller gets
	WeightSpace              // shared by all runs; only read
	ArenaSpace               // one block for each run
)

var spaceNames = [...]string{InputSpace: "input", OutputSpace: "output", WeightSpace: "weight", ArenaSpace: "arena"}

func (s Space) String() string { return spaceNames[s] }

// A Buffer is a range of memory that holds one tensor.
type Buffer struct {
	Space  Space
	Slot   int   // which input, output or weight; 0 in the arena
	Offset int64 // from the start of the slot or arena
	Size   int64 // bytes
	Type   Type
	Base   int    // the buffer whose memory this one views; -1: its own
	Name   string // of the value, as the IR prints it
}

// LiesWith reports whether two buffers are the same bytes.
func (b *Buffer) LiesWith(o *Buffer) bool {
	return b.Space == o.Space && b.Slot == o.Slot && b.Offset == o.Offset && b.Size == o.Size
}

// A Weight is memory that is filled before the first run: a constant with its
// bytes, or a parameter that is looked up by name.
type Weight struct {
	Name string
	Type Type
	Data []byte // nil: a parameter
}

// A Port names an input or output and says which buffer it is.
type Port struct {
	Name   string
	Buffer int
}

// A Function is code. The program has streams, its own name, and no other
// field; a body has exactly one stream, which bears its name, writes nothing
// but its frame and Writes, and reads nothing but these and Reads, so that each
// function can be checked by itself.
type Function struct {
	Name    string
	Frame   int   // the buffer in which the body's own buffers lie; -1: none
	Reads   []int // buffers from outside
	Writes  []int
	Streams []Stream
}

// A Stream is a sequence of instructions that run one after the other.
type Stream struct {
	Name string
	Code []Instr
}

// SizeBytes is the bytes of a tensor of the type; ok is false when there can
// be no such tensor.
func (t Type) SizeBytes() (n int64, ok bool) {
	if len(t.Shape) > tensor.MaxRank || t.DType == tensor.Invalid {
		return 0, false
	}
	elements, ok := tensor.Elements(t.Shape)
	n = int64(elements) * int64(t.DType.Size())
	return n, ok && n <= MaxBytes
}

// Equal reports whether dtype and shape are the same.
func (t Type) Equal(u Type) bool {
	return t.DType == u.DType && tensor.SameShape(t.Shape, u.Shape)
}

// String prints f32[64,256]; an absent argument is _.
func (t Type) String() string {
	if t.DType == tensor.Invalid {
		return "_"
	}
	parts := make([]string, len(t.Shape))
	for i, n := range t.Shape {
		parts[i] = strconv.Itoa(n)
	}
	return t.DType.String() + "[" + strings.Join(parts, ",") + "]"
}

// sites walks through the instructions that come from somewhere, function by
// function and stream by stream.
func (p *Program) sites() iter.Seq[*Instr] {
	return func(yield func(*Instr) bool) {
		for i := range p.Functions {
			for s := range p.Functions[i].Streams {
				code := p.Functions[i].Streams[s].Code
				for k := range code {
					if code[k].Op.hasSite() && !yield(&code[k]) {
						return
					}
				}
			}
		}
	}
}

// root is the buffer whose memory b is.
func (p *Program) root(b int) int {
	if base := p.Buffers[b].Base; base >= 0 {
		return base
	}
	return b
}

// fault makes the error of a program that is not in order.
func fault(pos diag.Loc, subject, format string, args ...any) *diag.Diagnostic {
	return &diag.Diagnostic{Code: "bad-bytecode", Loc: pos, Subject: subject, Message: fmt.Sprintf(format, args...)}
}
