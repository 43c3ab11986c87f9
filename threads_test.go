package npu_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

// TestThreads: a program's results don't depend on its threads, and fewer than one
// are refused.
func TestThreads(t *testing.T) {
	const script = `graph main(x: f32[256,256]) -> f32[256,256] { return softmax(x @ x + exp(x)) @ x }`
	var first []byte
	for _, threads := range []int{0, 1, 2, 3, 1000} {
		p, err := npu.Compile(npu.Script("main.npu", script), npu.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		before := runtime.NumGoroutine()
		out, err := p.Run(t.Context(), map[string]*npu.Tensor{"x": npu.RandomTensor(npu.F32, []int{256, 256}, 1, "x")})
		if err != nil {
			t.Fatal(err)
		}
		if more := runtime.NumGoroutine() - before; threads > 0 && more > threads-1 {
			t.Errorf("%d threads: %d workers", threads, more)
		}
		p.Close()
		if first == nil {
			first = out["out"].Data
		} else if !bytes.Equal(first, out["out"].Data) {
			t.Errorf("%d threads compute something else", threads)
		}
	}
	_, err := npu.Compile(npu.Script("main.npu", script), npu.Options{Threads: -1})
	if err == nil || !strings.Contains(err.Error(), "-1 threads") {
		t.Error(err)
	}
}
