package examples_test

import "github.com/npulang/npu"

// The examples once more, by the builder: the same names, so the same IR.

func threeNodes() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[4, 512]")
	w1 := g.Param("w1", "f32[512, 256]")
	w2 := g.Param("w2", "f32[256, 128]")
	h := g.Name(g.MatMul(x, w1), "h")
	a := g.Name(g.ReLU(h), "a")
	g.Output("out", g.MatMul(a, w2))
	return g
}

// linear is nn.Linear: a layer under a scope of that name.
func linear(g *npu.Graph, name string, x *npu.Value, weight, bias string) (y *npu.Value) {
	g.Scope(name, func() {
		w := g.Param("weight", weight)
		b := g.Param("bias", bias)
		y = g.Linear(x, w, b)
	})
	return y
}

func mlp() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[B, 784]")
	g.Scope("net", func() {
		h := g.Name(g.ReLU(linear(g, "fc1", x, "f32[128, 784]", "f32[128]")), "h")
		y := linear(g, "fc2", h, "f32[10, 128]", "f32[10]")
		g.Output("probs", g.Softmax(y, npu.Axis(-1)))
	})
	return g
}

func cnn() *npu.Graph {
	g := npu.NewGraph("main")
	block := func(name string, x *npu.Value, weight, bias string, pad int) (y *npu.Value) {
		g.Scope(name, func() {
			c := g.Conv(x, g.Param("weight", weight), g.Param("bias", bias), npu.Pad(pad))
			y = g.Name(g.MaxPool(g.ReLU(c), []int{2}), "h")
		})
		return y
	}
	x := g.Input("x", "f32[N, 1, 28, 28]")
	h := block("conv1", x, "f32[8, 1, 3, 3]", "f32[8]", 1)
	h = block("conv2", h, "f32[16, 8, 5, 5]", "f32[16]", 2)
	g.Output("logits", linear(g, "fc", g.Flatten(h), "f32[10, 784]", "f32[10]"))
	return g
}

func encoder() *npu.Graph {
	const features, wide = "f32[64]", "f32[64, 64]"
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[B, S, 64]")
	mask := g.Input("mask", "f32[B, S]")
	batch, length := npu.Sym("B"), npu.Sym("S")
	heads := func(name, label string) *npu.Value {
		y := g.Reshape(linear(g, name, x, wide, features), batch, length, npu.N(4), npu.N(16))
		return g.Name(g.Transpose(y, npu.Perm(0, 2, 1, 3)), label)
	}
	output := func(h, residual *npu.Value, weight string) (y *npu.Value) {
		g.Scope("output", func() {
			sum := g.Add(linear(g, "dense", h, weight, features), residual)
			g.Scope("LayerNorm", func() {
				y = g.LayerNorm(sum, g.Param("weight", features), g.Param("bias", features), npu.Eps(1e-12))
			})
		})
		return y
	}
	g.Scope("layer", func() {
		var a *npu.Value
		g.Scope("attention", func() {
			var q, k, v *npu.Value
			g.Scope("self", func() { q, k, v = heads("query", "q"), heads("key", "k"), heads("value", "v") })
			y := g.Attention(q, k, v, g.Unsqueeze(mask, []int{1, 2}))
			y = g.Reshape(g.Transpose(y, npu.Perm(0, 2, 1, 3)), batch, length, npu.N(64))
			a = g.Name(output(y, x, wide), "a")
		})
		h := g.GELU(linear(g, "intermediate.dense", a, "f32[256, 64]", "f32[256]"))
		g.Output("y", output(h, a, "f32[64, 256]"))
	})
	return g
}

func gru() *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[S, B, 196]")
	start := g.Name(g.Zeros(npu.Type{DType: npu.F32, Shape: []npu.Dim{npu.Sym("B"), npu.N(32)}}), "h")
	gates := func(x *npu.Value, w, b *npu.Value, names ...string) []*npu.Value {
		parts := g.Split(g.Add(g.MatMul(x, g.Transpose(w)), b), npu.Parts(3), npu.Axis(-1))
		for i, name := range names {
			g.Name(parts[i], name)
		}
		return parts
	}
	out := g.For(npu.N(0), npu.Sym("S"), []*npu.Value{start}, 1, func(t *npu.Value, carried []*npu.Value) []*npu.Value {
		h := g.Name(carried[0], "h")
		var xs, hs []*npu.Value
		g.Scope("gru", func() {
			now := g.Gather(x, t)
			xs = gates(now, g.Param("weight_ih_l0", "f32[96, 196]"), g.Param("bias_ih_l0", "f32[96]"), "xr", "xz", "xn")
			hs = gates(h, g.Param("weight_hh_l0", "f32[96, 32]"), g.Param("bias_hh_l0", "f32[96]"), "hr", "hz", "hn")
		})
		r := g.Name(g.Sigmoid(g.Add(xs[0], hs[0])), "r")
		z := g.Name(g.Sigmoid(g.Add(xs[1], hs[1])), "z")
		n := g.Name(g.Tanh(g.Add(xs[2], g.Mul(r, hs[2]))), "n")
		h = g.Name(g.Add(g.Mul(g.Sub(npu.Num(1), z), n), g.Mul(z, h)), "h")
		return []*npu.Value{h, h}
	})
	g.Output("y", g.Name(out[1], "y"))
	g.Output("h", g.Name(out[0], "h"))
	return g
}
