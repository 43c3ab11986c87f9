package npu_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/npulang/npu"
)

// busy has operators on two units, a loop and a division that can fail.
const busy = `
graph main(x: f32[N, M], k: i32[]) -> (y: f32[M, N], q: i32[]) {
    h = relu(x) @ ones(f32[M, M])
    s = x * 0.0
    for t in 0..3 carry s { s = s + h }
    return transpose(s), 6 / k
}
`

// busyInput makes ones, of which y is 3 M.
func busyInput(n, m, k int) map[string]*npu.Tensor {
	x := make([]float32, n*m)
	for i := range x {
		x[i] = 1
	}
	return map[string]*npu.Tensor{"x": npu.FromSlice([]int{n, m}, x), "k": npu.Scalar(int32(k))}
}

func runBusy(ctx context.Context, p *npu.Program, n, m, k int) error {
	out, err := p.Run(ctx, busyInput(n, m, k))
	if err != nil {
		return err
	}
	return checkBusy(out, n, m)
}

// checkBusy checks the results of busy for ones.
func checkBusy(out map[string]*npu.Tensor, n, m int) error {
	y := npu.Of[float32](out["y"])
	if len(y) != n*m {
		return fmt.Errorf("%d x %d: %d elements", n, m, len(y))
	}
	for _, v := range y {
		if v != float32(3*m) {
			return fmt.Errorf("%d x %d: got %v, want %d", n, m, v, 3*m)
		}
	}
	return nil
}

// TestCloseUnderWay closes a program whose weights lie in a mapped file while
// runs read them: each run either ends well or learns that it came too late.
func TestCloseUnderWay(t *testing.T) {
	row := strings.Repeat("1, ", 63) + "1"
	p := compile(t, "param w: f32[64, 64] = normal(0.0, 1.0)\ngraph main(x: f32[N, 64] = [["+row+"]]) -> f32[N, 64] { return x @ w }\n", npu.Options{})
	path := filepath.Join(t.TempDir(), "w.npuc")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		q, err := npu.Compile(npu.File(path), npu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		started := make(chan struct{}, 8)
		for g := range 8 {
			all.Go(func() {
				for n := 1; ; n++ {
					inputs := map[string]*npu.Tensor{}
					if n%2 == 0 {
						inputs["x"] = npu.FromSlice([]int{g + 1, 64}, make([]float32, 64*(g+1)))
					}
					if _, err := q.Run(context.Background(), inputs); err != nil {
						fails(t, err, "closed")
						return
					}
					if n == 2 {
						started <- struct{}{}
					}
				}
			})
		}
		<-started
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}

// heap is what is in use once the garbage is gone.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// resident is how many bytes of the process are in memory, where Linux tells; else 0.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestRunsLeaveNothing: neither many runs of one size nor runs of many sizes
// make the program hold more than its plans and the arenas that MaxMemory
// allows.
func TestRunsLeaveNothing(t *testing.T) {
	const most = 4 << 20
	p := compile(t, busy, npu.Options{MaxMemory: most})
	ctx := context.Background()
	run := func(count, n int) {
		for range count {
			if err := runBusy(ctx, p, n, 8, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(200, 4)
	before, goroutines := heap(), runtime.NumGoroutine()
	pages := resident(t)
	run(10_000, 4)
	if after := heap(); after > before+128<<10 {
		t.Errorf("10,000 runs: the heap grew from %d to %d bytes", before, after)
	}
	// The collector lets the heap grow to some megabytes before it looks.
	if now := resident(t); now > pages+16<<20 && !underRace {
		t.Errorf("10,000 runs: the process grew from %d to %d bytes", pages, now)
	}
	for n := range 40 {
		run(1, 10_000+n) // an arena and a result of a megabyte
	}
	if after := heap(); after > before+most+2<<20 {
		t.Errorf("40 sizes: the heap grew from %d to %d bytes", before, after)
	}
	if n := runtime.NumGoroutine(); n > goroutines+runtime.GOMAXPROCS(0)-1 {
		t.Errorf("%d goroutines, %d before there were workers", n, goroutines)
	}
}

// TestFailedPlans: a size that can't be planned takes no other's place and
// fails each time.
func TestFailedPlans(t *testing.T) {
	p := compile(t, "graph main(x: f32[N]) -> f32[N, N] { return expand(x[:, None], N, N) }", npu.Options{MaxMemory: 1 << 20})
	run := func(n int) error {
		_, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.FromSlice([]int{n}, make([]float32, n))})
		return err
	}
	for range 2 {
		if err := run(3); err != nil {
			t.Error(err)
		}
		for n := range 20 {
			fails(t, run(1000+n), "needs", "limit is 1048576", "--max-memory")
		}
	}
}

// TestFoldWithinMemory: folding leaves to the run what would be more than the
// memory that is granted.
func TestFoldWithinMemory(t *testing.T) {
	script := "graph main() -> f32[] {\n    s = 0.0\n    for i in 0..16 { s = s + sum(iota(4000) * (i + 1)).cast(f32) }\n    return s\n}\n"
	for _, c := range []struct {
		most   int64
		folded bool
	}{{0, true}, {200 << 10, false}} {
		text, _, err := npu.Emit(npu.Script("fold.npu", script), "opt", npu.Options{MaxMemory: c.most})
		if err != nil {
			t.Fatal(err)
		}
		if folded := len(text) < 300; folded != c.folded {
			t.Errorf("with %d bytes folded is %v:\n%.200s", c.most, folded, text)
		}
	}
}

// TestDefaultWithinMemory: a default is not made when it can't be held.
func TestDefaultWithinMemory(t *testing.T) {
	p := compile(t, "graph main(x: f32[1000, 1000] = ones()) -> f32[] { return sum(x) }", npu.Options{MaxMemory: 1 << 20})
	_, err := p.Run(context.Background(), nil)
	fails(t, err, "the default, f32[1000,1000], needs 4000000 bytes, and the limit is 1048576", "[limit]", "--max-memory")
	fails(t, p.Save(filepath.Join(t.TempDir(), "x.npuc")), "limit is 1048576")
}
