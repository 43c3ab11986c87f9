package vm

import (
	"runtime"
	"sync"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// Options say what a Machine uses. The zero value is the default.
type Options struct {
	// Memory is where runs take their memory from; machines may share one. Nil:
	// one of the machine's own.
	Memory *Memory
}

// A Machine is a program ready to run.
type Machine struct {
	program  *bytecode.Program
	code     [][][]step // by function and stream
	size     int        // instructions
	operands int        // of all of them
	weights  []*tensor.T
	memory   *Memory
	perRun   int64 // bytes of one run's arena and outputs
	scratch  int64 // most bytes that kernels of a run took beside; memory.mu guards it
	serial   bool  // streams take turns on one goroutine

	mu     sync.Mutex
	closed chan struct{}
	runs   sync.WaitGroup
}

// A step is one instruction, ready to run.
type step struct {
	*bytecode.Instr
	kernel *kernel.Kernel
	call   *ir.Call
	args   int // where the operands' tensors begin in frame.args: results, then arguments
}

// Load checks a program and makes it ready: it verifies the code, binds each
// exec to a kernel, and asks weights for the tensors of the parameters by their
// names. The tensors are shared and must not change. The error is a
// *diag.Diagnostic (bad-bytecode, bad-weight, limit) or what weights returned.
func Load(p *bytecode.Program, weights func(name string) (*tensor.T, error), opts Options) (*Machine, error) {
	if err := bytecode.Verify(p); err != nil {
		return nil, err
	}
	m := &Machine{program: p, memory: opts.Memory, perRun: p.Arena, closed: make(chan struct{})}
	if m.memory == nil {
		m.memory = new(Memory)
	}
	for _, port := range p.Outputs {
		m.perRun += p.Buffers[port.Buffer].Size
	}
	if err := m.checkSize(m.perRun); err != nil {
		return nil, err
	}
	if err := m.bindWeights(weights); err != nil {
		return nil, err
	}
	if err := m.bindCode(); err != nil {
		return nil, err
	}
	m.serial = m.isSmall()
	return m, nil
}

// checkSize refuses a run that could never have the memory that it begins with.
func (m *Machine) checkSize(bytes int64) error {
	if bytes <= m.memory.limit() {
		return nil
	}
	return &diag.Diagnostic{
		Code: "limit", Subject: m.program.Name,
		Message: sprintf("a run needs %d bytes, and the limit is %d", bytes, m.memory.limit()),
		Helps:   []string{"allow more with --max-memory, or run a smaller batch"},
	}
}

func (m *Machine) bindWeights(weights func(name string) (*tensor.T, error)) error {
	m.weights = make([]*tensor.T, len(m.program.Weights))
	for i, w := range m.program.Weights {
		t := &tensor.T{DType: w.Type.DType, Shape: w.Type.Shape, Data: w.Data}
		if w.Data == nil {
			var err error
			if t, err = fetch(weights, w); err != nil {
				return err
			}
		}
		m.weights[i] = t
	}
	return nil
}

// fetch asks for one parameter and checks that it is what the program expects.
func fetch(weights func(name string) (*tensor.T, error), w bytecode.Weight) (*tensor.T, error) {
	if weights == nil {
		return nil, &diag.Diagnostic{Code: "missing-weight", Subject: w.Name, Message: "there are no weights"}
	}
	t, err := weights(w.Name)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, &diag.Diagnostic{Code: "missing-weight", Subject: w.Name, Message: "the weight has no values"}
	}
	if got := typeOf(t); !got.Equal(w.Type) || !whole(t) {
		return nil, &diag.Diagnostic{Code: "bad-weight", Subject: w.Name, Message: sprintf("the weight is %s, but the program expects %s", got, w.Type)}
	}
	return alignedCopy(t), nil
}

func typeOf(t *tensor.T) bytecode.Type { return bytecode.Type{DType: t.DType, Shape: t.Shape} }

// whole reports whether a tensor has as much data as its type says.
func whole(t *tensor.T) bool {
	n, ok := typeOf(t).SizeBytes()
	return ok && n == int64(len(t.Data))
}

// alignedCopy returns t, or a copy where its elements could not be read in
// place.
func alignedCopy(t *tensor.T) *tensor.T {
	if tensor.Aligned(t.DType, t.Data) {
		return t
	}
	return t.Clone()
}

// bindCode binds each kernel once and makes the steps of all functions.
func (m *Machine) bindCode() error {
	p := m.program
	calls := make([]*ir.Call, len(p.Kernels))
	kernels := make([]*kernel.Kernel, len(p.Kernels))
	for i, k := range p.Kernels {
		var err error
		if calls[i], err = kernel.Bind(k.Op, k.Attrs, irTypes(k.In), irTypes(k.Out)); err != nil {
			return err
		}
		if kernels[i] = kernel.Select(calls[i]); kernels[i] == nil {
			return &diag.Diagnostic{Code: "bad-bytecode", Subject: k.Op, Message: "no kernel runs this operator"}
		}
		if at := k.InPlace; at != bytecode.Absent && !kernels[i].InPlace(calls[i], at) {
			return &diag.Diagnostic{
				Code: "bad-bytecode", Subject: k.Op,
				Message: sprintf("kernel k%d, %s, can't compute in place of argument %d", i, kernels[i].NameFor(calls[i].Op), at),
			}
		}
	}
	at := 0
	m.code = make([][][]step, len(p.Functions))
	for f := range p.Functions {
		m.code[f] = make([][]step, len(p.Functions[f].Streams))
		for s := range p.Functions[f].Streams {
			code := p.Functions[f].Streams[s].Code
			steps := make([]step, len(code))
			for i := range code {
				in := &code[i]
				steps[i] = step{Instr: in, args: at}
				at += len(in.Out) + len(in.In)
				if in.Op == bytecode.Exec {
					steps[i].kernel, steps[i].call = kernels[in.Index], calls[in.Index]
				}
			}
			m.code[f][s] = steps
			m.size += len(steps)
		}
	}
	m.operands = at
	return nil
}

func irTypes(list []bytecode.Type) []ir.Type {
	out := make([]ir.Type, len(list))
	for i, t := range list {
		if t.DType != tensor.Invalid {
			out[i] = ir.T(t.DType, ir.Dims(t.Shape...)...)
		}
	}
	return out
}

// handover is how long, in nanoseconds, it takes about to start a stream's
// goroutine, or to wake one that waits for an event.
const handover = 2000

// isSmall reports whether one goroutine would have done the work of all streams
// before others had been started and had waited for each other.
func (m *Machine) isSmall() bool {
	streams := m.code[0]
	if len(streams) <= 1 || runtime.GOMAXPROCS(0) == 1 {
		return true
	}
	gain := int64(handover * (len(streams) - 1))
	for _, steps := range streams {
		for i := range steps {
			if steps[i].Op == bytecode.Wait {
				gain += handover
			}
			work := m.work(&steps[i])
			if work > maxSmall {
				return false
			}
			gain -= work
		}
	}
	return gain > 0
}

// maxSmall is more nanoseconds than any step of a small program takes.
const maxSmall = 1 << 30

// work estimates a step's nanoseconds: one for a flop and for four bytes, which
// the portable kernels come near. How often a body runs is not known.
func (m *Machine) work(st *step) int64 {
	switch {
	case len(st.Bodies) > 0:
		return maxSmall + 1
	case st.call != nil:
		cost := st.call.Cost()
		return min(cost.Flops, maxSmall) + min(cost.In, maxSmall)/4 + min(cost.Out, maxSmall)/4
	case st.Op == bytecode.Copy:
		return m.program.Buffers[st.Out[0]].Size / 4
	}
	return 0
}

// Size is the number of instructions.
func (m *Machine) Size() int { return m.size }

func (m *Machine) isClosed() bool {
	select {
	case <-m.closed:
		return true
	default:
		return false
	}
}

// Close waits for the runs under way and frees their memory. Runs that begin
// later fail. Close may be called twice.
func (m *Machine) Close() {
	m.mu.Lock()
	if !m.isClosed() {
		close(m.closed)
	}
	m.mu.Unlock()
	m.runs.Wait()
	m.memory.forget(m)
}
