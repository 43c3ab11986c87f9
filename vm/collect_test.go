package vm_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

// TestCollect: results that nobody holds are collected long before the heap, of which
// weights are the most, has doubled; not where they are few, nor in a process that does
// without collections.
func TestCollect(t *testing.T) {
	weights := make([]byte, 128<<20)
	const elements = 1 << 20 // a result has 4 MB
	memory := new(vm.Memory)
	f := parse(t, `func @f(%x: f32[1048576]) -> (y: f32[1048576]) {
  %y = neg %x : f32[1048576]
  return %y
}`)
	m := load(t, f, program(t, f, nil, lower.Options{}), vm.Options{Memory: memory})
	x := []*tensor.T{tensor.New(tensor.F32, elements)}
	collections := func(runs int) uint32 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			if _, err := m.Run(context.Background(), x); err != nil {
				t.Fatal(err)
			}
		}
		memory.AwaitCollection()
		runtime.ReadMemStats(&after)
		return after.NumGC - before.NumGC
	}
	collections(4)
	runtime.GC() // what went before counts no more
	if n := collections(2); n > 0 {
		t.Errorf("8 MB of results, and %d collections", n)
	}
	if n := collections(24); n == 0 {
		t.Error("96 MB of results, and no collection")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := collections(24); n > 0 {
		t.Errorf("%d collections in a process without", n)
	}
	runtime.KeepAlive(weights)
}
