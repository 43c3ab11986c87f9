package npu_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/vm/kernel/isa"
)

// packable has weights of every kind that is packed: products, one by a weight that is
// transposed, a gate, a convolution of few places, and one of a symbolic size.
const packable = `
module Fixed() {
    param w1: f32[40, 33]
    param a: f32[33, 20]
    param b: f32[33, 20]
    param w2: f32[24, 20]
    fn forward(x: f32[6, 40]) -> f32[6, 24] {
        h = relu(x @ w1)
        g = silu(h @ a) * (h @ b)
        return g @ transpose(w2, [1, 0])
    }
}
module Low() {
    param w: bf16[40, 24]
    fn forward(x: bf16[6, 40]) -> bf16[6, 24] { return x @ w }
}
module Image() {
    param w: f32[40, 16, 3, 3]
    fn forward(x: f32[1, 16, 7, 7]) -> f32[1, 40, 7, 7] { return conv(x, w, pad=1) }
}
module Any() {
    param w: f32[40, 24]
    fn forward(x: f32[B, 40]) -> f32[B, 24] { return x @ w }
}
fixed_net = Fixed()
low_net = Low()
image_net = Image()
any_net = Any()
graph fixed(x: f32[6, 40]) -> f32[6, 24] { return fixed_net(x) }
graph low(x: bf16[6, 40]) -> bf16[6, 24] { return low_net(x) }
graph image(x: f32[1, 16, 7, 7]) -> f32[1, 40, 7, 7] { return image_net(x) }
graph any(x: f32[B, 40]) -> f32[B, 24] { return any_net(x) }
`

func pack(t *testing.T, graph string, how npu.Packing) []byte {
	t.Helper()
	p, err := npu.Compile(npu.Script("packable.npu", packable), npu.Options{Graph: graph, RandomWeights: true, Seed: 3, Pack: how})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var b bytes.Buffer
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func runPacked(t *testing.T, data []byte) []byte {
	t.Helper()
	p, err := npu.Compile(npu.Reader("packable.npuc", bytes.NewReader(data)), npu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	dims := map[string]int64{"B": 9}
	if p.Name() != "any" {
		dims = nil
	}
	in, err := p.ReadInputs(map[string]string{"x": "random"}, npu.InputOptions{Seed: 5, Dims: dims})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out {
		return r.Data
	}
	return nil
}

// TestPack: a file gives the same bits however it is packed, and what is packed for
// this processor is used where it lies.
func TestPack(t *testing.T) {
	for _, graph := range []string{"fixed", "low", "image", "any"} {
		want := runPacked(t, pack(t, graph, npu.PackNone))
		for _, how := range npu.AllPackings {
			data := pack(t, graph, how)
			if got := runPacked(t, data); !bytes.Equal(got, want) {
				t.Errorf("%s, packed for %s: other results", graph, how)
			}
			f, err := bytecode.Read(data)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Packs) == 0 != (how == npu.PackNone) && graph != "image" {
				t.Errorf("%s, packed for %s: %d weights are", graph, how, len(f.Packs))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range f.Packs {
				for j := range f.Packs[i].Data {
					f.Packs[i].Data[j] = byte(rng.Uint32()) &^ 0x40 // no NaN, no infinity
				}
			}
			used := how == npu.PackHost || string(how) == isa.Best().String()
			if used && len(f.Packs) > 0 && bytes.Equal(runPacked(t, write(t, f)), want) {
				t.Errorf("%s, packed for %s: what is packed is not used", graph, how)
			}
		}
	}
}

// TestPackedWrongly: layouts of another size or name than kernels ask for are passed
// over.
func TestPackedWrongly(t *testing.T) {
	want := runPacked(t, pack(t, "fixed", npu.PackNone))
	for name, edit := range map[string]func(*bytecode.Packed){
		"shorter": func(p *bytecode.Packed) { p.Data = p.Data[:len(p.Data)-4] },
		"longer":  func(p *bytecode.Packed) { p.Data = append(slices.Clone(p.Data), 1, 2, 3, 4) },
		"odd":     func(p *bytecode.Packed) { p.Data = p.Data[:len(p.Data)-1] },
		"empty":   func(p *bytecode.Packed) { p.Data = []byte{} },
		"unknown": func(p *bytecode.Packed) { p.Layout = "spiral " + p.Layout },
	} {
		f, err := bytecode.Read(pack(t, "fixed", npu.PackHost))
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Packs {
			clear(f.Packs[i].Data)
			edit(&f.Packs[i])
			f.Packs[i].Size = int64(len(f.Packs[i].Data))
		}
		if got := runPacked(t, write(t, f)); !bytes.Equal(got, want) {
			t.Errorf("%s: other results", name)
		}
	}
}

func write(t *testing.T, f *bytecode.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// odd has no plan for 64, 1 and 8.
const odd = `
module Net() {
    param w: f32[4, 4]
    fn forward(x: f32[N, 4]) -> f32[N / 3, 4] { return reshape(x, [3, N / 3, 4])[0] @ w }
}
net = Net()
graph main(x: f32[N, 4]) -> f32[N / 3, 4] { return net(x) }
`

// TestPackErrors: packings that there are not, and graphs that no size tried fits.
func TestPackErrors(t *testing.T) {
	_, err := npu.Compile(npu.Script("packable.npu", packable), npu.Options{Graph: "fixed", RandomWeights: true, Pack: "avx3"})
	if err == nil || npu.AsDiagnostic(err).Message != "unknown packing avx3" {
		t.Errorf("avx3: %v", err)
	}
	p, err := npu.Compile(npu.Script("odd.npu", odd), npu.Options{RandomWeights: true, Pack: npu.PackAVX2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = p.WriteTo(io.Discard)
	if err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("odd: %v", err)
	}
}
