package bytecode

import (
	"math"

	"github.com/npulang/npu/ir/diag"
)

// An Opcode says what an instruction does. There are few of them on purpose:
// operators are kernels, named and not numbered, so that a new operator leaves
// the instruction set as it is.
type Opcode uint8

const (
	End    Opcode = iota // the stream or body is done
	Exec                 // run kernel Index: Out <- In
	Copy                 // Out[0] gets the bytes of In[0]; if it lies there, they are Out[0] from now on
	Row                  // in the body of a loop: row t of Out[0] gets the bytes of In[0]
	Wait                 // go on when event Index has been posted
	Post                 // post event Index
	Branch               // run Bodies[0] if the bool In[0] is true, else Bodies[1]
	Loop                 // for Out[0] = From .. To, while Bodies[1] makes In[0] true: run Bodies[0]
	Call                 // run Bodies[0]
)

// Unbounded is the To of a loop that only its condition ends.
const Unbounded = math.MaxInt64

// NoBody stands in Bodies[1] of a loop without condition, Absent in In for an
// optional argument that was left out.
const (
	NoBody = -1
	Absent = -1
)

// An Instr is one instruction. Task and Pos tell what it came from.
type Instr struct {
	Op       Opcode
	Index    int
	Out, In  []int // buffers
	Bodies   []int // functions
	From, To int64
	Task     int
	Pos      diag.Loc
}

// Renames reports whether an instruction is a copy that moves nothing: it says that
// what lies there is another buffer from now on.
func (p *Program) Renames(in *Instr) bool {
	return in.Op == Copy && in.Out[0] != in.In[0] && p.Buffers[in.Out[0]].LiesWith(&p.Buffers[in.In[0]])
}

// A field is one operand of an instruction in its encoded form.
type field uint8

const (
	fIndex   field = iota
	fOut           // one buffer
	fOuts          // a list of buffers
	fIn            // one buffer
	fIns           // a list of buffers, some absent
	fIfCond        // one buffer when Bodies[1] is there
	fBody          // one function
	fOptBody       // one function or none
	fRange         // From and To
	fSite          // Task; Pos is kept apart
)

// opcodes is the instruction set: encoder, decoder, disassembler, assembler and
// verifier read the operands of each instruction off its row. table is the letter
// of what Index is an index of.
var opcodes = [...]struct {
	name   string
	table  string
	fields []field
}{
	End:    {"end", "", nil},
	Exec:   {"exec", "k", []field{fIndex, fOuts, fIns, fSite}},
	Copy:   {"copy", "", []field{fOut, fIn, fSite}},
	Row:    {"row", "", []field{fOut, fIn, fSite}},
	Wait:   {"wait", "e", []field{fIndex}},
	Post:   {"post", "e", []field{fIndex}},
	Branch: {"branch", "", []field{fIn, fBody, fBody, fSite}},
	Loop:   {"loop", "", []field{fOut, fRange, fBody, fOptBody, fIfCond, fSite}},
	Call:   {"call", "", []field{fBody, fSite}},
}

func (op Opcode) String() string { return opcodes[op].name }

// hasSite reports whether instructions of an opcode come from a task and a line.
func (op Opcode) hasSite() bool {
	fields := opcodes[op].fields
	return len(fields) > 0 && fields[len(fields)-1] == fSite
}

// Rounds is how often the body of a bounded loop runs.
func (in *Instr) Rounds() int64 {
	if in.To <= in.From {
		return 0
	}
	// From and To are limited to what a Dim can hold, so this can't overflow.
	return in.To - in.From
}

// hasCond reports whether a loop asks before each round.
func (in *Instr) hasCond() bool { return len(in.Bodies) > 1 && in.Bodies[1] != NoBody }
