package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of fields and types below are those of onnx.proto, version 1.16 of
// ONNX (github.com/onnx/onnx).
const (
	onnxFloat    = 1 // TensorProto.DataType
	onnxInt8     = 3
	onnxInt64    = 7
	onnxExternal = 1 // TensorProto.DataLocation
	irVersion    = 8
	opset        = 17
)

// A graph is an ONNX graph that is being written. Its weights are those of a
// network; those that are large go to a file beside the model.
type graph struct {
	n       *network
	data    *externalData
	nodes   []byte // fields of GraphProto, one for each node
	tensors []byte // and for each constant
	count   int    // of nodes
	known   map[string]bool

	quantized bool                 // products of constants are those of bytes
	lefts     map[string][3]string // what has been made bytes: see quantizedInput

	err error // the first, of writing data
}

// An attribute of a node is a field of NodeProto that stands among its inputs.
type attribute []byte

func intAttr(name string, value int64) attribute {
	return attributeOf(name, 2, func(b []byte) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(value))
	})
}

func floatAttr(name string, value float32) attribute {
	return attributeOf(name, 1, func(b []byte) []byte {
		return protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(value))
	})
}

func intsAttr(name string, values ...int64) attribute {
	return attributeOf(name, 7, func(b []byte) []byte {
		for _, v := range values {
			b = protowire.AppendVarint(protowire.AppendTag(b, 8, protowire.VarintType), uint64(v))
		}
		return b
	})
}

func textAttr(name, value string) attribute {
	return attributeOf(name, 3, func(b []byte) []byte { return text(b, 4, value) })
}

// attributeOf is an AttributeProto of a type, whose value a function appends.
func attributeOf(name string, kind uint64, value func([]byte) []byte) attribute {
	b := value(text(nil, 1, name))
	return protowire.AppendVarint(protowire.AppendTag(b, 20, protowire.VarintType), kind)
}

// text appends a field that is a string.
func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

// message appends a field that is a message, or bytes.
func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// number appends a field that is an integer.
func number(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

// op adds a node. What follows its type are names of inputs, and attributes.
func (g *graph) op(kind string, args ...any) string {
	g.count++
	out := fmt.Sprintf("%s_%d", kind, g.count)
	g.node(kind, out, args...)
	return out
}

func (g *graph) node(kind, out string, args ...any) { g.nodeOf(kind, []string{out}, args...) }

// nodeOf adds a node of any number of results.
func (g *graph) nodeOf(kind string, outs []string, args ...any) {
	var node []byte
	for _, a := range args {
		if name, ok := a.(string); ok {
			node = text(node, 1, name)
		}
	}
	for _, out := range outs {
		node = text(node, 2, out)
	}
	node = text(text(node, 3, "node "+outs[0]), 4, kind)
	for _, a := range args {
		if a, ok := a.(attribute); ok {
			node = message(node, 5, a)
		}
	}
	g.nodes = message(g.nodes, 1, node)
}

// gemm is a linear layer on a matrix; npu's weight is transposed.
func (g *graph) gemm(x, path string) string {
	if g.quantized {
		return g.linear(x, path)
	}
	return g.op("Gemm", x, g.weight(path+".weight"), g.weight(path+".bias"), intAttr("transB", 1))
}

// linear is a linear layer over any leading dimensions. MatMul takes the weight the
// other way round than npu does, so that the model holds it turned.
func (g *graph) linear(x, path string) string {
	w := g.find(path + ".weight")
	y := g.product(x, w.name+".T", w.shape[1], w.shape[0], func() []float32 { return turnedValues(w) })
	return g.op("Add", y, g.weight(path+".bias"))
}

// weight is a weight of the network as a constant.
func (g *graph) weight(name string) string {
	w := g.find(name)
	return g.constant(name, w.shape, w.values)
}

func (g *graph) find(name string) *weight {
	for i := range g.n.weights {
		if g.n.weights[i].name == name {
			return &g.n.weights[i]
		}
	}
	panic("network " + g.n.name + " has no weight " + name)
}

func (g *graph) scalar(name string, value float32) string {
	return g.constant(name, nil, func() []float32 { return []float32{value} })
}

// constant adds a constant of f32, once.
func (g *graph) constant(name string, shape []int, values func() []float32) string {
	if g.known[name] {
		return name
	}
	g.known[name] = true
	g.tensor(name, shape, onnxFloat, floatBytes(values()))
	return name
}

// ints adds a constant vector of i64.
func (g *graph) ints(name string, values ...int64) string {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	g.tensor(name, []int{len(values)}, onnxInt64, raw)
	return name
}

// tensor adds a TensorProto.
func (g *graph) tensor(name string, shape []int, kind int64, raw []byte) {
	var t []byte
	for _, d := range shape {
		t = number(t, 1, int64(d))
	}
	t = text(number(t, 2, kind), 8, name)
	if g.data.takes(raw) {
		t = g.external(t, raw)
	} else {
		t = message(t, 9, raw)
	}
	g.tensors = message(g.tensors, 5, t)
}

// external lets a tensor refer to the file beside the model.
func (g *graph) external(t, raw []byte) []byte {
	offset, err := g.data.write(raw)
	if err != nil && g.err == nil {
		g.err = err
	}
	for _, entry := range [][2]string{{"location", filepath.Base(g.data.path)}, {"offset", fmt.Sprint(offset)}, {"length", fmt.Sprint(len(raw))}} {
		t = message(t, 13, text(text(nil, 1, entry[0]), 2, entry[1]))
	}
	return number(t, 14, onnxExternal)
}

// port is a ValueInfoProto of f32; without a shape, of any.
func port(name string, shape []int) []byte {
	kind := number(nil, 1, onnxFloat)
	if shape != nil {
		var dims []byte
		for _, d := range shape {
			dims = message(dims, 1, number(nil, 1, int64(d)))
		}
		kind = message(kind, 2, dims)
	}
	return message(text(nil, 1, name), 2, message(nil, 1, kind))
}

// writeOnnx writes a network as a model; data takes the large constants. In a quantized
// one products of constants are those of bytes.
func writeOnnx(n *network, data *externalData, quantized bool) ([]byte, error) {
	g := &graph{n: n, data: data, known: map[string]bool{}, quantized: quantized, lefts: map[string][3]string{}}
	g.node("Identity", "y", n.onnx(g))
	if g.err != nil {
		return nil, g.err
	}
	body := append(g.nodes, text(nil, 2, n.name)...)
	body = append(body, g.tensors...)
	body = message(body, 11, port("x", n.input))
	body = message(body, 12, port("y", nil))
	model := text(number(nil, 1, irVersion), 2, "npu bench")
	model = message(model, 7, body)
	return message(model, 8, number(text(nil, 1, ""), 2, opset)), nil
}
