package npu

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/npulang/npu/ir/tensor"
)

const heldScript = `
param w1: f32[512, 300]
param b1: f32[512]
param w2: f32[200, 512]
param w3: f32[300, 512]

graph main(x: f32[B, 300]) -> (y: f32[B, 200], z: f32[B, 512], s: f32[300, 512]) {
    h = gelu(linear(x, w1, b1))
    return linear(h, w2), x @ w3, w3 * 2.0
}
`

// heldProgram compiles the script with weights in a file.
func heldProgram(t *testing.T, script string, o Options) *Program {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "net.safetensors")
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	head, data := map[string]entry{}, []byte{}
	for _, w := range []struct {
		name  string
		shape []int
	}{{"w1", []int{512, 300}}, {"b1", []int{512}}, {"w2", []int{200, 512}}, {"w3", []int{300, 512}}} {
		n, from := 1, len(data)
		for _, d := range w.shape {
			n *= d
		}
		for range n {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(r.Float32()-0.5))
		}
		head[w.name] = entry{"F32", w.shape, [2]int{from, len(data)}}
	}
	text, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	for len(text)%64 != 56 { // data begin at a multiple of 64
		text = append(text, ' ')
	}
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	if err := os.WriteFile(path, append(file, data...), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Weights = WeightsFile(path)
	p, err := Compile(Script("held.npu", script), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func heldInput(rows int) *Tensor {
	x := tensor.New(tensor.F32, rows, 300)
	for i := range x.Len() {
		x.SetFloat(i, math.Sin(float64(i)))
	}
	return x
}

func (p *Program) mustRun(t *testing.T, rows int) map[string]*Tensor {
	t.Helper()
	out, err := p.Run(context.Background(), map[string]*Tensor{"x": heldInput(rows)})
	if err != nil {
		t.Error(err)
	}
	return out
}

// dropped counts the weights whose elements are not there.
func (h *heldWeights) dropped() (n int) {
	for _, w := range h.byName {
		w.mu.Lock()
		if w.dropped {
			n++
		}
		w.mu.Unlock()
	}
	return n
}

// TestHeldWeights: what kernels have packed is given back, and is there again, to the bit,
// for whoever asks.
func TestHeldWeights(t *testing.T) {
	for _, precision := range []Precision{"int8", "bf16"} {
		p := heldProgram(t, heldScript, Options{Precision: precision})
		const packed = 3 // and one is a result
		if made := len(p.held.byName); made != packed+1 {
			t.Fatalf("%s: %d weights can be made again, and are to be %d", precision, made, packed+1)
		}
		want := map[string]*Tensor{}
		for name := range p.held.byName {
			want[name] = p.weights[name].Clone()
		}
		first := p.mustRun(t, 7)
		if got := p.held.dropped(); runtime.GOOS == "linux" && got != packed {
			t.Errorf("%s: %d of %d weights were given back", precision, got, packed)
		}
		// Another plan packs nothing anew, and the results are the same.
		p.mustRun(t, 1)
		if got := p.held.dropped(); runtime.GOOS == "linux" && got != packed {
			t.Errorf("%s: after a second plan %d of %d weights are given back", precision, got, packed)
		}
		again := p.mustRun(t, 7)
		for name, x := range first {
			if !tensor.BitEqual(x, again[name]) {
				t.Errorf("%s: result %s differs", precision, name)
			}
		}
		if err := p.Save(filepath.Join(t.TempDir(), "held.npuc")); err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			if !tensor.BitEqual(w, p.weights[name]) {
				t.Errorf("%s: weight %s differs when it was made again", precision, name)
			}
		}
		if got := p.held.dropped(); got != 0 {
			t.Errorf("%s: %d weights are not there", precision, got)
		}
	}
}

// TestHeldWeightsInUse: what runs read as it is stays, also where a kernel packs it, and
// what lies in no file.
func TestHeldWeightsInUse(t *testing.T) {
	const script = `
param w1: f32[512, 300]
param b1: f32[512]
param w2: f32[200, 512]
param w3: f32[300, 512]

graph main(x: f32[B, 300]) -> (y: f32[B, 512], s: i8[512, 300], v: f32[B, 200]) {
    q = quantize_linear(w1, 0.01, dtype=i8)
    z = matmul(quantize_linear(x, 0.01, dtype=i8), transpose(q, [1, 0]), dtype=i32)
    return cast(z, f32) + b1 + sum(w3), q, cast(z, f32) @ transpose(w2, [1, 0])
}
`
	p := heldProgram(t, script, Options{})
	first := p.mustRun(t, 5)
	fresh, err := Compile(Script("held.npu", script), Options{Weights: p.opts.Weights, Kernels: KernelsReference})
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if want := fresh.mustRun(t, 5)["s"]; !tensor.BitEqual(want, first["s"]) || !tensor.BitEqual(want, p.mustRun(t, 3)["s"]) {
		t.Error("a weight that is a result differs")
	}
	random, err := Compile(Script("held.npu", heldScript), Options{RandomWeights: true, Precision: "int8"})
	if err != nil {
		t.Fatal(err)
	}
	defer random.Close()
	if len(random.held.byName) > 0 {
		t.Error("weights that lie in no file can be made again")
	}
}

// TestHeldWeightsLost: where a weight cannot be made again, who asks for it has an error,
// and later, when it can, the weight.
func TestHeldWeightsLost(t *testing.T) {
	p := heldProgram(t, heldScript, Options{Precision: "int8"})
	p.mustRun(t, 3)
	if p.held.dropped() == 0 {
		t.Skip("this system takes no memory back")
	}
	path, most := filepath.Join(t.TempDir(), "held.npuc"), p.opts.MaxMemory
	q := p.of(&optimised{p.fn, p.within, p.record}) // has packed nothing
	q.plans.memory.Limit = most
	defer q.plans.close()
	packAgain := func() error {
		_, err := q.Run(context.Background(), map[string]*Tensor{"x": heldInput(3)})
		return err
	}
	p.opts.MaxMemory = 1
	if err := p.Save(path); err == nil || !strings.Contains(err.Error(), "0 of 1 are in use") {
		t.Errorf("saved with one byte of memory: %v", err)
	}
	if err := packAgain(); err == nil || !strings.Contains(err.Error(), "cannot be made again") {
		t.Errorf("packed with one byte of memory: %v", err)
	}
	p.opts.MaxMemory = most
	if err := packAgain(); err != nil {
		t.Error(err)
	}
	if err := p.Save(path); err != nil {
		t.Error(err)
	}
}

// TestHeldWeightsByMany: plans for many sizes, a file and an interpreter at the same time.
func TestHeldWeightsByMany(t *testing.T) {
	p := heldProgram(t, heldScript, Options{Precision: "int8"})
	want := p.mustRun(t, 4)["y"]
	for range 3 {
		var all sync.WaitGroup
		for rows := range 12 {
			all.Go(func() {
				got := p.mustRun(t, rows+1)["y"]
				n := min(rows+1, 4) * 200 * 4
				if string(got.Data[:n]) != string(want.Data[:n]) {
					t.Errorf("%d rows: the first differ", rows+1)
				}
			})
		}
		all.Go(func() {
			if _, err := p.file(); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := p.interpret(p.fn, []*Tensor{heldInput(4)}); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	}
}
