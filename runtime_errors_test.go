package npu_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/golden/expect"
)

// lineHere is the line of the caller.
func lineHere() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// fail drops a result, so that a call with two of them can be shown.
func fail[T any](_ T, err error) error { return err }

// TestRuntimeErrors shows the message of every mistake.
func TestRuntimeErrors(t *testing.T) {
	cpu := must(npu.FindDevice("cpu"))
	small := *cpu
	small.Name, small.Streams, small.DefaultStreams, small.Events, small.Memory = "small", 1, 1, 1, 1<<20
	rt := newRuntime(t, npu.RuntimeOptions{Devices: []*npu.Device{cpu, &small}, MaxMemory: 64 << 20, CheckOrder: true})
	other := newRuntime(t, npu.RuntimeOptions{})
	matrix := func(d npu.DType, shape ...int) *npu.DeviceTensor { return must(rt.NewTensor(d, shape...)) }
	a, d := matrix(npu.F32, 1024, 1024).WithName("A"), matrix(npu.F32, 512, 512).WithName("D")
	half, v := matrix(npu.F16, 4).WithName("H"), matrix(npu.F32, 4)
	foreign := must(other.NewTensor(npu.F32, 4)).WithName("F")
	freed := matrix(npu.F32, 4).WithName("G")
	must(0, freed.Free())
	s := must(rt.NewStream())
	e := must(rt.NewEvent())
	closedStream, closedEvent := must(rt.NewStream()), must(rt.NewEvent())
	must(0, closedStream.Close())
	must(0, closedEvent.Close())
	must(0, rt.SetDevice(1))
	far := must(rt.NewTensor(npu.F32, 4)).WithName("R")
	_, _ = must(rt.NewStream()), must(rt.NewEvent())
	noMoreStreams, noMoreEvents := fail(rt.NewStream()), fail(rt.NewEvent())
	full := fail(rt.NewTensor(npu.F32, 1<<18+1))
	must(0, rt.SetDevice(0))
	block := must(rt.MemoryPool().Allocate(100))
	must(0, rt.MemoryPool().Free(block))
	execute := func(op string, in, out tensors, attrs ...npu.Attr) error {
		return fail(rt.Execute(op, in, out, attrs...))
	}
	shut := must(npu.NewRuntime(npu.RuntimeOptions{}))
	lost := must(shut.NewTensor(npu.F32, 4))
	shutEvent := must(shut.NewEvent())
	shut.Close()

	// Two streams and no event between them.
	x, y := vector(rt, 1), vector(rt, 2).WithName("Y")
	s2 := must(rt.NewStream())
	release := s.Block()
	must(s.Execute("Neg", tensors{x}, tensors{y}))
	reads := fail(s2.Execute("Abs", tensors{y}, nil))
	writes := fail(s2.Execute("Abs", tensors{x}, tensors{x}))
	copies := s2.Copy(y, x)
	views := fail(y.Host())
	waits := fail(npu.Elapsed(e, e))
	must(0, e.Record(s))
	passes := fail(npu.Elapsed(e, e))
	release()
	must(0, s.Synchronize(context.Background()))
	must(s2.Execute("Abs", tensors{y}, nil)) // ordered by the host

	var text strings.Builder
	for _, c := range []struct {
		what string
		err  error
	}{
		{"inner dimensions", execute("MatMul", tensors{a, d}, nil)},
		{"dtypes", execute("Add", tensors{half, v}, nil)},
		{"one dtype", execute("BitAnd", tensors{v, v}, nil)},
		{"rank", execute("conv", tensors{v, d}, nil)},
		{"axis", execute("softmax", tensors{v}, nil, npu.Axis(3))},
		{"an attribute of another operator", execute("Relu", tensors{v}, nil, npu.Axis(3))},
		{"too few inputs", execute("add", tensors{v}, nil)},
		{"a nil input", execute("add", tensors{v, nil}, nil)},
		{"too many inputs", execute("neg", tensors{v, v}, nil)},
		{"no such operator", execute("MatMull", tensors{a, d}, nil)},
		{"nothing near", execute("quicksilver", nil, nil)},
		{"an operator with a body", execute("Loop", nil, nil)},
		{"shape of the output", execute("neg", tensors{v}, tensors{d})},
		{"dtype of the output", execute("neg", tensors{v}, tensors{half})},
		{"number of outputs", execute("neg", tensors{v}, tensors{v, d})},
		{"a nil output", execute("neg", tensors{v}, tensors{nil})},
		{"an output twice", execute("top_k", tensors{v}, tensors{v, v}, npu.K(npu.N(4)))},
		{"a freed input", execute("neg", tensors{freed}, nil)},
		{"a freed output", execute("neg", tensors{v}, tensors{freed})},
		{"another device", execute("neg", tensors{far}, nil)},
		{"another runtime", execute("neg", tensors{foreign}, nil)},
		{"a result without a size", execute("top_k", tensors{v}, nil, npu.K(npu.Sym("B")))},
		{"a type for which there is nothing to bind", execute("iota", nil, nil)},
		{"a result that does not fit", execute("matmul", tensors{matrix(npu.F32, 1<<13, 1), matrix(npu.F32, 1, 1<<13)}, nil)},
		{"batch", fail(rt.ExecuteBatch([]npu.Operation{{Op: "neg", Inputs: tensors{v, v}}, {Op: "Ad", Inputs: tensors{v, v}}}))},

		{"unordered read", reads},
		{"unordered write", writes},
		{"unordered copy", copies},
		{"unordered view", views},

		{"copy of shapes", s.Copy(d, v)},
		{"copy of dtypes", s.Copy(half, v)},
		{"copy of nil", s.Copy(nil, v)},
		{"copy of a freed tensor", s.Copy(v, freed)},
		{"copy elsewhere", s.Copy(far, far)},
		{"copy between runtimes", s.Copy(v, foreign)},
		{"upload elsewhere", s.Upload(far, npu.FromSlice([]int{4}, []float32{1, 2, 3, 4}))},
		{"upload of nil", s.Upload(v, nil)},
		{"upload of half a tensor", s.Upload(v, &npu.Tensor{DType: npu.F32, Shape: []int{4}, Data: make([]byte, 8)})},
		{"upload of a broken tensor", fail(rt.Upload(&npu.Tensor{DType: npu.F32, Shape: []int{-4}}))},
		{"upload of none", fail(rt.Upload(nil))},
		{"download to nil", s.Download(nil, v)},
		{"download of nil", fail(rt.Download(nil))},
		{"download to another shape", s.Download(npu.FromSlice([]int{2}, []float32{1, 2}), v)},

		{"negative size", fail(rt.NewTensor(npu.F32, -1))},
		{"no dtype", fail(rt.NewTensor(npu.DType(0), 1))},
		{"overflow", fail(rt.NewTensor(npu.F32, 1<<30, 1<<30, 1<<30))},
		{"memory of the device", full},
		{"freed twice", freed.Free()},
		{"view of a freed tensor", fail(freed.Host())},
		{"view of another device", fail(far.Host())},
		{"block freed twice", rt.MemoryPool().Free(block)},
		{"block of another pool", other.MemoryPool().Free(must(rt.MemoryPool().Allocate(8)))},
		{"negative block", fail(rt.MemoryPool().Allocate(-8))},

		{"streams of the device", noMoreStreams},
		{"events of the device", noMoreEvents},
		{"closed stream", fail(closedStream.Execute("neg", tensors{v}, nil))},
		{"stream closed twice", closedStream.Close()},
		{"default stream closed", rt.DefaultStream().Close()},
		{"synchronize with a closed stream", closedStream.Synchronize(context.Background())},
		{"record of a closed event", closedEvent.Record(s)},
		{"record of no event", (*npu.Event)(nil).Record(s)},
		{"record on no stream", e.Record(nil)},
		{"wait for no event", s.Wait(nil)},
		{"wait of no stream", e.Wait(nil)},
		{"time since no event", fail(npu.Elapsed(nil, e))},
		{"wait for a closed event", s.Wait(closedEvent)},
		{"event closed twice", closedEvent.Close()},
		{"record on another runtime", e.Record(other.DefaultStream())},
		{"wait of another runtime", e.Wait(other.DefaultStream())},
		{"never recorded", waits},
		{"not passed", passes},

		{"no such device", rt.SetDevice(2)},
		{"no devices", fail(npu.NewRuntime(npu.RuntimeOptions{Devices: []*npu.Device{}}))},
		{"a nil device", fail(npu.NewRuntime(npu.RuntimeOptions{Devices: []*npu.Device{nil}}))},
		{"a broken device", fail(npu.NewRuntime(npu.RuntimeOptions{Devices: []*npu.Device{{Name: "x"}}}))},
		{"negative memory", fail(npu.NewRuntime(npu.RuntimeOptions{MaxMemory: -1}))},
		{"negative chunks", fail(npu.NewRuntime(npu.RuntimeOptions{ChunkBytes: -1}))},
		{"closed runtime", fail(shut.Execute("neg", tensors{lost}, nil))},
		{"its tensors", fail(shut.NewTensor(npu.F32))},
		{"its streams", fail(shut.NewStream())},
		{"its default stream", shut.DefaultStream().Copy(lost, lost)},
		{"its events", fail(shut.NewEvent())},
		{"an event of before", shutEvent.Record(shut.DefaultStream())},
		{"its memory", fail(shut.MemoryPool().Allocate(1))},
		{"its view", fail(lost.Host())},
	} {
		if c.err == nil {
			t.Errorf("%s: accepted", c.what)
			continue
		}
		text.WriteString(c.what + "\n" + shown(t, c.err))
	}
	expect.File(t, "testdata/runtime_errors.txt", text.String())
}
