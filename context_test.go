package npu_test

import (
	"context"
	"testing"

	"github.com/npulang/npu"
)

// TestNoContext: a context that is nil is one that never ends, wherever one is
// taken, and nothing stays behind that Close would wait for.
func TestNoContext(t *testing.T) {
	var none context.Context
	p := bindableProgram(t, npu.Options{})
	in := map[string]*npu.Tensor{"x": npu.RandomTensor(npu.F32, []int{3, 8}, 1, "x")}
	b := must(p.Bind(in, nil))
	rt := newRuntime(t, npu.RuntimeOptions{})
	s, e := must(rt.NewStream()), must(rt.NewEvent())
	x := vector(rt, 1)
	for name, call := range map[string]func() error{
		"Program.Run":         func() error { return fail(p.Run(none, in)) },
		"IOBinding.Run":       func() error { return b.Run(none) },
		"Launch.Wait":         func() error { return fail(must(s.Execute("Neg", tensors{x}, nil)).Wait(none)) },
		"Stream.Synchronize":  func() error { s.Block()(); return s.Synchronize(none) },
		"Event.Synchronize":   func() error { must(0, e.Record(s)); return e.Synchronize(none) },
		"Runtime.Synchronize": func() error { return rt.Synchronize(none) },
		"Stream.Reset":        func() error { return s.Reset(none) },
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
