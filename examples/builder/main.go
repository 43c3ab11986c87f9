// Builder makes a graph in Go, without a script: a moving average over a
// sequence of any length, by a convolution.
//
// Look at: the graph is ordinary Go (the window is a Go value), mistakes stick
// until Compile reports them with the Go line, and one program serves every
// length N.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/npulang/npu"
)

// movingAverage builds a graph that averages over a window of values.
func movingAverage(window int) *npu.Graph {
	g := npu.NewGraph("main")
	x := g.Input("x", "f32[N]")
	weights := make([]float32, window)
	for i := range weights {
		weights[i] = 1 / float32(window)
	}
	w := g.Const(npu.FromSlice([]int{1, 1, window}, weights))
	y := g.Conv(g.Reshape(x, npu.N(1), npu.N(1), npu.Sym("N")), w, nil)
	g.Output("y", g.Squeeze(y, npu.Axis(0, 1)))
	return g
}

func main() {
	p, err := npu.Compile(movingAverage(4), npu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for _, x := range [][]float32{{4, 8, 12, 16}, {1, 1, 1, 1, 5, 9}} {
		out, err := p.Run(context.Background(), map[string]*npu.Tensor{"x": npu.FromSlice([]int{len(x)}, x)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(npu.Of[float32](out["y"]))
	}
}
