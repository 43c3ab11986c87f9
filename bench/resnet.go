package main

import (
	"fmt"
	"math"
)

// resnetScript is ResNet-18 as torchvision has it, with its parameter names.
const resnetScript = `module Block(inputs: int, outputs: int, stride: int) {
    const wider = stride > 1
    conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, pad=1, bias=false)
    bn1 = nn.BatchNorm(outputs)
    conv2 = nn.Conv2d(outputs, outputs, 3, pad=1, bias=false)
    bn2 = nn.BatchNorm(outputs)
    short = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=false)
    bns = nn.BatchNorm(outputs)

    fn forward(x: f32[N, inputs, H, W]) -> f32[N, outputs, floordiv(H - 1, stride) + 1, floordiv(W - 1, stride) + 1] {
        y = bn2(conv2(relu(bn1(conv1(x)))))
        return relu(y + if wider { bns(short(x)) } else { x })
    }
}

conv1 = nn.Conv2d(3, 64, 7, stride=2, pad=3, bias=false)
bn1 = nn.BatchNorm(64)
layer1 = [Block(64, 64, 1), Block(64, 64, 1)]
layer2 = [Block(64, 128, 2), Block(128, 128, 1)]
layer3 = [Block(128, 256, 2), Block(256, 256, 1)]
layer4 = [Block(256, 512, 2), Block(512, 512, 1)]
fc = nn.Linear(512, 1000)

graph main(x: f32[1,3,224,224]) -> (y: f32[1,1000]) {
    h = max_pool(relu(bn1(conv1(x))), 3, stride=2, pad=1)
    for block in layer1 { h = block(h) }
    for block in layer2 { h = block(h) }
    for block in layer3 { h = block(h) }
    for block in layer4 { h = block(h) }
    return fc(nn.global_average(h))
}
`

// A residual is one of the blocks.
type residual struct {
	path            string
	inputs, outputs int
	stride          int64
}

// residuals are the blocks of ResNet-18.
func residuals() (list []residual) {
	inputs := 64
	for stage, outputs := range []int{64, 128, 256, 512} {
		for i := range 2 {
			r := residual{fmt.Sprintf("layer%d.%d.", stage+1, i), inputs, outputs, 1}
			if stage > 0 && i == 0 {
				r.stride = 2
			}
			list, inputs = append(list, r), outputs
		}
	}
	return list
}

// resnet18 is ResNet-18 on one image. The weights are scaled as for training, so
// that activations stay in range.
func resnet18() *network {
	n := &network{name: "resnet18", doc: "ResNet-18 on one image of 224x224", script: resnetScript, input: []int{1, 3, 224, 224}}
	n.conv("conv1", 3, 64, 7)
	n.batchNorm("bn1", 64)
	for _, r := range residuals() {
		n.conv(r.path+"conv1", r.inputs, r.outputs, 3)
		n.batchNorm(r.path+"bn1", r.outputs)
		n.conv(r.path+"conv2", r.outputs, r.outputs, 3)
		n.batchNorm(r.path+"bn2", r.outputs)
		if r.stride > 1 {
			n.conv(r.path+"short", r.inputs, r.outputs, 1)
			n.batchNorm(r.path+"bns", r.outputs)
		}
	}
	n.scaledDense("fc", 512, 1000, 0.05)
	n.onnx = resnetOnnx
	return n
}

// conv adds the filters of a convolution, whose inputs are those of a group.
func (n *network) conv(path string, inputs, outputs, kernel int) {
	n.weights = append(n.weights, weight{
		name: path + ".weight", shape: []int{outputs, inputs, kernel, kernel},
		dev: math.Sqrt(2 / float64(inputs*kernel*kernel)),
	})
}

func (n *network) batchNorm(path string, features int) {
	for _, w := range []weight{{name: "weight", mean: 1, dev: 0.1}, {name: "bias", dev: 0.1}, {name: "running_mean", dev: 0.1}, {name: "running_var", mean: 1, dev: 0.1}} {
		w.name, w.shape = path+"."+w.name, []int{features}
		n.weights = append(n.weights, w)
	}
}

func resnetOnnx(g *graph) string {
	x := g.op("Relu", g.convNorm("x", "conv1", "bn1", 7, 2))
	x = g.op("MaxPool", x, intsAttr("kernel_shape", 3, 3), intsAttr("strides", 2, 2), intsAttr("pads", 1, 1, 1, 1))
	for _, r := range residuals() {
		y := g.op("Relu", g.convNorm(x, r.path+"conv1", r.path+"bn1", 3, r.stride))
		y = g.convNorm(y, r.path+"conv2", r.path+"bn2", 3, 1)
		if r.stride > 1 {
			x = g.convNorm(x, r.path+"short", r.path+"bns", 1, r.stride)
		}
		x = g.op("Relu", g.op("Add", y, x))
	}
	return g.gemm(g.op("Flatten", g.op("GlobalAveragePool", x), intAttr("axis", 1)), "fc")
}

// convNorm is a convolution and its batch norm.
func (g *graph) convNorm(x, conv, norm string, kernel, stride int64) string {
	return g.groupedConvNorm(x, conv, norm, kernel, stride, 1)
}

// groupedConvNorm is one by groups of channels, of which depthwise convolutions have as
// many as channels.
func (g *graph) groupedConvNorm(x, conv, norm string, kernel, stride, groups int64) string {
	y := g.op("Conv", append([]any{x, g.weight(conv + ".weight")}, windowAttrs(kernel, stride, groups)...)...)
	return g.op("BatchNormalization", y, g.weight(norm+".weight"), g.weight(norm+".bias"), g.weight(norm+".running_mean"), g.weight(norm+".running_var"), floatAttr("epsilon", 1e-5))
}

// windowAttrs are those of a Conv that pads as much as half a window.
func windowAttrs(kernel, stride, groups int64) []any {
	pad := kernel / 2
	return []any{
		intsAttr("kernel_shape", kernel, kernel), intsAttr("strides", stride, stride),
		intsAttr("pads", pad, pad, pad, pad), intAttr("group", groups),
	}
}
