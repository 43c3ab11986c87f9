package fusion

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// Convolutions whose bias, norm, activation and residual ride in the epilogue.
//
//	%0 = conv %x, %w                       %y = fused %x, %w, ... {rule=Conv_BatchNorm_ReLU}
//	%1 = batchnorm %0, %g, %b, %m, %v  =>
//	%y = relu %1
//
// The bias of a convolution stands in its call or behind it, as a sum with one
// number for each channel. A norm by running statistics is a factor and a term
// for each channel: it is written out as conv(x, w * factor) only where all of it
// is constant and the tolerance of that rewrite is granted, see the pass
// merge-products; with weights that are bound later it rides here.
func convRules() []*Rule {
	rules := []*Rule{
		conv("Conv_BatchNorm_Add_ReLU", "norm, residual and relu ride in the convolution's epilogue", normed, sameShape("r"), `relu(A + r)`),
		conv("Conv_BiasAdd_Add_ReLU", "bias, residual and relu ride in the convolution's epilogue", biasedConv, sameShape("r"), `relu(A + r)`),
	}
	for _, a := range activations {
		rules = append(rules,
			conv("Conv_BatchNorm_"+a.name, "norm and "+a.doc+" ride in the convolution's epilogue", normed, a.when, a.patterns...),
			conv("Conv_BiasAdd_"+a.name, "bias and "+a.doc+" ride in the convolution's epilogue", biasedConv, a.when, a.patterns...))
	}
	return append(rules,
		conv("Conv_BatchNorm_Add", "norm and residual ride in the convolution's epilogue", normed, sameShape("r"), `A + r`),
		conv("Conv_BiasAdd_Add", "bias and residual ride in the convolution's epilogue", biasedConv, sameShape("r"), `A + r`),
		conv("Conv_BatchNorm", "the norm by running statistics rides in the convolution's epilogue", normed, nil, `A`),
		conv("Conv_BiasAdd", "one number for each channel is added in the convolution's epilogue; conv(x, w, b) is one operator already", biasedConv[1:], nil, `A`),
		vector("BatchNorm_ReLU", "a norm that follows no convolution, and its relu", `relu(`+batchNorm(`y`)+`)`))
}

// activations are those that have a row of their own behind a convolution.
var activations = []struct {
	name, doc string
	when      guard
	patterns  []string
}{
	{"ReLU", "relu", nil, []string{`relu(A)`}},
	{"Clip", "two bounds (relu6, clip, hardtanh)", oneElement("l", "h"), []string{
		`relu6(A)`, `clip(A, l?, h?)`, `hardtanh(A, lo=lo, hi=hi)`, `minimum(maximum(A, l), h)`, `maximum(minimum(A, h), l)`}},
	{"SiLU", "silu", nil, []string{`silu(A)`, `A * sigmoid(A)`}},
	{"HardSwish", "hardswish", oneElement("three", "six"), []string{
		`hardswish(A)`, `A * hardsigmoid(A)`, `A * relu6(A + three) / six`, `A * (relu6(A + three) / six)`, `A * relu6(A + three) * six`}},
}

// convCall is a convolution with any attributes; B stands for its bias.
const convCall = `conv(x, w, B, stride=s, pad=p, dilation=t, groups=g, auto_pad=o)`

// batchNorm is a norm by running statistics.
func batchNorm(of string) string { return `batchnorm(` + of + `, gamma?, beta?, mean, var, eps=e)` }

var (
	biasedConv = []string{letters(convCall, ``, `c`), letters(convCall, ``, `None`) + ` + c`}
	normed     = []string{batchNorm(letters(convCall, ``, `c?`))}
)

// conv makes a row: patterns with the forms of a convolution for their letter A.
func conv(name, doc string, forms []string, when guard, patterns ...string) *Rule {
	guards := []guard{epilogue, channelBias}
	if when != nil {
		guards = append(guards, when)
	}
	texts := each(forms, patterns...)
	return cube(name, doc, texts[0], texts[1:]...).when(all(guards...))
}

// channelBias asks that what is added to a convolution as its bias is one number
// for each channel: [C, 1, 1] for images, or [1, C, 1, 1].
func channelBias(m *rewrite.Match) bool {
	for _, v := range m.Inside {
		c := m.Value("c")
		if c == nil || v.Op != ir.Conv || slices.Contains(v.Args, c) {
			continue
		}
		image := v.Type.Shape
		if !perChannel(c.Type.Shape, image) {
			return false
		}
	}
	return true
}

// perChannel reports whether a shape has the channels of an image [N, C,
// spatial...] along the right axis, and nothing along the others.
func perChannel(shape, image []ir.Dim) bool {
	axis := len(shape) - (len(image) - 1) // of the channels
	if axis < 0 || axis > 1 {
		return false
	}
	for i, d := range shape {
		want := ir.N(1)
		if i == axis {
			want = image[1]
		}
		if !d.Equal(want) {
			return false
		}
	}
	return true
}
