package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir/diag"
)

func TestQuick(t *testing.T) {
	text := `// mlp.npu: two layers and a softmax.
import "nn"

weights "mlp.safetensors"
param w1: f32[512, 256] = normal(0, 0.02)

/// A doc.
/// two lines.
module MLP(inputs: int, hidden: int, outputs: int) {
    fc1 = nn.Linear(inputs, hidden)
    fc2 = nn.Linear(hidden, outputs)
    layers = [Block(h) for i in 0..n]

    fn forward(x: f32[..., inputs]) -> f32[..., outputs] {
        h = relu(fc1(x))
        return fc2(h)
    }
}

net = MLP(784, 128, 10)
fn gelu[T: float](x: T[...]) -> T[...] { return x }

graph main(x: f32[B, 784] = load("digits.npy")) -> (probs: f32[B, 10]) {
    for layer in layers { x = layer(x) }
    for t in 0..S carry h, c collect ys {
        h, c = cell(x[t], h, c)
        ys = h
    }
    while err > 1e-3 carry y, err { y = f(x) }
    @stream("io")       h = copy(x)
    @stage(2)           { u = g(z)
    }
    if a { x = 1 } else if b { x = 2 }
    else { x = 3 }
    z = f(x, if causal { q = 3
       q } else { b }, axis=-1,)
    y = x
       .reshape(B, S, H, D)
       .T
    return softmax(net(x), axis=-1)
}

test "a row of probabilities sums to one" {
    p = main(zeros(f32[2, 784]))
    expect sum(p, axis=-1) ~= [1.0, 1.0] within 1e-4
    expect error "foo" { x = 3 }
    expect a < b
}
fusion MatMul_BiasAdd_ReLU {
    relu?(bias_add(matmul(a, b), c))
    where rank(c) == 1
    safe
}
rewrite mul_one {
    x * 1  =>  x
}
`
	f, errs := Parse(diag.NewSource("a.npu", text))
	for _, e := range errs {
		fmt.Println(e.Span.Loc(), e.Headline())
	}
	fmt.Println(len(f.Decls))
	var b strings.Builder
	b.WriteString("graph main(x: f32[4]) -> f32[4] {\n")
	for i := range 100000 {
		fmt.Fprintf(&b, "    h%d = relu(h%d) + 1\n", i, i)
	}
	b.WriteString("return h\n}\n")
	start := time.Now()
	_, errs = Parse(diag.NewSource("a.npu", b.String()))
	fmt.Println(time.Since(start), b.Len(), errs)
	start = time.Now()
	newGrammar()
	fmt.Println(time.Since(start))
}
