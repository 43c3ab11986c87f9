package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/attn"
	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/norm"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/wide"
)

// An Exec is what one executor computes with: what the run allows, and memory on
// the way. Its zero value is ready for use, by one goroutine at a time.
type Exec struct {
	Budget  *ir.Budget // long kernels ask it whether to stop; nil: anything is allowed
	Scratch ir.Scratch // of evaluations
	// Again says that the last that was computed is another part of the same task in the
	// same run, so that what it has left in memory on the way is good still.
	Again bool
	// Backwards says that what comes by once a run may do so from its end: runs ask for that
	// in turns, so that each begins with what the one before has left in the caches.
	Backwards bool

	call ir.Call  // of the evaluation under way, with what this run allows
	of   *ir.Call // what call is a copy of
	part portion  // of the evaluation under way, if it is by parts
	args []*tensor.T

	strips  strip.Scratch // of element-wise programs
	views   []strip.View
	conv    conv.Work   // of convolutions
	more    []*tensor.T // inputs of the task under way, and constants of its kernel behind them
	norm    norm.Scratch
	layout  norm.Layout // of the rows under way
	attn    attn.Scratch
	attends attn.Args   // what the attention under way reads and writes
	floats  [][]float32 // arguments of the kernel under way

	halves widening // of the operator under way, if its halves are widened

	gemm    gemm.Scratch // of products
	wide    wide.Scratch // of those of wide numbers
	product productRun
	left    keptLeft // by the part before

	room []byte // of kernels
	at   int    // of it are in use
	want int    // have been asked for since the last begin
}

// begin takes all memory back.
func (x *Exec) begin() {
	if x.want > len(x.room) {
		x.room = tensor.AlignedBytes(x.want)
	}
	x.at, x.want = 0, 0
}

// Bytes is memory for n bytes until Run returns, at a multiple of 64, that holds
// anything. It is for blocks that caches hold, some megabytes at most: it does not
// count among what MaxMemory bounds.
func (x *Exec) Bytes(n int) []byte {
	room := (n + 63) &^ 63
	x.want += room
	if room > len(x.room)-x.at {
		return tensor.AlignedBytes(n) // the next task finds room
	}
	b := x.room[x.at : x.at+n : x.at+n]
	x.at += room
	return b
}

// Floats is Bytes for n floats of four bytes.
func (x *Exec) Floats(n int) []float32 {
	b := x.Bytes(4 * n)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// behind are the inputs of a task and further ones behind them.
func (x *Exec) behind(in, more []*tensor.T) []*tensor.T {
	x.more = append(append(x.more[:0], in...), more...)
	return x.more
}

// Stop asks whether the run is to end; long kernels ask now and then, every
// hundred microseconds or so.
func (x *Exec) Stop() error {
	if x.Budget == nil || x.Budget.Stop == nil {
		return nil
	}
	return x.Budget.Stop()
}

// rows is what rows are computed with; they are left when the run is to end, and halted
// has to be asked behind them.
func (x *Exec) rows() *norm.Scratch {
	if x.norm.Halt == nil {
		x.norm.Halt = func() bool { return x.Stop() != nil }
	}
	return &x.norm
}

// halted is the reason why rows were left; nil: they were not.
func (x *Exec) halted() error {
	if x.norm.Halted() {
		return x.Stop()
	}
	return nil
}

// Clear lets go of tensors that the last task has seen.
func (x *Exec) Clear() {
	x.Scratch.Forget()
	x.part.clear()
	clear(x.args)
	clear(x.views)
	clear(x.more)
	x.conv = conv.Work{}
	x.left = keptLeft{}
	clear(x.floats)
	x.attends = attn.Args{}
	x.call, x.of, x.Budget = ir.Call{}, nil, nil
}

// evaluation is a call with what this run allows, whose results belong into out.
func (x *Exec) evaluation(c *ir.Call, out []*tensor.T) *ir.Call {
	if x.of != c { // copying it takes as long as all the rest
		x.of, x.call = c, *c
	}
	x.call.Budget, x.call.Scratch, x.call.Into = x.Budget, &x.Scratch, out
	return &x.call
}

// spread lays out inputs as an operator takes them, nil for what is absent.
func (x *Exec) spread(args []int, in []*tensor.T) []*tensor.T {
	if len(x.args) < len(args) {
		x.args = make([]*tensor.T, len(args))
	}
	for i, a := range args {
		x.args[i] = nil
		if a != Absent {
			x.args[i] = in[a]
		}
	}
	return x.args[:len(args)]
}

// shown are n views for a box.
func (x *Exec) shown(n int) []strip.View {
	if len(x.views) < n {
		x.views = make([]strip.View, n)
	}
	return x.views[:n]
}
