package npu_test

import (
	"context"
	"fmt"
	"log"

	"github.com/npulang/npu"
)

// A script compiles once and runs at any batch size.
func Example() {
	p, err := npu.Compile(npu.Script("double.npu", `
		graph main(x: f32[B, 2]) -> (y: f32[B, 2], total: f32[B]) {
			y = relu(x) * 2.0
			return y, sum(y, axis=-1)
		}
	`), npu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for _, x := range []*npu.Tensor{
		npu.FromSlice([]int{1, 2}, []float32{1, -1}),
		npu.FromSlice([]int{2, 2}, []float32{1, 2, 3, 4}),
	} {
		out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": x})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(npu.Of[float32](out["y"]), npu.Of[float32](out["total"]))
	}
	// Output:
	// [2 0] [2]
	// [2 4 6 8] [6 14]
}

// The builder writes the same graphs in Go.
func ExampleGraph() {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[B, 2]")
	var y *npu.Value
	g.Scope("net.fc", func() {
		y = g.Linear(x, g.Param("weight", "f32[3, 2]"), g.Param("bias", "f32[3]"))
	})
	g.Output("probs", g.Softmax(g.Name(y, "logits")))
	text, _, err := npu.Emit(g, "ir", npu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// func @main(%x: f32[B,2]) -> (probs: f32[B,3]) {
	//   %net.fc.weight = param : f32[3,2]
	//   %net.fc.bias = param : f32[3]
	//   %logits = linear %x, %net.fc.weight, %net.fc.bias : f32[B,3]
	//   %0 = softmax %logits : f32[B,3]
	//   return %0
	// }
}

// A loop carries values from round to round and stacks what it collects.
func ExampleGraph_For() {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[N]")
	r := g.For(npu.N(0), npu.Sym("N"), []*npu.Value{g.Const(npu.Scalar(float32(0)))}, 1,
		func(t *npu.Value, carried []*npu.Value) []*npu.Value {
			total := g.Add(carried[0], g.Gather(x, t))
			return []*npu.Value{total, total}
		})
	g.Output("total", r[0])
	g.Output("running", r[1])
	p, err := npu.Compile(g, npu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.FromSlice([]int{4}, []float32{1, 2, 3, 4})})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(npu.Of[float32](out["total"]), npu.Of[float32](out["running"]))
	// Output: [10] [1 3 6 10]
}

// A mistake is answered with its place and what disagrees.
func ExampleCheck() {
	ds := npu.Check(npu.Script("mlp.npu", `
param w: f32[512, 10]

graph main(x: f32[B, 256]) -> f32[B, 10] {
    return x @ w
}
`), npu.Options{})
	fmt.Println(ds[0].Headline())
	// Output: mlp.npu:5:14: error: matmul: inner dimensions differ: 256 and 512 [shape-mismatch]
}

// Weights may come from memory, under the paths of the parameters.
func ExampleArrays() {
	p, err := npu.Compile(
		npu.Script("scale.npu", "param s: f32[2]\n\ngraph main(x: f32[N, 2]) -> f32[N, 2] { return x * s }"),
		npu.Options{Weights: npu.Arrays{"s": npu.FromSlice([]int{2}, []float32{10, 100})}},
	)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.FromSlice([]int{1, 2}, []float32{1, 2})})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(npu.FormatTensor(out["out"]))
	// Output: f32[1,2]
	// [[ 10, 200]]
}

// A Runtime executes single operators, here on two streams with an event between
// them.
func ExampleRuntime() {
	rt, err := npu.NewRuntime(npu.RuntimeOptions{Kernels: npu.KernelsReference})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	if err := onTwoStreams(rt); err != nil {
		log.Fatal(err)
	}
	// Output: [11 22] by add/any/reference
}

func onTwoStreams(rt *npu.Runtime) error {
	first, err := rt.NewStream()
	if err != nil {
		return err
	}
	second, err := rt.NewStream()
	if err != nil {
		return err
	}
	ready, err := rt.NewEvent()
	if err != nil {
		return err
	}
	x, err := rt.NewTensor(npu.F32, 2)
	if err != nil {
		return err
	}
	y, err := rt.Upload(npu.FromSlice([]int{2}, []float32{10, 20}))
	if err != nil {
		return err
	}
	if err := first.Upload(x, npu.FromSlice([]int{2}, []float32{1, 2})); err != nil {
		return err
	}
	if err := ready.Record(first); err != nil {
		return err
	}
	if err := second.Wait(ready); err != nil {
		return err
	}
	sum, err := second.Execute("Add", []*npu.DeviceTensor{x, y}, nil)
	if err != nil {
		return err
	}
	done, err := sum.Wait(context.Background())
	if err != nil {
		return err
	}
	host, err := done.Outputs[0].Host()
	if err != nil {
		return err
	}
	fmt.Println(npu.Of[float32](host), "by", done.Kernel)
	return nil
}
