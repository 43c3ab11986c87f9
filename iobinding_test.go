package npu_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/npulang/npu"
)

// bindable has operators of many kinds, two results and an input with a default.
const bindable = `
param w: f32[8, 8]
param g: f32[8]
graph main(x: f32[B, 8], k: f32[8] = [1, 2, 3, 4, 5, 6, 7, 8]) -> (y: f32[B, 8], m: f32[B]) {
    h = relu(x @ w + g) * k
    return softmax(h, axis=-1), max(h, axis=-1)
}
`

func bindableProgram(t testing.TB, opts npu.Options) *npu.Program {
	t.Helper()
	opts.RandomWeights = true
	p, err := npu.Compile(npu.Script("bindable.npu", bindable), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// TestBind runs a program on bound tensors whose contents change between runs.
func TestBind(t *testing.T) {
	p := bindableProgram(t, npu.Options{})
	x, y := npu.RandomTensor(npu.F32, []int{3, 8}, 1, "x"), npu.NewTensor(npu.F32, 3, 8)
	b, err := p.Bind(map[string]*npu.Tensor{"x": x}, map[string]*npu.Tensor{"y": y})
	if err != nil {
		t.Fatal(err)
	}
	if out := b.Outputs(); len(out) != 2 || out["y"] != y || out["m"] == nil {
		t.Fatalf("the outputs are %v", out)
	}
	for i := range 4 {
		npu.Of[float32](x)[5] = float32(i)
		if err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want, err := p.Run(t.Context(), map[string]*npu.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			if got := b.Outputs()[name]; string(got.Data) != string(w.Data) {
				t.Errorf("run %d: %s is %v, want %v", i, name, got, w)
			}
		}
	}
}

// TestBindUnaligned binds tensors in the middle of bytes.
func TestBindUnaligned(t *testing.T) {
	p := bindableProgram(t, npu.Options{})
	x := npu.RandomTensor(npu.F32, []int{2, 8}, 1, "x")
	odd := func(of *npu.Tensor) *npu.Tensor {
		data := append(make([]byte, 1, len(of.Data)+1), of.Data...)[1:]
		return &npu.Tensor{DType: of.DType, Shape: of.Shape, Data: data}
	}
	y := odd(npu.NewTensor(npu.F32, 2, 8))
	b, err := p.Bind(map[string]*npu.Tensor{"x": odd(x)}, map[string]*npu.Tensor{"y": y})
	if err == nil {
		err = b.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Run(t.Context(), map[string]*npu.Tensor{"x": x})
	if err != nil || string(want["y"].Data) != string(y.Data) {
		t.Errorf("got %v, want %v, error %v", y.Data, want["y"].Data, err)
	}
}

// TestBindAllocates checks that a steady run on bound tensors allocates nothing.
func TestBindAllocates(t *testing.T) {
	if underRace {
		t.Skip("the race detector makes pools forget")
	}
	for _, opts := range []npu.Options{{}, {Level: npu.O0}, {Streams: 1}, {MemoryMode: npu.MemoryOff}} {
		p := bindableProgram(t, opts)
		b, err := p.Bind(map[string]*npu.Tensor{"x": npu.RandomTensor(npu.F32, []int{4, 8}, 1, "x")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		cancellable, cancel := context.WithCancel(t.Context())
		defer cancel()
		for name, ctx := range map[string]context.Context{"plain": context.Background(), "cancellable": cancellable} {
			if n := testing.AllocsPerRun(100, func() {
				if err := b.Run(ctx); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("level %s, memory %s, streams %d, %s context: %v allocations a run", opts.Level, opts.MemoryMode, opts.Streams, name, n)
			}
		}
	}
}

// TestBindRefuses binds what does not fit.
func TestBindRefuses(t *testing.T) {
	p := bindableProgram(t, npu.Options{MaxDims: map[string]int64{"B": 4}})
	x, y := npu.NewTensor(npu.F32, 2, 8), npu.NewTensor(npu.F32, 2, 8)
	type tensors = map[string]*npu.Tensor
	for _, c := range []struct {
		in, out tensors
		want    string
	}{
		{tensors{}, nil, "no value is given for x"},
		{tensors{"x": x, "z": x}, nil, "the graph has no input z"},
		{tensors{"x": npu.NewTensor(npu.F32, 2, 7)}, nil, "x"},
		{tensors{"x": npu.NewTensor(npu.F32, 5, 8)}, nil, "B is 5 here, and the program is planned for at most 4"},
		{tensors{"x": x}, tensors{"yy": y}, "the graph has no output yy"},
		{tensors{"x": x}, tensors{"y": nil}, "the tensor for the output is nil"},
		{tensors{"x": x}, tensors{"y": npu.NewTensor(npu.F32, 3, 8)}, "the tensor for the output is f32[3,8], and the output is f32[2,8]"},
		{tensors{"x": x}, tensors{"y": npu.NewTensor(npu.I32, 2, 8)}, "the output is f32[2,8]"},
		{tensors{"x": x}, tensors{"y": {DType: npu.F32, Shape: []int{2, 8}, Data: y.Data[:8]}}, "the tensor is damaged"},
		{tensors{"x": x}, tensors{"y": x}, "output y shares memory with input x"},
		{tensors{"x": x}, tensors{"y": y, "m": {DType: npu.F32, Shape: []int{2}, Data: y.Data[8:16]}}, "output y shares memory with output m"},
	} {
		var ds npu.Diagnostics
		b, err := p.Bind(c.in, c.out)
		if !errors.As(err, &ds) || b != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: %v, want %s", c.in, c.out, err, c.want)
		}
	}
	b, err := p.Bind(tensors{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run ends with %v", err)
	}
	if p.Close(); b.Run(t.Context()) == nil {
		t.Error("a binding of a closed program runs")
	}
	if _, err := p.Bind(tensors{"x": x}, nil); err == nil {
		t.Error("a closed program can be bound")
	}
}

// TestBindToWeights: no output may lie where a weight does, all of it or a part,
// since every run reads the weights.
func TestBindToWeights(t *testing.T) {
	memory := npu.NewTensor(npu.F32, 16)
	part := func(from, n int) *npu.Tensor {
		return &npu.Tensor{DType: npu.F32, Shape: []int{n}, Data: memory.Data[4*from : 4*(from+n)]}
	}
	p, err := npu.Compile(npu.Script("weights.npu", `
param a: f32[4]
param b: f32[4]
param c: f32[6]
graph main(x: f32[4]) -> (y: f32[4], z: f32[6]) { return sort(x * a + b), sort(c * x[0]) }`),
		npu.Options{Weights: npu.Arrays{"a": part(4, 4), "b": part(5, 4), "c": part(6, 6)}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := npu.NewTensor(npu.F32, 4)
	for from := range 13 {
		_, err := p.Bind(map[string]*npu.Tensor{"x": x}, map[string]*npu.Tensor{"y": part(from, 4)})
		if apart := from == 0 || from == 12; (err == nil) != apart {
			t.Errorf("an output from element %d on: %v", from, err)
		} else if err != nil && !strings.Contains(err.Error(), "output y shares memory with weight a") {
			t.Errorf("got %v", err)
		}
	}
}

// TestBindEvicted runs bindings of more sizes than a program keeps plans for.
func TestBindEvicted(t *testing.T) {
	p := bindableProgram(t, npu.Options{})
	var group sync.WaitGroup
	for n := 1; n <= 40; n++ {
		x := npu.RandomTensor(npu.F32, []int{n, 8}, 1, "x")
		b, err := p.Bind(map[string]*npu.Tensor{"x": x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			for range 20 {
				if err := b.Run(context.Background()); err != nil {
					t.Error(err)
					return
				}
			}
			want, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": x})
			if err != nil || string(want["y"].Data) != string(b.Outputs()["y"].Data) {
				t.Errorf("%d rows differ: %v", n, err)
			}
		})
	}
	group.Wait()
}

// TestBindBusy lets many goroutines run one binding: each run is whole, or refused.
func TestBindBusy(t *testing.T) {
	p := bindableProgram(t, npu.Options{})
	b, err := p.Bind(map[string]*npu.Tensor{"x": npu.RandomTensor(npu.F32, []int{64, 8}, 1, "x")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if err := b.Run(context.Background()); err != nil && !strings.Contains(err.Error(), "the binding is running already") {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// TestMemoryInfo looks at what a program holds before, between and after runs.
func TestMemoryInfo(t *testing.T) {
	p := bindableProgram(t, npu.Options{MaxMemory: 1 << 30})
	if i := p.MemoryInfo(); i.Limit != 1<<30 || i.Used != 0 || i.Kept != 0 || i.Peak != 0 {
		t.Errorf("before the first run: %+v", i)
	}
	if _, err := p.Run(t.Context(), map[string]*npu.Tensor{"x": npu.NewTensor(npu.F32, 64, 8)}); err != nil {
		t.Fatal(err)
	}
	i := p.MemoryInfo()
	if i.Used != 0 || i.Kept < 64*8*4 || i.Peak < i.Kept || i.Arenas.Used < i.Kept || i.Running != 0 {
		t.Errorf("after a run: %+v", i)
	}
	p.Close()
	if i := p.MemoryInfo(); i.Kept != 0 || i.Arenas.Used != 0 {
		t.Errorf("after Close: %+v", i)
	}
}
