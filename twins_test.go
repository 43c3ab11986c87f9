package npu_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/npulang/npu"
)

// networks are the reference cases, each as a script and as its builder twin.
// Inputs, weights and expected results were computed by another engine; see
// examples/testdata/README.md.
var networks = []struct {
	name    string
	inputs  map[string]string
	outputs map[string]string
	twin    func() *npu.Graph
}{
	{"three_nodes", files("x", "three_nodes_x"), files("out", "three_nodes_out"), threeNodes},
	{"mlp", files("x", "digits"), files("probs", "mlp_probs"), mlp},
	{"cnn", files("x", "cnn_x"), files("logits", "cnn_logits"), cnn},
	{"encoder", files("x", "encoder_x", "mask", "encoder_mask"), files("y", "encoder_y"), encoder},
	{"gru", files("x", "gru_x"), files("y", "gru_y", "h", "gru_h"), gru},
}

func files(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1] + ".npy"
	}
	return m
}

func threeNodes() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[4, 512]")
	w1 := g.Param("w1", "f32[512, 256]")
	h := g.Name(g.MatMul(x, w1), "h")
	a := g.Name(g.ReLU(h), "a")
	w2 := g.Param("w2", "f32[256, 128]")
	g.Output("out", g.MatMul(a, w2))
	return g
}

// linear is nn.Linear.
func linear(g *npu.Graph, path string, x *npu.Value, in, out string) (y *npu.Value) {
	g.Scope(path, func() {
		w := g.Param("weight", "f32["+out+", "+in+"]")
		b := g.Param("bias", "f32["+out+"]")
		y = g.Linear(x, w, b)
	})
	return y
}

func mlp() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[B, 784]")
	g.Scope("net", func() {
		h := g.Name(g.ReLU(linear(g, "fc1", x, "784", "128")), "h")
		g.Output("probs", g.Softmax(linear(g, "fc2", h, "128", "10"), npu.Axis(-1)))
	})
	return g
}

func cnn() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[N, 1, 28, 28]")
	conv := func(path string, x *npu.Value, weight, bias string, pad int) (y *npu.Value) {
		g.Scope(path, func() {
			w := g.Param("weight", weight)
			b := g.Param("bias", bias)
			y = g.Conv(x, w, b, npu.Pad(pad))
		})
		return g.MaxPool(g.ReLU(y), []int{2})
	}
	h1 := g.Name(conv("conv1", x, "f32[8, 1, 3, 3]", "f32[8]", 1), "h")
	h2 := g.Name(conv("conv2", h1, "f32[16, 8, 5, 5]", "f32[16]", 2), "h")
	g.Output("logits", linear(g, "fc", g.Flatten(h2), "784", "10"))
	return g
}

// encoder is one post-norm BERT layer with the names of Hugging Face.
func encoder() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[B, S, 64]")
	mask := g.Input("mask", "f32[B, S]")
	b, s := npu.Sym("B"), npu.Sym("S")
	heads := func(v *npu.Value, name string) *npu.Value {
		return g.Name(g.Transpose(g.Reshape(v, b, s, npu.N(4), npu.N(16)), npu.Perm(0, 2, 1, 3)), name)
	}
	norm := func(path string, v *npu.Value) (y *npu.Value) {
		g.Scope(path, func() {
			y = g.LayerNorm(v, g.Param("weight", "f32[64]"), g.Param("bias", "f32[64]"), npu.Eps(1e-12))
		})
		return y
	}
	g.Scope("layer", func() {
		q := heads(linear(g, "attention.self.query", x, "64", "64"), "q")
		k := heads(linear(g, "attention.self.key", x, "64", "64"), "k")
		v := heads(linear(g, "attention.self.value", x, "64", "64"), "v")
		c := g.Attention(q, k, v, g.Unsqueeze(mask, []int{1, 2}))
		merged := g.Reshape(g.Transpose(c, npu.Perm(0, 2, 1, 3)), b, s, npu.N(64))
		a := g.Name(norm("attention.output.LayerNorm", g.Add(linear(g, "attention.output.dense", merged, "64", "64"), x)), "a")
		up := g.GELU(linear(g, "intermediate.dense", a, "64", "256"))
		g.Output("y", norm("output.LayerNorm", g.Add(linear(g, "output.dense", up, "256", "64"), a)))
	})
	return g
}

// gru runs a cell over a sequence by a loop at run time.
func gru() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[S, B, 196]")
	h0 := g.Name(g.Zeros(npu.MustType("f32[B, 32]")), "h")
	g.Scope("gru", func() {
		r := g.For(npu.N(0), npu.Sym("S"), []*npu.Value{h0}, 1, func(t *npu.Value, carried []*npu.Value) []*npu.Value {
			h := carried[0]
			gates := func(v *npu.Value, weight, typ, bias, prefix string) []*npu.Value {
				w := g.Param(weight, typ)
				sum := g.Add(g.MatMul(v, g.Transpose(w)), g.Param(bias, "f32[96]"))
				parts := g.Split(sum, npu.Parts(3), npu.Axis(-1))
				for i, gate := range []string{"r", "z", "n"} {
					g.Name(parts[i], prefix+gate)
				}
				return parts
			}
			gx := gates(g.Gather(x, t), "weight_ih_l0", "f32[96, 196]", "bias_ih_l0", "x")
			gh := gates(h, "weight_hh_l0", "f32[96, 32]", "bias_hh_l0", "h")
			reset := g.Name(g.Sigmoid(g.Add(gx[0], gh[0])), "r")
			update := g.Name(g.Sigmoid(g.Add(gx[1], gh[1])), "z")
			fresh := g.Name(g.Tanh(g.Add(gx[2], g.Mul(reset, gh[2]))), "n")
			next := g.Name(g.Add(g.Mul(g.Sub(npu.Num(1), update), fresh), g.Mul(update, h)), "h")
			return []*npu.Value{next, next}
		})
		g.Output("y", g.Name(r[1], "y"))
		g.Output("h", g.Name(r[0], "h"))
	})
	return g
}

// TestNetworks runs each reference case from its script and from its twin.
func TestNetworks(t *testing.T) {
	for _, n := range networks {
		weights := npu.WeightsFile(filepath.Join("examples", n.name+".safetensors"))
		sources := map[string]npu.Source{
			"script": npu.File(filepath.Join("examples", n.name+".npu")),
			"twin":   n.twin(),
		}
		for kind, src := range sources {
			t.Run(n.name+"/"+kind, func(t *testing.T) {
				p, err := npu.Compile(src, npu.Options{Weights: weights, Strict: true, Verify: true})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				out, err := p.Run(context.Background(), readAll(t, "examples", n.inputs))
				if err != nil {
					t.Fatal(err)
				}
				for name, want := range readAll(t, "examples/testdata", n.outputs) {
					near(t, name, out[name], want)
				}
			})
		}
	}
}

// TestDefaults runs each script as it stands: its inputs and weights are beside
// it.
func TestDefaults(t *testing.T) {
	for _, n := range networks {
		p, err := npu.Compile(npu.File(filepath.Join("examples", n.name+".npu")), npu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		out, err := p.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range readAll(t, "examples/testdata", n.outputs) {
			near(t, n.name+" "+name, out[name], want)
		}
	}
}

// TestTwins compares the IR text of scripts and twins.
func TestTwins(t *testing.T) {
	for _, n := range networks {
		script, _, err := npu.Emit(npu.File(filepath.Join("examples", n.name+".npu")), "ir", npu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		twin, _, err := npu.Emit(n.twin(), "ir", npu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(script, twin); diff != "" {
			t.Errorf("%s: the script (-) and its builder twin (+) differ:\n%s", n.name, diff)
		}
	}
}

// TestExampleTests runs the test blocks of every example.
func TestExampleTests(t *testing.T) {
	scripts, err := filepath.Glob("examples/*.npu")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no examples", err)
	}
	for _, script := range scripts {
		results, _, err := npu.Test(npu.File(script), npu.TestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for r := range results {
			if r.Failed() {
				t.Errorf("%s: %s at %s: %v", script, r.Name, r.Level, r.Diagnostics)
			}
		}
	}
}

func readAll(t *testing.T, dir string, names map[string]string) map[string]*npu.Tensor {
	t.Helper()
	arrays := map[string]*npu.Tensor{}
	for name, file := range names {
		a, err := npu.ReadArray(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		arrays[name] = a
	}
	return arrays
}

// near checks max|got-want| <= 1e-5 * max|want|: the agreement that the cases
// state, since float sums differ in their last digits.
func near(t *testing.T, name string, got, want *npu.Tensor) {
	t.Helper()
	if got == nil || !cmp.Equal(got.Shape, want.Shape) || got.DType != want.DType {
		t.Fatalf("%s: got %v, want %v", name, got, npu.TypeOf(want))
	}
	worst, largest := 0.0, 0.0
	for i, w := range npu.Of[float32](want) {
		g := npu.Of[float32](got)[i]
		worst = max(worst, math.Abs(float64(g)-float64(w)))
		largest = max(largest, math.Abs(float64(w)))
	}
	if !(worst <= 1e-5*largest) {
		t.Errorf("%s: the largest difference is %g, allowed is %g", name, worst, 1e-5*largest)
	}
}
