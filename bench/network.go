package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// A network is what is measured: an npu script and an ONNX graph that compute the
// same function of one input x, with one result y, both f32.
type network struct {
	name    string
	doc     string
	script  string // of npu, without the line that names the weights
	input   []int
	weights []weight
	onnx    func(*graph) string // adds the nodes that compute the result of "x", returns its name
}

// A weight is a parameter with values made up from its name.
type weight struct {
	name  string
	shape []int
	mean  float64
	dev   float64 // standard deviation
}

// size is the number of elements.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// values makes up the elements, the same ones at every call.
func (w *weight) values() []float32 {
	r := rand.New(rand.NewPCG(seedOf(w.name), 1))
	out := make([]float32, size(w.shape))
	for i := range out {
		out[i] = float32(w.mean + w.dev*r.NormFloat64())
	}
	return out
}

func seedOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// inputValues are those of x: standard normal.
func (n *network) inputValues() []float32 {
	w := weight{name: "input " + n.name, shape: n.input, dev: 1}
	return w.values()
}

// bytes is what the weights take.
func (n *network) bytes() int64 {
	var sum int64
	for i := range n.weights {
		sum += 4 * int64(size(n.weights[i].shape))
	}
	return sum
}

// dense adds the two weights of a linear layer, named as npu's nn.Linear has them.
func (n *network) dense(path string, inputs, outputs int) {
	n.scaledDense(path, inputs, outputs, 0.02)
}

// scaledDense is dense with a standard deviation for the weight.
func (n *network) scaledDense(path string, inputs, outputs int, dev float64) {
	n.weights = append(n.weights,
		weight{name: path + ".weight", shape: []int{outputs, inputs}, dev: dev},
		weight{name: path + ".bias", shape: []int{outputs}, dev: 0.02})
}

// norm adds the two weights of a layer norm.
func (n *network) norm(path string, features int) {
	n.weights = append(n.weights,
		weight{name: path + ".weight", shape: []int{features}, mean: 1, dev: 0.02},
		weight{name: path + ".bias", shape: []int{features}, dev: 0.02})
}

// shapeText is f32[1,784].
func shapeText(shape []int) string {
	text := "f32["
	for i, d := range shape {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprint(d)
	}
	return text + "]"
}
