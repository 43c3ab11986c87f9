package npu_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/npulang/npu"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// compile builds a script that needs no weights.
func compile(t *testing.T, script string, opts npu.Options) *npu.Program {
	t.Helper()
	p, err := npu.Compile(npu.Script("test.npu", script), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// fails checks that an error is a Diagnostics whose text has each part.
func fails(t *testing.T, err error, parts ...string) {
	t.Helper()
	var ds npu.Diagnostics
	if !errors.As(err, &ds) {
		t.Fatalf("the error is %T: %v", err, err)
	}
	var b strings.Builder
	ds.Render(&b, false)
	for _, part := range parts {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the message lacks %q:\n%s", part, b.String())
		}
	}
}

const scale = "graph main(x: f32[B, 3]) -> f32[B, 3] { return x * 2.0 }"

// TestBindings runs one program at more sizes than it keeps plans for, from
// many goroutines at once.
func TestBindings(t *testing.T) {
	p := compile(t, scale, npu.Options{})
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 60 {
				n := (i*7 + worker) % 40
				x := make([]float32, 3*n)
				for j := range x {
					x[j] = float32(j + worker)
				}
				out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.FromSlice([]int{n, 3}, x)})
				if err != nil {
					t.Error(err)
					return
				}
				for j, y := range npu.Of[float32](out["out"]) {
					if y != 2*x[j] {
						t.Errorf("size %d: element %d is %v, not %v", n, j, y, 2*x[j])
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestRunErrors(t *testing.T) {
	p := compile(t, scale+"\n", npu.Options{})
	run := func(inputs map[string]*npu.Tensor) error {
		_, err := p.Run(context.Background(), inputs)
		return err
	}
	x := npu.FromSlice([]int{1, 3}, []float32{1, 2, 3})
	fails(t, run(nil), "x: f32[B,3]", "bad-input")
	fails(t, run(map[string]*npu.Tensor{"x": x, "y": x}), "no input y", "bad-input")
	fails(t, run(map[string]*npu.Tensor{"x": npu.FromSlice([]int{3}, []float32{1, 2, 3})}), "f32[B,3]", "f32[3]")
	fails(t, run(map[string]*npu.Tensor{"x": npu.FromSlice([]int{1, 3}, []int32{1, 2, 3})}), "i32", "must have f32")
	fails(t, run(map[string]*npu.Tensor{"x": {DType: npu.F32, Shape: []int{2, 3}, Data: []byte{1}}}), "damaged")
	if err := run(map[string]*npu.Tensor{"x": x}); err != nil {
		t.Error(err)
	}
}

// TestDivisionByZero: a run-time error names operator, value and source line,
// and leaves the program usable.
func TestDivisionByZero(t *testing.T) {
	p := compile(t, "graph main(a: i32[2], b: i32[2]) -> i32[2] {\n    q = a / b\n    return q\n}\n", npu.Options{})
	run := func(b ...int32) error {
		_, err := p.Run(context.Background(), map[string]*npu.Tensor{
			"a": npu.FromSlice([]int{2}, []int32{4, 6}), "b": npu.FromSlice([]int{2}, b)})
		return err
	}
	fails(t, run(2, 0), "test.npu:2:11", "div", "division-by-zero", "%q")
	if err := run(2, 3); err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	p := compile(t, "graph main(x: f32[]) -> f32[] {\n    y = x\n    while y < 1.0 carry y { y = y * 1.0 }\n    return y\n}\n", npu.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := p.Run(ctx, map[string]*npu.Tensor{"x": npu.Scalar(float32(0.5))})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run ends with %v", err)
	}
}

func TestClosed(t *testing.T) {
	p, err := npu.Compile(npu.Script("test.npu", scale), npu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.FromSlice([]int{1, 3}, []float32{1, 2, 3})})
	fails(t, err, "closed")
}

// TestMemoryLimit: neither a shape nor folding can take more than the cap.
func TestMemoryLimit(t *testing.T) {
	for _, script := range []string{
		"graph main(x: f32[B]) -> f32[] { return sum(expand(x[:, None], B, 1000000)) }",
		"graph main() -> f32[] { return sum(zeros(f32[100000, 100000])) }",
	} {
		for _, level := range []npu.Level{npu.O0, npu.O2} {
			p, err := npu.Compile(npu.Script("test.npu", script), npu.Options{MaxMemory: 64 << 20, Level: level})
			if err != nil {
				t.Fatal(err)
			}
			inputs := map[string]*npu.Tensor{}
			if len(p.Inputs()) > 0 {
				inputs["x"] = npu.FromSlice([]int{100}, make([]float32, 100))
			}
			_, err = p.Run(context.Background(), inputs)
			fails(t, err, "limit")
			p.Close()
		}
	}
}

const weighted = `
module Net() {
    param w: f32[2, 2]
    param b: f32[2]
    param scale: f32[2] = ones()

    fn forward(x: f32[N, 2]) -> f32[N, 2] { return (x @ w + b) * scale }
}

net = Net()

graph main(x: f32[N, 2]) -> f32[N, 2] { return net(x) }
`

func TestWeights(t *testing.T) {
	w := npu.FromSlice([]int{2, 2}, []float32{1, 2, 3, 4})
	b := npu.FromSlice([]int{2}, []float32{10, 20})
	src := npu.Script("net.npu", weighted)
	_, err := npu.Compile(src, npu.Options{})
	fails(t, err, "missing-weight", "net.w: f32[2,2]", "net.b: f32[2]")
	_, err = npu.Compile(src, npu.Options{Weights: npu.Arrays{"net.w": b}})
	fails(t, err, "net.b", "net.w", "f32[2]")
	_, err = npu.Compile(src, npu.Options{Weights: npu.Arrays{"net.w": w, "net.b": b, "other": b}, Strict: true})
	fails(t, err, "other")

	opts := npu.Options{
		Weights:       npu.Arrays{"model.fc.weight": w, "model.fc.b": b, "model.fc.left": b},
		WeightsPrefix: "model.",
		Rename:        []npu.Rename{{Old: "fc", New: "net"}, {Old: "weight", New: "w"}},
	}
	p, err := npu.Compile(src, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if n := len(p.Warnings()); n != 1 || !strings.Contains(p.Warnings()[0].Notes[0], "left") {
		t.Errorf("warnings: %v", p.Warnings())
	}
	checkNet(t, p)
}

// checkNet runs [1, 1] through weighted: (1+3+10, 2+4+20).
func checkNet(t *testing.T, p *npu.Program) {
	t.Helper()
	out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.FromSlice([]int{1, 2}, []float32{1, 1})})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(npu.Of[float32](out["out"])); got != "[14 26]" {
		t.Errorf("got %s, want [14 26]", got)
	}
}

// TestSave writes compiled programs, with and without symbolic dimensions, and
// runs them without their scripts and weights files.
func TestSave(t *testing.T) {
	w := npu.FromSlice([]int{2, 2}, []float32{1, 2, 3, 4})
	b := npu.FromSlice([]int{2}, []float32{10, 20})
	for name, script := range map[string]string{
		"symbolic": weighted,
		"static":   strings.ReplaceAll(weighted, "[N, 2]", "[1, 2]"),
		"default":  strings.Replace(weighted, "main(x: f32[N, 2])", "main(x: f32[N, 2] = [[1, 1]])", 1),
	} {
		p, err := npu.Compile(npu.Script("net.npu", script), npu.Options{Weights: npu.Arrays{"net.w": w, "net.b": b}})
		if err != nil {
			t.Fatal(name, err)
		}
		path := filepath.Join(t.TempDir(), name+".npuc")
		if err := p.Save(path); err != nil {
			t.Fatal(name, err)
		}
		p.Close()
		for kind, src := range map[string]npu.Source{"file": npu.File(path), "stream": npu.Reader("-", open(t, path))} {
			q, err := npu.Compile(src, npu.Options{})
			if err != nil {
				t.Fatal(name, kind, err)
			}
			checkNet(t, q)
			if name == "default" {
				if _, err := q.Run(context.Background(), nil); err != nil {
					t.Errorf("the default is lost: %v", err)
				}
			}
			q.Close()
		}
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestBuilderErrors: the first mistake sticks and names the Go line.
func TestBuilderErrors(t *testing.T) {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[B, 256]")
	w := g.Param("w", "f32[512, 10]")
	h := g.MatMul(x, w)
	g.Output("y", g.Softmax(g.ReLU(h)))
	_, err := npu.Compile(g, npu.Options{})
	fails(t, err, "program_test.go:", "matmul", "256", "512", "shape-mismatch", "f32[512,10]")

	other := npu.NewGraph("other")
	y := other.Input("y", "f32[2]")
	g = npu.NewGraph("main")
	g.Output("z", g.Add(g.Input("x", "f32[2]"), y))
	fails(t, g.Err(), "another graph")

	g = npu.NewGraph("main")
	g.Input("x", "f33[2]")
	fails(t, g.Err(), "unknown dtype f33", "program_test.go:")
}

// TestControlFlow builds each kind of region and captures outer values in it.
func TestControlFlow(t *testing.T) {
	g := npu.NewGraph("main")
	x, limit := g.Input("x", "f32[]"), g.Input("limit", "f32[]")
	doubled := g.While([]*npu.Value{x},
		func(c []*npu.Value) *npu.Value { return g.Less(c[0], limit) },
		func(c []*npu.Value) []*npu.Value { return []*npu.Value{g.Mul(c[0], npu.Num(2))} })[0]
	signed := g.If(g.Greater(x, npu.Num(1)),
		func() []*npu.Value { return []*npu.Value{doubled} },
		func() []*npu.Value { return []*npu.Value{g.Neg(doubled)} })[0]
	g.Output("y", signed)
	p, err := npu.Compile(g, npu.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct{ x, want float32 }{{3, 12}, {1, -16}, {20, 20}} {
		out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.Scalar(c.x), "limit": npu.Scalar(float32(10))})
		if err != nil {
			t.Fatal(err)
		}
		if got := npu.Of[float32](out["y"])[0]; got != c.want {
			t.Errorf("x = %v: got %v, want %v", c.x, got, c.want)
		}
	}
}
