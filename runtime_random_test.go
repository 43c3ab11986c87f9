package npu_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
)

// TestRandomSchedules runs random functions operator by operator on random
// streams, with the events that their data ask for, and frees each tensor when its
// last reader is submitted. Every value must be what the interpreter computes, and
// no right order may be refused.
func TestRandomSchedules(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 60
	}
	operators := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 6))
		f, inputs := irtest.Func(r, 2+r.IntN(25))
		want := map[*ir.Value][]*tensor.T{}
		in := ir.Interp{Trace: func(v *ir.Value, out []*tensor.T) {
			for _, o := range out {
				want[v] = append(want[v], o.Clone())
			}
		}}
		if _, err := in.Run(f, inputs...); err != nil {
			continue // the errors of runs have tests of their own
		}
		s := newScheduler(t, r)
		operators += s.schedule(f, inputs, want)
		s.rt.Close()
	}
	if operators < 10*seeds/2 {
		t.Errorf("only %d operators were executed", operators)
	}
}

// A scheduler is a function on its way through a runtime.
type scheduler struct {
	t       *testing.T
	r       *rand.Rand
	rt      *npu.Runtime
	streams []*npu.Stream
	held    map[*ir.Value]*heldValue
}

// A heldValue is a value that is computed, or under way.
type heldValue struct {
	tensors []*npu.DeviceTensor
	ready   *npu.Event
	readers int // that are not submitted yet
}

func newScheduler(t *testing.T, r *rand.Rand) *scheduler {
	s := &scheduler{t: t, r: r, held: map[*ir.Value]*heldValue{}}
	s.rt = must(npu.NewRuntime(npu.RuntimeOptions{
		Kernels: npu.KernelsReference, CheckOrder: true, Poison: true, NoPool: r.IntN(4) == 0, NoReuse: r.IntN(4) == 0, ChunkBytes: 64 << 10,
	}))
	must(0, s.rt.SetDevice(r.IntN(s.rt.DeviceCount())))
	for range 1 + r.IntN(5) {
		s.streams = append(s.streams, must(s.rt.NewStream()))
	}
	return s
}

// schedule submits all operators of f and compares all values; it returns how
// many were executed by the runtime.
func (s *scheduler) schedule(f *ir.Func, inputs []*tensor.T, want map[*ir.Value][]*tensor.T) int {
	for _, v := range f.Body {
		for _, a := range v.Args {
			if a != nil {
				s.value(owner(a)).readers++
			}
		}
	}
	for i, v := range f.Params {
		s.upload(v, []*tensor.T{inputs[i]})
	}
	executed := 0
	checks := map[*ir.Value][]*tensor.T{}
	for _, v := range f.Body {
		switch {
		case v.Op.Flags&ir.Projection != 0:
		case v.Op == ir.Const || v.Op.Class == ir.Region:
			s.upload(v, want[v]) // a runtime does not execute it
		default:
			checks[v] = s.execute(v)
			executed++
		}
		s.done(v)
	}
	for _, stream := range s.streams {
		if err := stream.Synchronize(context.Background()); err != nil {
			s.t.Fatalf("%v\n%s", err, f)
		}
	}
	for v, got := range checks {
		for i := range got {
			if !tensor.BitEqual(got[i], want[v][i]) {
				s.t.Fatalf("result %d of %s: %v\n%s", i, v.Op.Name, tensor.Compare(got[i], want[v][i], 0), f)
			}
		}
	}
	return executed
}

// owner is the value that computes v.
func owner(v *ir.Value) *ir.Value {
	if v.Op != nil && v.Op.Flags&ir.Projection != 0 {
		return v.Args[0]
	}
	return v
}

func (s *scheduler) value(v *ir.Value) *heldValue {
	if s.held[v] == nil {
		s.held[v] = &heldValue{ready: must(s.rt.NewEvent())}
	}
	return s.held[v]
}

func (s *scheduler) stream() *npu.Stream { return s.streams[s.r.IntN(len(s.streams))] }

// upload makes a value of what is known.
func (s *scheduler) upload(v *ir.Value, ts []*tensor.T) {
	h, stream := s.value(v), s.stream()
	for _, t := range ts {
		d := must(s.rt.NewTensor(t.DType, t.Shape...))
		must(0, stream.Upload(d, t))
		h.tensors = append(h.tensors, d)
	}
	must(0, h.ready.Record(stream))
}

// tensor is what v is on the device.
func (s *scheduler) tensor(v *ir.Value) *npu.DeviceTensor {
	if o := owner(v); o != v {
		return s.held[o].tensors[v.Attrs[0].Int]
	}
	return s.held[v].tensors[0]
}

// execute submits the operator of v, and a copy of its results to the host.
func (s *scheduler) execute(v *ir.Value) []*tensor.T {
	h, stream := s.value(v), s.stream()
	var args []*npu.DeviceTensor
	for _, a := range v.Args {
		if a == nil {
			args = append(args, nil)
			continue
		}
		must(0, stream.Wait(s.held[owner(a)].ready))
		args = append(args, s.tensor(a))
	}
	var attrs []npu.Attr
	for i, a := range v.Op.Attrs {
		if !v.Attrs[i].Equal(a.Default) {
			attrs = append(attrs, npu.RawAttr(a.Name, v.Attrs[i]))
		}
	}
	l, err := stream.Execute(v.Op.Name, args, nil, attrs...)
	if err != nil {
		s.t.Fatal(err)
	}
	h.tensors = l.Outputs()
	var out []*tensor.T
	for _, d := range h.tensors {
		host := tensor.New(d.DType(), d.Shape()...)
		must(0, stream.Download(host, d))
		out = append(out, host)
	}
	must(0, h.ready.Record(stream))
	return out
}

// done frees what v was the last one to read, and v if nothing will read it.
func (s *scheduler) done(v *ir.Value) {
	for _, a := range v.Args {
		if a != nil {
			h := s.held[owner(a)]
			h.readers--
			s.free(h)
		}
	}
	if owner(v) == v {
		s.free(s.held[v])
	}
}

func (s *scheduler) free(h *heldValue) {
	if h.readers > 0 || h.tensors == nil {
		return
	}
	for _, d := range h.tensors {
		must(0, d.Free())
	}
	h.tensors = nil
	must(0, h.ready.Close())
}

// TestOutputIsInput writes the result of every operator over each argument that
// has its type.
func TestOutputIsInput(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{Kernels: npu.KernelsReference, Poison: true})
	compared := 0
	for _, op := range ir.Ops() {
		if op.Sample == nil || op.Eval == nil || op.Class == ir.Region || op == ir.Const || op.Flags&(ir.Unbound|ir.Projection) != 0 {
			continue
		}
		r := rand.New(rand.NewPCG(8, uint64(len(op.Name))))
		for range 10 {
			c := op.Sample(r)
			if c.Op = op; c.Attrs == nil {
				c.Attrs = op.Defaults()
			}
			must(0, ir.InferCall(&c))
			for i := range c.In {
				if len(c.Out) == 1 && c.In[i].Equal(c.Out[0]) {
					compared += overwrite(t, rt, r, &c, i)
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d calls were compared", compared)
	}
}

// overwrite executes a call into its argument i, and compares with the evaluation
// of its row. Half of the time all arguments of that type are one tensor.
func overwrite(t *testing.T, rt *npu.Runtime, r *rand.Rand, c *ir.Call, i int) int {
	one := r.IntN(2) == 0
	args, in := make([]*tensor.T, len(c.In)), make(tensors, len(c.In))
	for j, typ := range c.In {
		switch {
		case typ.Absent():
			continue
		case j < len(c.Known) && c.Known[j] != nil:
			args[j] = c.Known[j]
		default:
			args[j] = irtest.Tensor(r, typ)
		}
		in[j] = must(rt.Upload(args[j]))
	}
	for j, typ := range c.In {
		if one && in[j] != nil && in[i] != nil && typ.Equal(c.In[i]) {
			args[j], in[j] = args[i], in[i]
		}
	}
	want, wantErr := ir.Evaluate(c, args...)
	var attrs []npu.Attr
	for j, a := range c.Op.Attrs {
		attrs = append(attrs, npu.RawAttr(a.Name, c.Attrs[j]))
	}
	_, err := rt.Execute(c.Op.Name, in, tensors{in[i]}, attrs...)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%s: %v, want %v", c.Op.Name, err, wantErr)
	}
	if got := must(rt.Download(in[i])); err == nil && !tensor.BitEqual(got, want[0]) {
		t.Fatalf("%s of %v into argument %d: %v", c.Op.Name, c.In, i, tensor.Compare(got, want[0], 0))
	}
	return 1
}

// TestMissingEvents takes any one wait out of a chain over two streams, and the
// runtime refuses what follows.
func TestMissingEvents(t *testing.T) {
	const steps = 6
	for missing := range steps + 1 {
		rt := newRuntime(t, npu.RuntimeOptions{CheckOrder: true})
		streams := []*npu.Stream{must(rt.NewStream()), must(rt.NewStream())}
		a, b := vector(rt, 1, 2), vector(rt, 0, 0)
		var refused error
		release := streams[0].Block()
		for i := range steps {
			s := streams[i%2]
			if i > 0 && i != missing {
				e := must(rt.NewEvent())
				must(0, errors.Join(e.Record(streams[(i+1)%2]), e.Wait(s)))
			}
			if _, refused = s.Execute("neg", tensors{a}, tensors{b}); refused != nil {
				break
			}
			a, b = b, a
		}
		release()
		if missed := missing > 0 && missing < steps; (refused != nil) != missed {
			t.Errorf("without wait %d: %v", missing, refused)
		}
	}
}
