package main

import (
	"fmt"
	"math"
)

// encoderScript is one layer of a BERT encoder and the graph over all of them. The
// parameters are the number of layers, hidden size, heads, size of the feed-forward
// block and length of the sequence.
const encoderScript = `module Layer(features: int, heads: int, hidden: int) {
    query = nn.Linear(features, features)
    key = nn.Linear(features, features)
    value = nn.Linear(features, features)
    output = nn.Linear(features, features)
    norm1 = nn.LayerNorm(features, eps=1e-12)
    up = nn.Linear(features, hidden)
    down = nn.Linear(hidden, features)
    norm2 = nn.LayerNorm(features, eps=1e-12)

    fn forward(x: f32[B, S, features]) -> f32[B, S, features] {
        q = nn.split_heads(query(x), heads)
        k = nn.split_heads(key(x), heads)
        v = nn.split_heads(value(x), heads)
        a = norm1(output(nn.join_heads(attention(q, k, v))) + x)
        return norm2(down(gelu(up(a))) + a)
    }
}

layer = [Layer(%[2]d, %[3]d, %[4]d) for i in 0..%[1]d]

graph main(x: f32[1,%[5]d,%[2]d]) -> (y: f32[1,%[5]d,%[2]d]) {
    for block in layer { x = block(x) }
    return x
}
`

// An encoderSize is the shape of an encoder.
type encoderSize struct{ layers, hidden, heads, feed, length int }

// encoder is a BERT encoder behind its embeddings, batch 1, without a mask.
func encoder(name string, layers, hidden, heads, feed, length int) *network {
	s := encoderSize{layers, hidden, heads, feed, length}
	n := &network{
		name:   name,
		doc:    fmt.Sprintf("encoder: %d layers, hidden %d, %d heads, feed-forward %d, sequence %d", layers, hidden, heads, feed, length),
		script: fmt.Sprintf(encoderScript, layers, hidden, heads, feed, length),
		input:  []int{1, length, hidden},
	}
	for l := range layers {
		path := fmt.Sprintf("layer.%d.", l)
		for _, name := range []string{"query", "key", "value", "output"} {
			n.dense(path+name, hidden, hidden)
		}
		n.norm(path+"norm1", hidden)
		n.dense(path+"up", hidden, feed)
		n.dense(path+"down", feed, hidden)
		n.norm(path+"norm2", hidden)
	}
	n.onnx = s.onnx
	return n
}

// onnx writes the layers as exporters do: attention and gelu by their parts, which
// the runtime's own rules find.
func (s encoderSize) onnx(g *graph) string {
	depth := s.hidden / s.heads
	split := g.ints("split", 1, int64(s.length), int64(s.heads), int64(depth))
	join := g.ints("join", 1, int64(s.length), int64(s.hidden))
	scale := g.scalar("scale", float32(math.Sqrt(float64(depth))))
	x := "x"
	for l := range s.layers {
		path := fmt.Sprintf("layer.%d.", l)
		head := func(name string, order ...int64) string {
			return g.op("Transpose", g.op("Reshape", g.linear(x, path+name), split), intsAttr("perm", order...))
		}
		q, k, v := head("query", 0, 2, 1, 3), head("key", 0, 2, 3, 1), head("value", 0, 2, 1, 3)
		a := g.op("Softmax", g.op("Div", g.op("MatMul", q, k), scale), intAttr("axis", -1))
		a = g.op("Reshape", g.op("Transpose", g.op("MatMul", a, v), intsAttr("perm", 0, 2, 1, 3)), join)
		a = g.layerNorm(g.op("Add", g.linear(a, path+"output"), x), path+"norm1")
		f := g.linear(g.gelu(g.linear(a, path+"up")), path+"down")
		x = g.layerNorm(g.op("Add", f, a), path+"norm2")
	}
	return x
}

// gelu is x / 2 * (1 + erf(x / sqrt 2)).
func (g *graph) gelu(x string) string {
	erf := g.op("Erf", g.op("Div", x, g.scalar("sqrt2", math.Sqrt2)))
	return g.op("Mul", g.op("Mul", x, g.op("Add", erf, g.scalar("one", 1))), g.scalar("half", 0.5))
}

func (g *graph) layerNorm(x, path string) string {
	return g.op("LayerNormalization", x, g.weight(path+".weight"), g.weight(path+".bias"), intAttr("axis", -1), floatAttr("epsilon", 1e-12))
}
