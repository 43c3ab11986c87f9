package vm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

// replaced is a function, and a program of it in which %b lies where its
// argument %a does, with a kernel that says so.
func replaced(t *testing.T, op string) (*ir.Func, *bytecode.Program) {
	t.Helper()
	f := parse(t, `func @replaced (%x: f32[600]) -> (y: f32[600]) {
  %a = neg %x : f32[600]
  %b = `+op+` %a : f32[600]
  %y = neg %b : f32[600]
  return %y
}`)
	p := program(t, f, nil, lower.Options{Streams: 1, Memory: lower.MemoryOff})
	b := &p.Functions[0].Streams[0].Code[1]
	p.Buffers[b.Out[0]].Offset = p.Buffers[b.In[0]].Offset
	k := p.Kernels[b.Index]
	k.InPlace = 0
	b.Index, p.Kernels = len(p.Kernels), append(p.Kernels, k)
	return f, p
}

func TestInPlace(t *testing.T) {
	f, p := replaced(t, "exp")
	in := inputsOf(t, f, nil, 5)
	want, err := (&ir.Interp{}).Run(f, in...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := load(t, f, p, vm.Options{}).Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	same(t, f, p, got, want)
}

// TestInPlaceIsRefused loads a program that is safe by what its bytes say, but
// whose kernel needs its argument until the end.
func TestInPlaceIsRefused(t *testing.T) {
	_, p := replaced(t, "softmax")
	if err := bytecode.Verify(p); err != nil {
		t.Fatal(err)
	}
	_, err := vm.Load(p, nil, vm.Options{})
	if err == nil || !strings.Contains(err.Error(), "softmax, can't compute in place of argument 0") {
		t.Errorf("got %v", err)
	}
}
