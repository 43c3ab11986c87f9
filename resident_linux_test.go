package npu_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/weights"
)

// TestResidentWeights: when a program has packed the weights of a file, two at a time, and
// runs, nothing of the file stays in memory, neither of large weights nor of the small ones
// between them, which lie in the same pages.
func TestResidentWeights(t *testing.T) {
	const layers, n = 12, 700 // a weight has 1.96 MB, and does not end with a page
	var params, calls strings.Builder
	var values []tensor.Named
	add := func(name string, shape ...int) {
		w := tensor.New(tensor.F32, shape...)
		for i := range w.Len() {
			w.SetFloat(i, float64(i%13)/100)
		}
		values = append(values, tensor.Named{Name: name, Tensor: w})
	}
	for i := range layers {
		fmt.Fprintf(&params, "param w%d: f32[%d, %d]\nparam b%d: f32[%d]\n", i, n, n, i, n)
		fmt.Fprintf(&calls, "    x = relu(linear(x, w%d, b%d))\n", i, i)
		add(fmt.Sprint("w", i), n, n)
		add(fmt.Sprint("b", i), n)
	}
	script := fmt.Sprintf("%sgraph main(x: f32[8, %d]) -> (y: f32[8, %d]) {\n%s    return x\n}\n", &params, n, n, &calls)
	dir := t.TempDir()
	plain, compiled := filepath.Join(dir, "net.safetensors"), filepath.Join(dir, "net.npuc")
	if err := weights.Write(plain, values, nil); err != nil {
		t.Fatal(err)
	}
	for _, precision := range []npu.Precision{"f32", "int8"} {
		runResident(t, plain, npu.Script("net.npu", script), npu.Options{Weights: npu.WeightsFile(plain), Precision: precision}, compiled)
		runResident(t, compiled, npu.File(compiled), npu.Options{}, filepath.Join(dir, "again.npuc"))
	}
}

// runResident runs a program, looks how much of a file is resident then, and saves it.
func runResident(t *testing.T, file string, from npu.Source, o npu.Options, to string) {
	t.Helper()
	o.Threads = 2
	p, err := npu.Compile(from, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := tensor.New(tensor.F32, 8, 700)
	for range 2 {
		if _, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": x}); err != nil {
			t.Fatal(err)
		}
	}
	if got := residentOf(t, file); got > 0 {
		t.Errorf("%s, %s: %d bytes are resident", filepath.Base(file), o.Precision, got)
	}
	if err := p.Save(to); err != nil {
		t.Fatal(err)
	}
}

// residentOf is how many bytes of the mappings of a file count as the process's.
func residentOf(t *testing.T, file string) (sum int) {
	t.Helper()
	list, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	var within, found bool
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if strings.Contains(words[0], "-") {
			within = strings.HasSuffix(strings.TrimSpace(line), file)
			found = found || within
		}
		var n int
		if c, _ := fmt.Sscanf(line, "Rss: %d kB", &n); c == 1 && within {
			sum += n << 10
		}
	}
	if !found {
		t.Fatalf("%s is not mapped: the test sees nothing", file)
	}
	return sum
}
