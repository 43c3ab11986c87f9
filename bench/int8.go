package main

import "math"

// bytesOf quantizes a matrix by columns, as onnxruntime's quantize_dynamic does with
// weight_type QInt8, symmetric, per channel: scale = max|w| / 127 of each column, 1 for
// one of zeros, and halves to even.
func bytesOf(values []float32, rows, columns int) (bytes []byte, scales []float32) {
	bytes, scales = make([]byte, len(values)), make([]float32, columns)
	for j := range columns {
		var top float32
		for i := range rows {
			top = max(top, float32(math.Abs(float64(values[i*columns+j]))))
		}
		if scales[j] = top / 127; scales[j] == 0 {
			scales[j] = 1
		}
		for i := range rows {
			q := math.RoundToEven(float64(values[i*columns+j] / scales[j]))
			bytes[i*columns+j] = byte(int8(max(-127, min(127, q))))
		}
	}
	return bytes, scales
}

// product is x by a constant matrix, which values gives by rows. In a quantized graph it
// is what quantize_dynamic makes of it: the left side becomes bytes without a sign, by a
// scale and a zero point of the whole tensor, and the sums floats by both scales.
func (g *graph) product(x, name string, rows, columns int, values func() []float32) string {
	if !g.quantized {
		return g.op("MatMul", x, g.constant(name, []int{rows, columns}, values))
	}
	weight, scale, zero := name+"_quantized", name+"_scale", name+"_zero_point"
	if !g.known[name] {
		g.known[name] = true
		bytes, scales := bytesOf(values(), rows, columns)
		g.tensor(weight, []int{rows, columns}, onnxInt8, bytes)
		g.tensor(scale, []int{columns}, onnxFloat, floatBytes(scales))
		g.tensor(zero, []int{columns}, onnxInt8, make([]byte, columns))
	}
	left := g.quantizedInput(x)
	sums := g.op("Cast", g.op("MatMulInteger", left[0], weight, left[2], zero), intAttr("to", onnxFloat))
	return g.op("Mul", sums, g.op("Mul", left[1], scale))
}

// quantizedInput makes bytes of a value, once for all products of it: their names, and
// those of the scale and the zero point.
func (g *graph) quantizedInput(x string) [3]string {
	if have, ok := g.lefts[x]; ok {
		return have
	}
	names := [3]string{x + "_quantized", x + "_scale", x + "_zero_point"}
	g.nodeOf("DynamicQuantizeLinear", names[:], x)
	g.lefts[x] = names
	return names
}

// turnedValues are the elements of a matrix with its axes exchanged.
func turnedValues(w *weight) []float32 {
	rows, columns := w.shape[0], w.shape[1]
	in := w.values()
	out := make([]float32, len(in))
	for i := range rows {
		for k := range columns {
			out[k*rows+i] = in[i*columns+k]
		}
	}
	return out
}
