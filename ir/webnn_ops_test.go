package ir_test

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// webnnOps is, by WebNN's name, the operator in our terms.
var webnnOps = map[string]func(*webnnCall) []*tensor.T{
	"abs": unaryCase("abs"), "ceil": unaryCase("ceil"), "exp": unaryCase("exp"), "floor": unaryCase("floor"),
	"hardSwish": unaryCase("hardswish"), "log": unaryCase("log"), "neg": unaryCase("neg"), "relu": unaryCase("relu"),
	"sigmoid": unaryCase("sigmoid"), "sqrt": unaryCase("sqrt"), "tanh": unaryCase("tanh"),

	"add": binaryCase("add"), "sub": binaryCase("sub"), "mul": binaryCase("mul"), "div": binaryCase("div"),
	"pow": binaryCase("pow"), "max": binaryCase("maximum"), "min": binaryCase("minimum"), "matmul": binaryCase("matmul"),
	"equal": binaryCase("equal"), "greater": binaryCase("greater"), "greaterOrEqual": binaryCase("greater_equal"),
	"lesser": binaryCase("less"), "lesserOrEqual": binaryCase("less_equal"),

	"reduceSum": reduceCase("sum"), "reduceMean": reduceCase("mean"), "reduceProduct": reduceCase("prod"),
	"reduceMax": reduceCase("max"), "reduceMin": reduceCase("min"), "reduceL1": reduceCase("norm1"), "reduceL2": reduceCase("norm2"),
	"reduceSumSquare": reduceCase("sum_square"), "reduceLogSumExp": reduceCase("logsumexp"), "reduceLogSum": reduceCase("sum", "log"),

	"elu":       attrsCase("elu", "alpha", "alpha"),
	"leakyRelu": attrsCase("leaky_relu", "alpha", "slope"),
	"hardSigmoid": func(w *webnnCall) []*tensor.T {
		return w.op("hardsigmoid", attrs{"alpha": w.float("alpha", 0.2), "beta": w.float("beta", 0.5)}, w.arg("input"))
	},
	"linear": func(w *webnnCall) []*tensor.T {
		x := w.arg("input")
		scalar := func(l ir.Lit) *tensor.T { return tensor.FromFloats(x.DType, nil, []float64{l.Float}) }
		y := w.op("mul", nil, x, scalar(w.float("alpha", 1)))
		return w.op("add", nil, y[0], scalar(w.float("beta", 0)))
	},
	"clamp":      clampCase,
	"cast":       castCase,
	"logicalNot": func(w *webnnCall) []*tensor.T { return w.op("logical_not", nil, tensor.Cast(w.arg("a"), tensor.Bool)) },
	"softmax": func(w *webnnCall) []*tensor.T {
		return w.op("softmax", attrs{"axis": ir.IntLit(w.ints("axis")[0])}, w.arg("input"))
	},

	"layerNormalization":    layerNormCase,
	"instanceNormalization": instanceNormCase,
	"batchNormalization":    batchNormCase,
	"conv2d":                convCase("conv", map[string][]int64{"hwio": {3, 2, 0, 1}, "ohwi": {0, 3, 1, 2}, "ihwo": {3, 0, 1, 2}}),
	"convTranspose2d":       convCase("conv_transpose", map[string][]int64{"hwoi": {3, 2, 0, 1}, "ohwi": {3, 0, 1, 2}}),

	"reshape": func(w *webnnCall) []*tensor.T {
		return w.op("reshape", attrs{"dims": w.dims("newShape")}, w.arg("input"))
	},
	"expand": func(w *webnnCall) []*tensor.T {
		return w.op("expand", attrs{"dims": w.dims("newShape")}, w.arg("input"))
	},
	"transpose": func(w *webnnCall) []*tensor.T {
		x := w.arg("input")
		perm := w.ints("permutation")
		for i := len(x.Shape) - 1; i >= 0 && !w.has("permutation"); i-- {
			perm = append(perm, int64(i))
		}
		return w.op("transpose", attrs{"perm": ir.IntsLit(perm...)}, x)
	},
	"concat": func(w *webnnCall) []*tensor.T {
		return w.op("concat", attrs{"axis": ir.IntLit(w.ints("axis")[0])}, w.args("inputs")...)
	},
	"gather": func(w *webnnCall) []*tensor.T {
		// WebNN clamps indices, ours refuses those out of range.
		x, i, axis := w.arg("input"), w.arg("indices"), w.int("axis", 0)
		n := int64(x.Shape[axis.Int])
		limit := func(v int64) *tensor.T { return tensor.FromInts(i.DType, nil, []int64{v}) }
		low := limit(-n)
		if i.DType.Kind() == tensor.Unsigned {
			low = nil
		}
		return w.op("gather", attrs{"axis": axis}, x, w.op("clip", nil, i, low, limit(n-1))[0])
	},
	"slice": sliceCase,
	"split": func(w *webnnCall) []*tensor.T {
		sizes := w.ints("splits")
		as := attrs{"axis": w.int("axis", 0)}
		if w.isList("splits") {
			as["sizes"] = ir.DimsLit(ir.Dims(sizes...)...)
		} else {
			as["parts"] = ir.IntLit(sizes[0])
		}
		return w.op("split", as, w.arg("input"))
	},
}

func unaryCase(op string) func(*webnnCall) []*tensor.T {
	return func(w *webnnCall) []*tensor.T { return w.op(op, nil, w.arg("input")) }
}

func binaryCase(op string) func(*webnnCall) []*tensor.T {
	return func(w *webnnCall) []*tensor.T { return w.op(op, nil, w.arg("a"), w.arg("b")) }
}

// attrsCase maps one float option.
func attrsCase(op, option, attr string) func(*webnnCall) []*tensor.T {
	return func(w *webnnCall) []*tensor.T {
		as := attrs{}
		if w.has(option) {
			as[attr] = w.float(option, 0)
		}
		return w.op(op, as, w.arg("input"))
	}
}

// reduceCase reduces, then applies the unary operators.
func reduceCase(op string, then ...string) func(*webnnCall) []*tensor.T {
	return func(w *webnnCall) []*tensor.T {
		as := attrs{"keepdims": ir.BoolLit(w.str("keepDimensions") == "true")}
		if w.has("axes") {
			as["axis"] = ir.IntsLit(w.ints("axes")...)
		}
		y := w.op(op, as, w.arg("input"))
		for _, name := range then {
			y = w.op(name, nil, y...)
		}
		return y
	}
}

func clampCase(w *webnnCall) []*tensor.T {
	x := w.arg("input")
	bound := func(option string) *tensor.T {
		if !w.has(option) {
			return nil
		}
		t := tensor.New(x.DType)
		w.check(fill(t, w.options[option]))
		return t
	}
	return w.op("clip", nil, x, bound("minValue"), bound("maxValue"))
}

func castCase(w *webnnCall) []*tensor.T {
	return w.op("cast", attrs{"dtype": ir.DTypeLit(webnnDTypes[w.str("type")])}, w.arg("input"))
}

func layerNormCase(w *webnnCall) []*tensor.T {
	x := w.arg("input")
	axes := w.ints("axes")
	for i := 1; i < len(x.Shape) && !w.has("axes"); i++ {
		axes = append(axes, int64(i))
	}
	as := attrs{"axis": ir.IntsLit(axes...), "eps": w.float("epsilon", 1e-5)}
	return w.op("layernorm", as, x, w.arg("scale"), w.arg("bias"))
}

func instanceNormCase(w *webnnCall) []*tensor.T {
	x := w.arg("input")
	nhwc := w.str("layout") == "nhwc"
	if nhwc {
		x = w.transpose(x, 0, 3, 1, 2)
	}
	y := w.op("instancenorm", attrs{"eps": w.float("epsilon", 1e-5)}, x, w.arg("scale"), w.arg("bias"))[0]
	if nhwc {
		y = w.transpose(y, 0, 2, 3, 1)
	}
	return []*tensor.T{y}
}

func batchNormCase(w *webnnCall) []*tensor.T {
	x := w.arg("input")
	axis := int(w.int("axis", 1).Int)
	inner := 1
	for _, d := range x.Shape[axis+1:] {
		inner *= d
	}
	n := x.Shape[axis]
	// The axis stands second once those before and behind it are each one.
	flat := x.Reshape(x.Len()/(n*inner), n, inner)
	y := w.op("batchnorm", attrs{"eps": w.float("epsilon", 1e-5)}, flat, w.arg("scale"), w.arg("bias"), w.arg("mean"), w.arg("variance"))
	return []*tensor.T{y[0].Reshape(x.Shape...)}
}

// convCase is a case of a convolution, whose filters have a layout by default and others
// that transpositions bring there.
func convCase(op string, perms map[string][]int64) func(*webnnCall) []*tensor.T {
	return func(w *webnnCall) []*tensor.T {
		x, f := w.arg("input"), w.arg("filter")
		nhwc := w.str("inputLayout") == "nhwc"
		if nhwc {
			x = w.transpose(x, 0, 3, 1, 2)
		}
		if perm := perms[w.str("filterLayout")]; perm != nil {
			f = w.transpose(f, perm...)
		}
		as := attrs{"groups": w.int("groups", 1)}
		for option, attr := range map[string]string{"strides": "stride", "padding": "pad", "dilations": "dilation", "outputPadding": "output_pad"} {
			if w.has(option) {
				as[attr] = ir.IntsLit(w.ints(option)...)
			}
		}
		if w.has("outputSizes") {
			as["output_pad"] = ir.IntsLit(w.longer(op, as, x, f)...)
		}
		y := w.op(op, as, x, f, w.arg("bias"))[0]
		if nhwc {
			y = w.transpose(y, 0, 2, 3, 1)
		}
		return []*tensor.T{y}
	}
}

// longer is by how much the sizes that are asked for are more than a call gives.
func (w *webnnCall) longer(op string, as attrs, x, f *tensor.T) []int64 {
	sizes := w.ints("outputSizes")
	for i, n := range w.op(op, as, x, f)[0].Shape[2:] {
		sizes[i] -= int64(n)
	}
	return sizes
}

func sliceCase(w *webnnCall) []*tensor.T {
	starts, sizes := w.ints("starts"), w.ints("sizes")
	ends := make([]int64, len(starts))
	for i := range starts {
		ends[i] = starts[i] + sizes[i]
	}
	as := attrs{"starts": ir.DimsLit(ir.Dims(starts...)...), "ends": ir.DimsLit(ir.Dims(ends...)...)}
	if w.has("strides") {
		as["steps"] = ir.IntsLit(w.ints("strides")...)
	}
	return w.op("slice", as, w.arg("input"))
}
