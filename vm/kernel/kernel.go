package kernel

import (
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A Kind says how far a kernel is from the operators' definition.
type Kind uint8

const (
	Reference Kind = iota // the operators' own evaluation
	Generic               // portable Go
	Fast                  // assembly
)

func (k Kind) String() string {
	return [...]string{Reference: "reference", Generic: "generic", Fast: "fast"}[k]
}

// A Row is one kernel: code for the bodies that it takes.
type Row struct {
	Name  string   // what it computes, and of which dtype: "product/f32"
	reach reach    // the bodies that it is asked for
	ways  []string // names of the ways in which it computes a body; nil: there is one
	// Make makes a body ready, or says in a few words why the kernel can't run it:
	// "the left operand is f16". Constants are packed here, through o.Packs. Of what
	// it returns it leaves Name, Kind and Why to Prepare.
	Make func(b *Body, o *Options) (p *Prepared, why string)
}

// Options say which kernels there are to choose from. The zero value has the
// reference only.
type Options struct {
	Kind  Kind      // the highest that is wanted
	Level isa.Level // of fast kernels
	Packs *Packs    // nil: constants are packed for each task anew
	// Threads is how many threads a run has; 0: one. It decides only which ways of
	// sharing work out are worth a try.
	Threads int
	// Later says that tasks do not run before Packs.Finish has been called, which packs
	// their constants then, several at a time. Packs.Begin came before.
	Later bool
	// Choose, if not nil, names the candidate that is to run a body, as Candidates
	// does; empty, and what is none: the one of the least estimate runs it.
	Choose func(*Body) string

	way int // the one that a row is to take, of its ways; 0: the one it finds best
}

// Best are the options of this processor.
func Best() Options { return Options{Kind: Fast, Level: isa.Best(), Packs: new(Packs)} }

// A Prepared task is a body and the kernel that runs it. It serves any number of
// runs at the same time.
type Prepared struct {
	Name string // of the row, and the level: "product/f32/avx2"
	Kind Kind
	Why  string // what each row before it said; empty: it is the first
	// Way is the row's way of the candidate that was chosen; empty: the row has one.
	Way string
	// Chosen says that Options.Choose has named the candidate. If what it named is none,
	// Unknown has that.
	Chosen  bool
	Unknown string
	// Work is how many nanoseconds the task takes on one processor, about.
	Work int64
	// Within bounds the difference from the operators' evaluation, by the largest
	// magnitude among the elements of a result, or of what they are sums of where
	// that is larger. Sums that leave the range of floats on the way have no bound, nor
	// have operators of a region that enlarge what those before them are off, as tan
	// near a pole. 0: not a bit differs, but for those of NaN.
	Within float64
	Runner

	body *Body
	row  *Row
}

// A Runner computes a task.
type Runner interface {
	// Parts says into how many parts of about the same work the task can be cut
	// where want are wanted: at least 1, and fewer than twice as many. It is called
	// once, before the first run.
	Parts(want int) int
	// Run computes part number part of parts; parts is 1, or what Parts or Share has
	// returned. The parts may be computed at the same time and in any order, and give
	// the bits that the whole gives. It writes all of every result. Inputs that are
	// constants are there too, like the others. An error is an *ir.Error, or what
	// x.Budget said.
	Run(x *Exec, part, parts int, out, in []*tensor.T) error
}

// A saver is a Runner that may need fewer operations than its operators are defined by.
type saver interface {
	// done is how many it does at least, of so many.
	done(flops int64) int64
}

// Done is how many operations the task's kernel does at least, of so many that its operators
// are defined by.
func (p *Prepared) Done(flops int64) int64 {
	if s, ok := p.Runner.(saver); ok {
		return s.done(flops)
	}
	return flops
}

// table holds every kernel in order of preference.
var table []*Row

func init() {
	// By hand, since a row's Make may look at the table.
	table = []*Row{
		moves,
		indexes,
		orders,
		cumulates,
		stripRow,
		plainRow,
		triangleRow,
		productRow,
		productBF16Row,
		productF16Row,
		productInt8Row,
		productF64Row,
		productI32Row,
		productI64Row,
		productSmallRow,
		gatedRow,
		gatedBF16Row,
		gatedF16Row,
		gatedInt8Row,
		scoresRow,
		convRow,
		poolRow,
		ropeRow,
		attentionRow,
		attentionBF16Row,
		attentionF16Row,
		quantizeRow,
		normRow,
		reduceRow,
		foldRow,
		tallyRow,
		vectorsRow,
		halvesRow,
		reference,
	}
}

// Table lists the kernels. The slice must not be changed.
func Table() []*Row { return table }

// notMine is what a row says to bodies of another kind than its own, which is no
// reason worth telling.
const notMine = "the body is of another kind"

// prepare asks one row, if the options allow it.
func (r *Row) prepare(b *Body, o *Options) (*Prepared, string) {
	if o.Kind == Reference && r != reference {
		return nil, ""
	}
	p, why := r.Make(b, o)
	if p != nil && r != reference {
		p.Name, p.Kind = r.Name+"/"+o.Level.String(), Fast
		if o.Level == isa.Portable {
			p.Kind = Generic
		}
	}
	return p, why
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// Do is Run with fresh memory on the way.
func (p *Prepared) Do(x *Exec, part, parts int, out, in []*tensor.T) error {
	x.begin()
	return p.Run(x, part, parts, out, in)
}
