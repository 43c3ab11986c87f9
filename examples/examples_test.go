// Package examples_test runs every example against values that another engine
// computed: NumPy in float64, stored as float32 in testdata.
package examples_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu"
)

// cases holds the examples that have stored results, and the file of each.
var cases = []struct {
	script string
	want   map[string]string // by result
	build  func() *npu.Graph // the same graph, built in Go
}{
	{"three_nodes.npu", map[string]string{"out": "three_nodes_out.npy"}, threeNodes},
	{"mlp.npu", map[string]string{"probs": "mlp_probs.npy"}, mlp},
	{"encoder.npu", map[string]string{"y": "encoder_y.npy"}, encoder},
	{"cnn.npu", map[string]string{"logits": "cnn_logits.npy"}, cnn},
	{"gru.npu", map[string]string{"y": "gru_y.npy", "h": "gru_h.npy"}, gru},
}

// inputs holds the arrays that the scripts load by default, for the graphs that
// are built in Go and have no defaults.
var inputs = map[string]map[string]string{
	"three_nodes.npu": {"x": "three_nodes_x.npy"},
	"mlp.npu":         {"x": "digits.npy"},
	"encoder.npu":     {"x": "encoder_x.npy", "mask": "encoder_mask.npy"},
	"cnn.npu":         {"x": "cnn_x.npy"},
	"gru.npu":         {"x": "gru_x.npy"},
}

func TestScripts(t *testing.T) {
	for _, c := range cases {
		for _, level := range []npu.Level{npu.O0, npu.O2} {
			t.Run(c.script+"/"+string(level), func(t *testing.T) {
				check(t, npu.File(c.script), npu.Options{Level: level, Strict: true, Verify: true}, nil, c.want)
			})
		}
	}
}

func TestBuilder(t *testing.T) {
	for _, c := range cases {
		t.Run(c.script, func(t *testing.T) {
			weights := strings.TrimSuffix(c.script, ".npu") + ".safetensors"
			args := map[string]*npu.Tensor{}
			for name, file := range inputs[c.script] {
				args[name] = read(t, file)
			}
			check(t, c.build(), npu.Options{Weights: npu.WeightsFile(weights), Strict: true, Verify: true}, args, c.want)
		})
	}
}

// TestTwins compares the IR of each script with that of its builder twin.
func TestTwins(t *testing.T) {
	for _, c := range cases {
		script, _, err := npu.Emit(npu.File(c.script), "ir", npu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		built, _, err := npu.Emit(c.build(), "ir", npu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if script != built {
			t.Errorf("%s:\n%s\nits twin in Go:\n%s", c.script, script, built)
		}
	}
}

// TestBlocks runs the test blocks of all examples, at O0 and O2.
func TestBlocks(t *testing.T) {
	scripts, _ := filepath.Glob("*.npu")
	ran := 0
	for _, script := range scripts {
		results, warnings, err := npu.Test(npu.File(script), npu.TestOptions{})
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		for _, w := range warnings {
			t.Errorf("%s has a warning: %s", script, w.Headline())
		}
		for r := range results {
			ran++
			if r.Failed() {
				t.Errorf("%s: %s at %s: %v", script, r.Name, r.Level, r.Diagnostics)
			}
		}
	}
	if ran < 30 {
		t.Errorf("only %d runs of test blocks", ran)
	}
}

func check(t *testing.T, src npu.Source, opts npu.Options, args map[string]*npu.Tensor, want map[string]string) {
	t.Helper()
	p, err := npu.Compile(src, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got, err := p.Run(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("%d results, want %d", len(got), len(want))
	}
	for name, file := range want {
		agree(t, name, got[name], read(t, filepath.Join("testdata", file)))
	}
}

// agree holds max|got - want| to 1e-5 * max|want|: sums in f32 differ in the last
// digits, so a single small element may be off by more.
func agree(t *testing.T, name string, got, want *npu.Tensor) {
	t.Helper()
	if got == nil || got.DType != want.DType || len(got.Shape) != len(want.Shape) || got.Len() != want.Len() {
		t.Fatalf("%s: got %v, want the shape %v", name, got, want.Shape)
	}
	g, w := npu.Of[float32](got), npu.Of[float32](want)
	var off, size float64
	for i := range w {
		d := math.Abs(float64(g[i]) - float64(w[i]))
		if math.IsNaN(d) {
			t.Fatalf("%s[%d] is %v, want %v", name, i, g[i], w[i])
		}
		off, size = max(off, d), max(size, math.Abs(float64(w[i])))
	}
	if off > 1e-5*size {
		t.Errorf("%s: off by up to %g, where the largest value is %g", name, off, size)
	}
}

func read(t *testing.T, file string) *npu.Tensor {
	t.Helper()
	a, err := npu.ReadArray(file)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFormatted checks that the scripts are as npu fmt leaves them, and open
// with a comment that says what to look at.
func TestFormatted(t *testing.T) {
	scripts, _ := filepath.Glob("*.npu")
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := npu.Format(script, string(text)); err != nil || got != string(text) {
			t.Errorf("%s is not formatted (%v); npu fmt -w does it", script, err)
		}
		if head, _, _ := strings.Cut(string(text), "\n\n"); !strings.HasPrefix(head, "// "+script+": ") || !strings.Contains(head, "Look at: ") {
			t.Errorf("%s does not say what to look at", script)
		}
	}
}
