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

// Options bound what a Machine uses. The zero value is the default.
type Options struct {
	// MaxMemory bounds the bytes of arenas and outputs of all runs together;
	// 0 means 16 GiB. Weights belong to the caller.
	MaxMemory int64
	// PoolSize bounds how many runs are under way at once; others wait. 0 means
	// one for each processor.
	PoolSize int
}

// defaultMemory bounds programs when the caller says nothing: more than any
// example needs, and less than a server has.
const defaultMemory = 16 << 30

// A Machine is a program ready to run.
type Machine struct {
	program *bytecode.Program
	code    [][][]step // by function and stream
	weights []*tensor.T
	perRun  int64 // bytes of one run's arena and outputs

	mu     sync.Mutex
	slots  chan struct{} // a token for each run that may be under way
	frames []*frame      // not in use
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
	m := &Machine{program: p, closed: make(chan struct{})}
	if err := m.limit(opts); err != nil {
		return nil, err
	}
	if err := m.bindWeights(weights); err != nil {
		return nil, err
	}
	if err := m.bindCode(); err != nil {
		return nil, err
	}
	return m, nil
}

// limit sets how many runs may go on at once, so that all of them together
// stay below the memory that the options grant.
func (m *Machine) limit(opts Options) error {
	limit, pool := opts.MaxMemory, opts.PoolSize
	if limit <= 0 {
		limit = defaultMemory
	}
	if pool <= 0 {
		pool = runtime.GOMAXPROCS(0)
	}
	m.perRun = m.program.Arena
	for _, port := range m.program.Outputs {
		m.perRun += m.program.Buffers[port.Buffer].Size
	}
	if m.perRun > limit {
		return &diag.Diagnostic{
			Code: "limit", Subject: m.program.Name,
			Message: sprintf("a run needs %d bytes, and the limit is %d", m.perRun, limit),
			Helps:   []string{"allow more with --max-memory, or run a smaller batch"},
		}
	}
	if m.perRun > 0 {
		pool = int(min(int64(pool), limit/m.perRun))
	}
	m.slots = make(chan struct{}, pool)
	return nil
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
		}
	}
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

// Close waits for the runs under way and frees their memory. Runs that begin
// later fail. Close may be called twice.
func (m *Machine) Close() {
	m.mu.Lock()
	select {
	case <-m.closed:
	default:
		close(m.closed)
	}
	m.mu.Unlock()
	m.runs.Wait()
	m.mu.Lock()
	m.frames = nil
	m.mu.Unlock()
}
