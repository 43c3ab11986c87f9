package ir_test

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// ONNX's own cases for operators on quantized numbers, as they are put together from
// operators of the table. Their numbers are whole, so that nothing may be off.

// An onnxCase is one node with its attributes of one integer and of several, and its
// tensors; those that are left out are nil.
type onnxCase struct {
	*testing.T
	op    string
	attrs map[string]int64
	lists map[string][]int64
	in    []*tensor.T
	want  []*tensor.T
}

// onnxQuantized is, by ONNX's name, the operator in our terms.
var onnxQuantized = map[string]func(c *onnxCase) []*tensor.T{
	"QuantizeLinear":   func(c *onnxCase) []*tensor.T { return c.quantizing("quantize_linear") },
	"DequantizeLinear": func(c *onnxCase) []*tensor.T { return c.quantizing("dequantize_linear") },
	"DynamicQuantizeLinear": func(c *onnxCase) []*tensor.T {
		x, zero := c.in[0], tensor.Scalar(float32(0))
		lo := c.one("minimum", nil, c.one("min", nil, x), zero)
		hi := c.one("maximum", nil, c.one("max", nil, x), zero)
		scale := c.one("div", nil, c.one("sub", nil, hi, lo), tensor.Scalar(float32(255)))
		from := c.one("quantize_linear", attrs{"dtype": ir.DTypeLit(tensor.U8)}, c.one("neg", nil, lo), scale)
		return []*tensor.T{c.one("quantize_linear", nil, x, scale, from), scale, from}
	},
	"MatMulInteger": func(c *onnxCase) []*tensor.T {
		return []*tensor.T{c.integers(c.in[0], c.at(2), c.in[1], c.at(3))}
	},
	"QLinearMatMul": func(c *onnxCase) []*tensor.T {
		sums := tensor.Cast(c.integers(c.in[0], c.in[2], c.in[3], c.in[5]), tensor.F32)
		float := func(i int) *tensor.T { return tensor.Cast(c.in[i], tensor.F32) }
		y := c.one("mul", nil, sums, c.one("mul", nil, float(1), float(4)))
		return []*tensor.T{c.one("quantize_linear", nil, y, float(6), c.in[7])}
	},
	"ConvInteger": func(c *onnxCase) []*tensor.T {
		return []*tensor.T{c.integerConv(c.in[0], c.at(2), c.in[1], c.at(3))}
	},
	"QLinearConv": func(c *onnxCase) []*tensor.T {
		sums := c.integerConv(c.in[0], c.in[2], c.in[3], c.in[5])
		if bias := c.at(8); bias != nil {
			sums = c.one("add", nil, sums, channels(bias, 1, len(sums.Shape)))
		}
		scale := c.one("mul", nil, c.in[1], channels(c.in[4], 1, len(sums.Shape)))
		y := c.one("mul", nil, tensor.Cast(sums, tensor.F32), scale)
		return []*tensor.T{c.one("quantize_linear", nil, y, c.in[6], c.in[7])}
	},
}

// integerConv is a convolution of numbers less their zeros, as one of f32, whose sums are
// exact up to 2^24. Filters may have zeros of their own.
func (c *onnxCase) integerConv(x, zeroX, w, zeroW *tensor.T) *tensor.T {
	less := func(t, zero *tensor.T) *tensor.T {
		t = tensor.Cast(t, tensor.F32)
		if zero == nil {
			return t
		}
		return c.one("sub", nil, t, channels(tensor.Cast(zero, tensor.F32), 0, len(t.Shape)))
	}
	as, axes := attrs{}, len(x.Shape)-2
	for to, from := range map[string]string{"stride": "strides", "dilation": "dilations"} {
		if list := c.lists[from]; list != nil {
			as[to] = ir.IntsLit(list...)
		}
	}
	if pads := c.lists["pads"]; pads != nil {
		var pairs []int64
		for i := range axes {
			pairs = append(pairs, pads[i], pads[axes+i])
		}
		as["pad"] = ir.IntsLit(pairs...)
	}
	if n := c.attrs["group"]; n != 0 {
		as["groups"] = ir.IntLit(n)
	}
	return tensor.Cast(c.one("conv", as, less(x, zeroX), less(w, zeroW)), tensor.I32)
}

// channels brings one number for each channel to its axis of so many; one for all stays.
func channels(t *tensor.T, axis, rank int) *tensor.T {
	if t.Len() == 1 {
		return &tensor.T{DType: t.DType, Data: t.Data}
	}
	to := slices.Repeat([]int{1}, rank)
	to[axis] = t.Len()
	return &tensor.T{DType: t.DType, Shape: to, Data: t.Data}
}

// quantizing is an operator with scales and zeros, as many as their place along an axis or
// in blocks asks for.
func (c *onnxCase) quantizing(op string) []*tensor.T {
	as := attrs{}
	if op == "quantize_linear" && c.at(2) == nil && c.attrs["output_dtype"] != 0 {
		as["dtype"] = ir.DTypeLit(onnxDTypes[c.attrs["output_dtype"]])
	}
	return []*tensor.T{c.one(op, as, c.in[0], c.along(c.in[1]), c.along(c.at(2)))}
}

// along brings scales or zeros to where they belong in the first input.
func (c *onnxCase) along(s *tensor.T) *tensor.T {
	shape := c.in[0].Shape
	axis, ok := c.attrs["axis"]
	if !ok {
		axis = 1
	}
	if axis < 0 {
		axis += int64(len(shape))
	}
	switch block := c.attrs["block_size"]; {
	case s == nil:
		return nil
	case block > 0:
		s = c.one("repeat", attrs{"axis": ir.IntLit(axis), "n": ir.DimLit(ir.N(block))}, s)
		return c.one("slice", attrs{"axes": ir.IntsLit(axis), "starts": ir.DimsLit(ir.N(0)), "ends": ir.DimsLit(ir.N(int64(shape[axis])))}, s)
	case len(s.Shape) == 1 && s.Shape[0] > 1:
		to := slices.Repeat([]int{1}, len(shape))
		to[axis] = s.Shape[0]
		return &tensor.T{DType: s.DType, Shape: to, Data: s.Data}
	}
	return s
}

// integers is a product of numbers less their zeros. Those of rows stand below each other.
func (c *onnxCase) integers(a, zeroA, b, zeroB *tensor.T) *tensor.T {
	less := func(x, zero *tensor.T, column bool) *tensor.T {
		x = tensor.Cast(x, tensor.I32)
		if zero == nil {
			return x
		}
		zero = tensor.Cast(zero, tensor.I32)
		if column && len(zero.Shape) == 1 {
			zero = &tensor.T{DType: zero.DType, Shape: []int{zero.Shape[0], 1}, Data: zero.Data}
		}
		return c.one("sub", nil, x, zero)
	}
	return c.one("matmul", nil, less(a, zeroA, true), less(b, zeroB, false))
}

// at is an input that may be left out.
func (c *onnxCase) at(i int) *tensor.T {
	if i < len(c.in) {
		return c.in[i]
	}
	return nil
}

func (c *onnxCase) one(op string, as attrs, in ...*tensor.T) *tensor.T {
	c.Helper()
	out, err := evalOp(op, as, in...)
	if err != nil {
		c.Fatal(err)
	}
	return out[0]
}

// TestONNXQuantized runs ONNX's cases whose dtypes the table has.
func TestONNXQuantized(t *testing.T) {
	files, err := readArchive("../../shared/onnx-node-tests.tar.gz")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the ONNX cases are not beside this tree")
	}
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, name := range sortedKeys(files) {
		if path.Base(name) != "model.onnx" {
			continue
		}
		c := onnxCase{attrs: map[string]int64{}, lists: map[string][]int64{}}
		names := c.model(files[name])
		run := onnxQuantized[c.op]
		if run == nil || strings.Contains(name, "_expanded") || !c.load(files, path.Dir(name), names) {
			continue
		}
		ran[c.op]++
		t.Run(path.Base(path.Dir(name)), func(t *testing.T) {
			c.T = t
			for i, got := range run(&c) {
				if d := tensor.Compare(got, c.want[i], 0); d != nil {
					t.Errorf("result %d: %v", i, d)
				}
			}
		})
	}
	for op := range onnxQuantized {
		if ran[op] == 0 {
			t.Errorf("no case of %s", op)
		}
	}
}

// model reads the only node of a model, and returns its inputs' names.
func (c *onnxCase) model(data []byte) (inputs []string) {
	nodes := 0
	for graph := range protoFields(data, 7) {
		for node := range protoFields(graph.bytes, 1) {
			nodes++
			inputs = nil
			for f := range protoFields(node.bytes, 0) {
				switch f.number {
				case 1:
					inputs = append(inputs, string(f.bytes))
				case 4:
					c.op = string(f.bytes)
				case 5:
					name := ""
					for a := range protoFields(f.bytes, 0) {
						switch a.number {
						case 1:
							name = string(a.bytes)
						case 3:
							c.attrs[name] = int64(a.value)
						case 8:
							c.lists[name] = append(c.lists[name], a.varints()...)
						}
					}
				}
			}
		}
	}
	if nodes != 1 {
		c.op = ""
	}
	return inputs
}

// load reads the tensors of a case; it reports whether the table has their dtypes.
func (c *onnxCase) load(files map[string][]byte, dir string, names []string) bool {
	at := 0
	for _, name := range names {
		if name == "" {
			c.in = append(c.in, nil)
			continue
		}
		x := onnxTensor(files[dir+"/test_data_set_0/input_"+string(rune('0'+at))+".pb"])
		if x == nil {
			return false
		}
		c.in, at = append(c.in, x), at+1
	}
	for i := 0; ; i++ {
		data, ok := files[dir+"/test_data_set_0/output_"+string(rune('0'+i))+".pb"]
		if !ok {
			return i > 0
		}
		y := onnxTensor(data)
		if y == nil {
			return false
		}
		c.want = append(c.want, y)
	}
}

// onnxDTypes are the numbers of dtypes in files.
var onnxDTypes = map[int64]tensor.DType{
	1: tensor.F32, 2: tensor.U8, 3: tensor.I8, 4: tensor.U16, 5: tensor.I16, 6: tensor.I32, 7: tensor.I64,
	10: tensor.F16, 11: tensor.F64, 16: tensor.BF16,
}

// onnxTensor reads a tensor; nil: of a dtype that the table lacks.
func onnxTensor(data []byte) *tensor.T {
	var shape []int
	var raw []byte
	var list []int64 // of elements that are not raw
	var dtype tensor.DType
	for f := range protoFields(data, 0) {
		switch f.number {
		case 1:
			for _, v := range f.varints() {
				shape = append(shape, int(v))
			}
		case 2:
			dtype = onnxDTypes[int64(f.value)]
		case 5, 7:
			list = append(list, f.varints()...)
		case 9:
			raw = f.bytes
		}
	}
	switch {
	case dtype == tensor.Invalid:
		return nil
	case raw == nil:
		return tensor.FromInts(dtype, shape, list)
	}
	x := tensor.New(dtype, shape...)
	copy(x.Data, raw)
	return x
}

// A protoField is a field of a message: a number, or bytes.
type protoField struct {
	number int
	value  uint64
	bytes  []byte
}

// varints are the numbers of a field, also if it is packed.
func (f protoField) varints() (list []int64) {
	if f.bytes == nil {
		return []int64{int64(f.value)}
	}
	for rest := f.bytes; len(rest) > 0; {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return nil
		}
		list, rest = append(list, int64(v)), rest[n:]
	}
	return list
}

// protoFields goes through the fields of a message, those of one number; 0: all.
func protoFields(data []byte, number int) func(yield func(protoField) bool) {
	return func(yield func(protoField) bool) {
		for len(data) > 0 {
			tag, n := binary.Uvarint(data)
			if n <= 0 {
				return
			}
			f, rest := protoField{number: int(tag >> 3)}, data[n:]
			switch tag & 7 {
			case 0:
				f.value, n = binary.Uvarint(rest)
			case 1:
				n = 8
			case 2:
				size, m := binary.Uvarint(rest)
				n = m + int(min(size, math.MaxInt32))
				if n > len(rest) {
					return
				}
				f.bytes = rest[m:n]
			case 5:
				n = 4
			}
			if n <= 0 || n > len(rest) {
				return
			}
			data = rest[n:]
			if (number == 0 || number == f.number) && !yield(f) {
				return
			}
		}
	}
}
