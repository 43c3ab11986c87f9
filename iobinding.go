package npu

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/npulang/npu/ir"
)

// An IOBinding runs a program on fixed tensors: it reads its inputs where the
// caller keeps them, and writes its results where the caller wants them. Between
// runs the caller may change what the inputs hold. See Program.Bind.
type IOBinding struct {
	p       *Program
	args    []*Tensor
	results []*Tensor
	plan    *planned // that served the run before
	busy    atomic.Bool
}

// Bind binds inputs and outputs, by name, to the caller's tensors. An input that is
// left out has its default; an output that is left out is given memory once, which
// Outputs hands out. The sizes of the inputs fix those of symbolic dimensions, and a
// plan for them is made now. Errors are those of Run, and bad-input for an output
// that the graph does not have, of another type, or whose memory is that of another
// tensor, an input, an output or a weight.
//
// Tensors whose elements can be read in place, as all that this package makes, are
// used without a copy; then a run allocates nothing once there has been one.
//
//	x := npu.NewTensor(npu.F32, 1, 784)
//	b, err := p.Bind(map[string]*npu.Tensor{"x": x}, nil)
//	if err != nil { ... }
//	probs := npu.Of[float32](b.Outputs()["probs"])
//	for ... {
//		copy(npu.Of[float32](x), pixels)
//		if err := b.Run(ctx); err != nil { ... }
//		use(probs)
//	}
//
// An IOBinding serves one run at a time, since its results have one place; bind
// again for another goroutine. It holds nothing that would have to be closed.
func (p *Program) Bind(inputs, outputs map[string]*Tensor) (*IOBinding, error) {
	if err := p.plans.begin(); err != nil {
		return nil, err
	}
	defer p.plans.users.Done()
	args, err := p.arguments(inputs)
	if err != nil {
		return nil, asDiagnostics(err)
	}
	b := &IOBinding{p: p, args: args}
	err = b.bindOutputs(outputs)
	if err == nil {
		err = b.prepare()
	}
	if err != nil {
		return nil, excerpt(p.script, runError(err))
	}
	return b, nil
}

// bindOutputs puts the outputs in order, and makes those that are not given.
func (b *IOBinding) bindOutputs(outputs map[string]*Tensor) error {
	f := b.p.fn
	var names []string
	for i := range f.Results {
		names = append(names, f.ResultName(i))
	}
	env, err := ir.BindSymbols(f, typesOf(b.args))
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(outputs) {
		if err := checkOutput(f, name, names); err != nil {
			return err
		}
	}
	b.results = make([]*Tensor, len(names))
	for i, v := range f.Results {
		t, err := v.Type.Bind(env)
		if err != nil {
			return err
		}
		if b.results[i], err = boundOutput(names[i], t, outputs, b.p.opts.MaxMemory); err != nil {
			return err
		}
	}
	return nil
}

func checkOutput(f *ir.Func, name string, names []string) error {
	if slices.Contains(names, name) {
		return nil
	}
	d := &Diagnostic{Code: "bad-input", Subject: f.Name, Message: "the graph has no output " + asWord(name)}
	suggest(d, name, names)
	return Diagnostics{d}
}

// boundOutput is the tensor for an output of a type without symbols.
func boundOutput(name string, t Type, outputs map[string]*Tensor, most int64) (*Tensor, error) {
	given, ok := outputs[name]
	if !ok {
		if need, _ := t.Bytes().Const(); need > most {
			return nil, Diagnostics{{Code: "limit", Subject: name, Message: fmt.Sprintf("the output, %s, needs %d bytes, and the limit is %d", t, need, most)}}
		}
		return NewTensor(t.DType, t.Ints()...), nil
	}
	if given == nil {
		return nil, Diagnostics{{Code: "bad-input", Subject: name, Message: "the tensor for the output is nil",
			Helps: []string{"an output that is to be given memory is left out of the map"}}}
	}
	if err := checkTensor(name, given); err != nil {
		return nil, err
	}
	if is := ir.TypeOf(given); !is.Equal(t) {
		return nil, Diagnostics{{Code: "bad-input", Subject: name, Message: fmt.Sprintf("the tensor for the output is %s, and the output is %s", is, t)}}
	}
	return given, nil
}

// prepare makes the plan, and checks the tensors against it.
func (b *IOBinding) prepare() error {
	e, err := b.p.plans.acquire(context.Background(), b.p, b.args)
	if err != nil {
		return err
	}
	defer b.p.plans.leave(e)
	b.plan = e
	return e.machine.Check(b.args, b.results)
}

// Outputs are the tensors that runs write, by name: the caller's, and those that
// Bind has made.
func (b *IOBinding) Outputs() map[string]*Tensor {
	out := make(map[string]*Tensor, len(b.results))
	for i, t := range b.results {
		out[b.p.fn.ResultName(i)] = t
	}
	return out
}

// Run computes the graph; a nil context never ends it. After an error the outputs
// hold nothing of use.
func (b *IOBinding) Run(ctx context.Context) error {
	if !b.busy.CompareAndSwap(false, true) {
		return Diagnostics{{Code: "bad-input", Subject: b.p.fn.Name, Message: "the binding is running already",
			Helps: []string{"let each goroutine bind tensors of its own"}}}
	}
	defer b.busy.Store(false)
	if err := b.run(endless(ctx)); err != nil {
		return excerpt(b.p.script, runError(err))
	}
	return nil
}

func (b *IOBinding) run(ctx context.Context) error {
	e, err := b.p.plans.again(ctx, b.p, b.plan, b.args)
	if err != nil {
		return err
	}
	defer b.p.plans.leave(e)
	b.plan = e
	return e.machine.RunInto(ctx, b.args, b.results)
}

// endless is a context, or one that never ends where none is given: bad input
// does not panic.
func endless(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
