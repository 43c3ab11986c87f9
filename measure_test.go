package npu_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu"
)

// benchScript has a region, a loop and a branch.
const benchScript = `import "nn"

fc = nn.Linear(16, 16)

graph main(x: f32[B,16], n: i64[] = 3) -> (y: f32[B,16]) {
    for i in 0..4 carry x { x = relu(fc(x)) }
    if n > 2 { x = exp(x) + x } else { x = neg(x) }
    return x
}
`

// TestBench: the report has numbers that agree with each other.
func TestBench(t *testing.T) {
	opts := npu.BenchOptions{Options: npu.Options{RandomWeights: true, Threads: 1, Dims: map[string]int64{"B": 8}}, Runs: 7, ByTask: true}
	r, err := npu.Bench(t.Context(), npu.Script("main.npu", benchScript), opts)
	if err != nil {
		t.Fatal(err)
	}
	// Four products of 8x16x16, their relu, and exp and sum or nothing more.
	if least := int64(4 * (2*8*16*16 + 8*16)); r.Flops < least || r.Flops > least+10*8*16 {
		t.Errorf("%d flops", r.Flops)
	}
	ordered := []float64{0, r.MinMs, r.MedianMs, r.P90Ms, r.P99Ms}
	if !slices.IsSorted(ordered) || r.MinMs <= 0 || r.Runs != 7 || r.Threads != 1 || r.Precision != "f32" || r.AllocsPerRun != 0 {
		t.Errorf("%+v", r)
	}
	if r.PeakGFlops <= 0 || r.GFlops <= 0 || r.PeakShare != r.GFlops/r.PeakGFlops || r.OwnPeakGFlops != r.PeakGFlops || r.OwnPeakShare != r.PeakShare || r.RSSBytes <= 0 || r.PeakRSSBytes < r.RSSBytes || r.WeightBytes != 4*(16*16+16) {
		t.Errorf("%+v", r)
	}
	if y := r.Outputs["y"]; y == nil || !slices.Equal(y.Shape, []int{8, 16}) {
		t.Errorf("the outputs are %v", r.Outputs)
	}
	checkReport(t, r.Tasks)
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	if text := r.Text(); !strings.Contains(text, " of 7 runs") || !strings.Contains(text, "\ntask ") {
		t.Error(text)
	}
}

func checkReport(t *testing.T, r *npu.KernelReport) {
	t.Helper()
	ran := 0.0
	for _, k := range r.Tasks {
		if k.Kernel == "" {
			if k.Kind != "" || k.GFlops != 0 && k.Ops[0] != "copy" {
				t.Errorf("%+v", k)
			}
			continue
		}
		if !slices.Contains([]string{"reference", "generic", "fast"}, k.Kind) || k.Times > 0 && (k.Share <= 0 || k.Limit == "" || k.Ms <= 0) {
			t.Errorf("%+v", k)
		}
		if slices.Contains(k.Ops, "linear") {
			ran += k.Times
		}
	}
	if ran != 4 || r.Runs < 1 || r.RunMs <= 0 {
		t.Errorf("%v products a run in\n%s", ran, r.Text())
	}
}

// TestBenchTime: a measurement without a number of runs ends with its time, and with
// its context.
func TestBenchTime(t *testing.T) {
	src := npu.Script("main.npu", `graph main(x: f32[4]) -> f32[4] { return x + 1.0 }`)
	r, err := npu.Bench(t.Context(), src, npu.BenchOptions{Time: time.Millisecond})
	if err != nil || r.Runs < 1 {
		t.Error(r, err)
	}
	endless := npu.Script("main.npu", `graph main(x: f32[]) -> f32[] { while x < 1.0 carry x { x = x * 0.5 }
 return x }`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := npu.Bench(ctx, endless, npu.BenchOptions{Inputs: map[string]string{"x": "0.5"}}); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Error(err)
	}
	for _, wrong := range []npu.BenchOptions{{Runs: -1}, {Time: -1}} {
		if _, err := npu.Bench(t.Context(), src, wrong); err == nil || !strings.Contains(err.Error(), "[wrong-arguments]") {
			t.Error(err)
		}
	}
}

// TestBenchLadder: every step is there and computes; what steps do without, they do
// without.
func TestBenchLadder(t *testing.T) {
	opts := npu.BenchOptions{Options: npu.Options{Threads: 2, Dims: map[string]int64{"B": 8}}, Runs: 1}
	steps, err := npu.BenchLadder(t.Context(), npu.Script("main.npu", benchScript), opts)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, s := range steps {
		names = append(names, s.Step)
		if s.MedianMs <= 0 || s.Runs < 1 || s.GFlops <= 0 || s.Utilisation != s.GFlops/s.PeakGFlops || s.Ratio <= 0 || s.RatioLow > s.Ratio || s.Ratio > s.RatioHigh || i > 0 && i < 4 && s.PeakBytes > steps[i-1].PeakBytes {
			t.Errorf("%+v", s)
		}
	}
	if got := strings.Join(names, " "); got != "none pool reuse parallel hardware" {
		t.Error(got)
	}
	if first, last := steps[0], steps[4]; first.Threads != 1 || first.Streams != 1 || first.Kernels != "generic" || first.Faster != 1 || last.Kernels != "fast" || steps[2].ArenaBytes >= steps[1].ArenaBytes {
		t.Errorf("%+v\n%+v", first, last)
	}
	if text := npu.LadderText(steps); strings.Count(text, "\n") != 14 || !strings.HasPrefix(text, "sizes  B=8\n\nstep ") {
		t.Error(text)
	}
}
