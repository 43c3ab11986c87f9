package vm

import (
	"sync"
	"sync/atomic"

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
	// Workers help with large tasks and with several streams; machines may share
	// them. Nil: some of the machine's own.
	Workers *Workers
	// Calls are the calls of the program's kernels, as codegen.Emit has returned
	// them with it, so that they need not be made of their text again. Nil: they are.
	Calls []*ir.Call
	// Poison fills memory with NaN that holds nothing, to find what reads it.
	Poison bool
	// Kernels say which kernels tasks may have; nil: the best of this processor.
	// Machines of one program share the constants in Kernels.Packs.
	Kernels *kernel.Options
	// Reads, if set, is told by Load of each parameter whose own elements runs read,
	// before constants are packed; those of others are read by the packing only. Its
	// error is Load's.
	Reads func(name string) error
	// Check, if set, holds every task against its operators' evaluation, which then
	// stands in the place of what the task's kernel has computed. Of a region each
	// operator's own kernel is held against its evaluation, and the region against what
	// these give, or if it gives other bits against the evaluations. A run stops with
	// what Check makes of a difference. It costs time and memory: it is for tests.
	Check func(Difference) error
}

// A Machine is a program ready to run.
type Machine struct {
	program  *bytecode.Program
	code     [][][]step // by function and stream
	inside   []bool     // by function: it is a body of a region that is one task, and no step runs it
	size     int        // instructions
	operands int        // of all of them
	weights  []*tensor.T
	held     []span // their memory, ascending, what overlaps as one; port is the weight
	memory   *Memory
	arena    int64 // bytes of the program's arena that its steps touch
	perRun   int64 // bytes of one run's arena and outputs
	workers  *Workers
	own      bool // Close lets go of the workers
	users    gate // runs under way
	spans    sync.Pool
	touches  []int32 // under Poison: by root buffer, how many steps touch it

	scratch int64    // most bytes that kernels of a run took beside; memory.mu guards it
	frames  []*frame // without a run, the one used last comes last; memory.mu guards them
	joined  bool     // memory counts it; memory.mu guards it

	kernels *kernel.Options       // that tasks may have
	calls   []*ir.Call            // by kernel of the program
	watch   atomic.Pointer[watch] // see Watch; nil: nothing is counted

	check    func(Difference) error // see Options
	handover int64                  // see there
	choose   func(*crew) int        // how a test wants streams to be taken
	aside    func(*stream)          // what a test does when a stream is set aside
}

// A step is one instruction, ready to run.
type step struct {
	*bytecode.Instr
	call    *ir.Call         // of an exec
	task    *kernel.Prepared // of an exec, and of a call whose body is one kernel
	body    *kernel.Body     // what the task computes, if Options.Check asks
	checker *checker         // of it
	out, in []int            // the buffers of the task's operands, or of the instruction's
	args    int              // where their tensors begin in frame.args: results, then arguments
	work    int64            // nanoseconds, about
	parts   int              // of a large task; 0: it is not divided
	number  int              // among all of the machine
	renames bool             // a copy that moves nothing
	touches []int            // see findTouches
}

// Load checks a program and makes it ready: it verifies the code, binds each
// exec to a kernel, and asks weights for the tensors of the parameters by their
// names. The tensors are shared and must not change. The error is a
// *diag.Diagnostic (bad-bytecode, bad-weight, limit) or what weights returned.
func Load(p *bytecode.Program, weights func(name string) (*tensor.T, error), opts Options) (*Machine, error) {
	if err := bytecode.Verify(p); err != nil {
		return nil, err
	}
	m := &Machine{program: p, memory: opts.Memory, workers: opts.Workers, spans: newSpans(), handover: handover}
	m.users.init()
	if m.memory == nil {
		m.memory = new(Memory)
	}
	if m.workers == nil {
		m.workers, m.own = SharedWorkers(-1), true
		EndWith(m, m.workers)
	}
	if err := m.bindWeights(weights); err != nil {
		return nil, err
	}
	if err := m.bindCode(&opts); err != nil {
		return nil, err
	}
	m.arena = m.needed()
	m.perRun = m.arena
	for _, port := range p.Outputs {
		m.perRun += p.Buffers[port.Buffer].Size
	}
	if err := m.checkSize(m.perRun); err != nil {
		return nil, err
	}
	m.estimate()
	if opts.Poison {
		m.findTouches()
	}
	m.memory.join(m)
	return m, nil
}

// needed is how much of the arena the steps touch: what lies behind, values inside
// of regions that are one task each, need not be there.
func (m *Machine) needed() int64 {
	end := int64(0)
	for f := range m.code {
		if m.inside[f] {
			continue
		}
		for _, steps := range m.code[f] {
			for i := range steps {
				end = max(end, m.endOf(steps[i].out), m.endOf(steps[i].in))
			}
		}
	}
	// To the first of the frames behind, so that it is the same for all sizes of a plan
	// for the largest.
	need := m.program.Arena
	for f, unused := range m.inside {
		if frame := m.program.Functions[f].Frame; unused && frame >= 0 && m.program.Buffers[frame].Offset >= end {
			need = min(need, m.program.Buffers[frame].Offset)
		}
	}
	return need
}

// endOf is where the last of some buffers in the arena ends.
func (m *Machine) endOf(buffers []int) (end int64) {
	for _, i := range buffers {
		if b := &m.program.Buffers[max(i, 0)]; i >= 0 && b.Space == bytecode.ArenaSpace {
			end = max(end, b.Offset+b.Size)
		}
	}
	return end
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
	m.holdWeights()
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

// bindCode makes the steps of all functions, and finds a kernel for each task.
func (m *Machine) bindCode(opts *Options) error {
	p := m.program
	calls, err := bindCalls(p.Kernels, opts.Calls)
	if err != nil {
		return err
	}
	kernels := opts.Kernels
	if kernels == nil {
		best := kernel.Best()
		kernels = &best
	}
	later := *kernels
	later.Later = true
	later.Packs.Begin()
	defer later.Packs.Finish(later.Threads)
	b := &binder{m: m, opts: &later, calls: calls, known: map[string]*kernel.Prepared{}}
	m.kernels, m.calls = kernels, calls
	m.check = opts.Check
	m.code = make([][][]step, len(p.Functions))
	m.inside = make([]bool, len(p.Functions)) // bodies come behind what runs them
	for f := range p.Functions {
		m.code[f] = make([][]step, len(p.Functions[f].Streams))
		for s := range p.Functions[f].Streams {
			code := p.Functions[f].Streams[s].Code
			steps := make([]step, len(code))
			for i := range code {
				if steps[i], err = b.step(&code[i], m.inside[f]); err != nil {
					return err
				}
				for _, body := range code[i].Bodies {
					if body != bytecode.NoBody {
						m.inside[body] = m.inside[f] || steps[i].task != nil
					}
				}
				steps[i].number = m.size + i
				steps[i].args = m.operands
				m.operands += len(steps[i].out) + len(steps[i].in)
			}
			m.code[f][s] = steps
			m.size += len(steps)
		}
	}
	return m.tellReads(opts.Reads)
}

// Size is the number of instructions.
func (m *Machine) Size() int { return m.size }

// Close waits for the runs under way and frees their memory. Runs that begin
// later fail. Close may be called twice.
func (m *Machine) Close() {
	m.users.close()
	m.memory.forget(m)
	if m.own {
		m.workers.Close()
	}
}
