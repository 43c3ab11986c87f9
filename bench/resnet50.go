package main

import "fmt"

// resnet50Script is ResNet-50 with torchvision's bottlenecks, which have their stride in
// the middle.
const resnet50Script = `module Block(inputs: int, inner: int, stride: int) {
    const outputs = 4 * inner
    const wider = inputs != outputs
    conv1 = nn.Conv2d(inputs, inner, 1, bias=false)
    bn1 = nn.BatchNorm(inner)
    conv2 = nn.Conv2d(inner, inner, 3, stride=stride, pad=1, bias=false)
    bn2 = nn.BatchNorm(inner)
    conv3 = nn.Conv2d(inner, outputs, 1, bias=false)
    bn3 = nn.BatchNorm(outputs)
    short = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=false)
    bns = nn.BatchNorm(outputs)

    fn forward(x: f32[N, inputs, H, W]) -> f32[N, outputs, floordiv(H - 1, stride) + 1, floordiv(W - 1, stride) + 1] {
        y = bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x))))))))
        return relu(y + if wider { bns(short(x)) } else { x })
    }
}

conv1 = nn.Conv2d(3, 64, 7, stride=2, pad=3, bias=false)
bn1 = nn.BatchNorm(64)
blocks = [%s]
fc = nn.Linear(2048, 1000)

graph main(x: f32[1,3,224,224]) -> (y: f32[1,1000]) {
    h = max_pool(relu(bn1(conv1(x))), 3, stride=2, pad=1)
    for block in blocks { h = block(h) }
    return fc(nn.global_average(h))
}
`

// A bottleneck is one of the blocks of ResNet-50.
type bottleneck struct {
	path          string
	inputs, inner int
	stride        int64
}

func (b *bottleneck) outputs() int { return 4 * b.inner }
func (b *bottleneck) wider() bool  { return b.inputs != b.outputs() }

func bottlenecks() (list []bottleneck) {
	inputs := 64
	for stage, count := range []int{3, 4, 6, 3} {
		for i := range count {
			b := bottleneck{fmt.Sprintf("blocks.%d.", len(list)), inputs, 64 << stage, 1}
			if stage > 0 && i == 0 {
				b.stride = 2
			}
			list, inputs = append(list, b), b.outputs()
		}
	}
	return list
}

// resnet50 is ResNet-50 on one image.
func resnet50() *network {
	n := &network{name: "resnet50", doc: "ResNet-50 on one image of 224x224", input: []int{1, 3, 224, 224}, onnx: resnet50Onnx}
	n.convNorm("conv1", "bn1", 3, 64, 7)
	blocks := ""
	for _, b := range bottlenecks() {
		blocks += fmt.Sprintf("\n    Block(%d, %d, %d),", b.inputs, b.inner, b.stride)
		n.convNorm(b.path+"conv1", b.path+"bn1", b.inputs, b.inner, 1)
		n.convNorm(b.path+"conv2", b.path+"bn2", b.inner, b.inner, 3)
		n.convNorm(b.path+"conv3", b.path+"bn3", b.inner, b.outputs(), 1)
		if b.wider() {
			n.convNorm(b.path+"short", b.path+"bns", b.inputs, b.outputs(), 1)
		}
	}
	n.scaledDense("fc", 2048, 1000, 0.02)
	n.script = fmt.Sprintf(resnet50Script, blocks+"\n")
	return n
}

// convNorm adds the weights of a convolution and of its batch norm.
func (n *network) convNorm(conv, norm string, inputs, outputs, kernel int) {
	n.conv(conv, inputs, outputs, kernel)
	n.batchNorm(norm, outputs)
}

func resnet50Onnx(g *graph) string {
	x := g.op("Relu", g.convNorm("x", "conv1", "bn1", 7, 2))
	x = g.op("MaxPool", x, intsAttr("kernel_shape", 3, 3), intsAttr("strides", 2, 2), intsAttr("pads", 1, 1, 1, 1))
	for _, b := range bottlenecks() {
		y := g.op("Relu", g.convNorm(x, b.path+"conv1", b.path+"bn1", 1, 1))
		y = g.op("Relu", g.convNorm(y, b.path+"conv2", b.path+"bn2", 3, b.stride))
		y = g.convNorm(y, b.path+"conv3", b.path+"bn3", 1, 1)
		if b.wider() {
			x = g.convNorm(x, b.path+"short", b.path+"bns", 1, b.stride)
		}
		x = g.op("Relu", g.op("Add", y, x))
	}
	return g.classify(x)
}

// classify is the end of a network: the mean of each channel and a linear layer.
func (g *graph) classify(x string) string {
	return g.gemm(g.op("Flatten", g.op("GlobalAveragePool", x), intAttr("axis", 1)), "fc")
}
