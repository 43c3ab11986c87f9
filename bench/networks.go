package main

import (
	"fmt"
	"slices"
	"strings"
)

// networks are all that can be measured, in the order in which they are.
var networks = []func() *network{
	func() *network { return product("matmul", 512, 1024, 1024) },
	func() *network { return product("matmul-up", 512, 1024, 4096) },
	func() *network { return product("matmul-down", 512, 4096, 1024) },
	func() *network { return product("matmul-128", 128, 128, 128) },
	func() *network { return product("matmul-1024", 1024, 1024, 1024) },
	func() *network { return product("matmul-2048", 2048, 2048, 2048) },
	func() *network { return product("gemv", 1, 1024, 1024) },
	func() *network { return perceptron("mlp", 32) },
	func() *network { return perceptron("mlp1", 1) },
	func() *network { return chain("chain1", 1, 1, 64, 64) },
	func() *network { return chain("chain101", 101, 1, 64, 64) },
	func() *network { return chain("wide12", 12, 4096, 4096, 4096) },
	func() *network { return chain("numbers12", 12, 4096, 4096, 1) },
	func() *network { return encoder("minilm", 6, 384, 12, 1536, 128) },
	func() *network { return encoder("minilm-12", 6, 384, 12, 1536, 12) },
	func() *network { return encoder("bert-large-1", 1, 1024, 16, 4096, 512) },
	func() *network { return encoder("bert-large", 24, 1024, 16, 4096, 512) },
	resnet18,
	resnet50,
	mobilenet,
	efficientnet,
	unet,
}

// usual are the networks that are measured when none are named: all but the
// largest.
const usual = "matmul,gemv,mlp,mlp1,chain101,minilm,minilm-12,bert-large-1,resnet18,mobilenet"

// choose finds networks by their names.
func choose(list string) ([]*network, error) {
	if list == "" {
		list = usual
	}
	var all, chosen []*network
	var names []string
	for _, build := range networks {
		n := build()
		all, names = append(all, n), append(names, n.name)
	}
	if list == "all" {
		return all, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(names, strings.TrimSpace(name))
		if i < 0 {
			return nil, fmt.Errorf("-networks: there is no %q; there are %s, and all", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// product is one linear layer without a bias: x[m,k] by a constant.
func product(name string, m, k, n int) *network {
	return &network{
		name: name, doc: fmt.Sprintf("x[%d,%d] @ w[%[2]d,%d]", m, k, n), input: []int{m, k},
		weights: []weight{{name: "w", shape: []int{k, n}, dev: 0.02}},
		script: fmt.Sprintf(`param w: f32[%d,%d]

graph main(x: %s) -> (y: f32[%d,%[2]d]) {
    return x @ w
}
`, k, n, shapeText([]int{m, k}), m),
		onnx: func(g *graph) string { return g.product("x", "w", k, n, g.find("w").values) },
	}
}

// perceptron is the classifier of digits, 784-512-512-10.
func perceptron(name string, batch int) *network {
	sizes := []int{784, 512, 512, 10}
	n := &network{name: name, doc: fmt.Sprintf("784-512-512-10 with relu, batch %d", batch), input: []int{batch, 784}}
	for i := range 3 {
		n.dense(fmt.Sprintf("fc%d", i+1), sizes[i], sizes[i+1])
	}
	n.script = fmt.Sprintf(`fc1 = nn.Linear(784, 512)
fc2 = nn.Linear(512, 512)
fc3 = nn.Linear(512, 10)

graph main(x: f32[%d,784]) -> (y: f32[%[1]d,10]) {
    return fc3(relu(fc2(relu(fc1(x)))))
}
`, batch)
	n.onnx = func(g *graph) string {
		x := g.op("Relu", g.gemm("x", "fc1"))
		x = g.op("Relu", g.gemm(x, "fc2"))
		return g.gemm(x, "fc3")
	}
	return n
}

// chain adds and multiplies in turn by a constant row, or by a number if it is one wide,
// count times.
func chain(name string, count, rows, columns, wide int) *network {
	var steps strings.Builder
	for i := range count {
		fmt.Fprintf(&steps, "    x = x %c c\n", "+*"[i%2])
	}
	shape := []int{rows, columns}
	return &network{
		name: name, doc: fmt.Sprintf("%d element-wise operators on %s, with a constant of [1,%d]", count, shapeText(shape), wide), input: shape,
		weights: []weight{{name: "c", shape: []int{1, wide}, mean: 0.5, dev: 0.1}},
		script:  fmt.Sprintf("param c: f32[1,%d]\n\ngraph main(x: %s) -> (y: %[2]s) {\n%s    return x\n}\n", wide, shapeText(shape), steps.String()),
		onnx: func(g *graph) string {
			x := "x"
			for i := range count {
				x = g.op([]string{"Add", "Mul"}[i%2], x, g.weight("c"))
			}
			return x
		},
	}
}
