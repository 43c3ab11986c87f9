package main

import "fmt"

// mobileScript is a network of inverted residuals, with a letter of fmt for what differs:
// the activation; whether blocks have a squeeze and excitation; the channels of the stem;
// the blocks; the channels of the last of them, and of the classifier.
//
// MobileNetV2 and EfficientNet-B0 are such networks, as torchvision has them.
const mobileScript = `fn act(x: f32[...]) -> f32[...] { return %[1]s(x) }

module Squeeze(channels: int, inner: int) {
    fc1 = nn.Conv2d(channels, inner, 1)
    fc2 = nn.Conv2d(inner, channels, 1)

    fn forward(x: f32[N, channels, H, W]) -> f32[N, channels, H, W] {
        return x * sigmoid(fc2(silu(fc1(global_avg_pool(x)))))
    }
}

module Block(inputs: int, inner: int, outputs: int, kernel: int, stride: int, squeeze: int) {
    const wider = inner != inputs
    const same = inputs == outputs and stride == 1
    const squeezes = squeeze > 0
    expand = nn.Conv2d(inputs, inner, 1, bias=false)
    bn1 = nn.BatchNorm(inner)
    depth = nn.Conv2d(inner, inner, kernel, stride=stride, pad=floordiv(kernel, 2), groups=inner, bias=false)
    bn2 = nn.BatchNorm(inner)
    se = Squeeze(inner, squeeze)
    project = nn.Conv2d(inner, outputs, 1, bias=false)
    bn3 = nn.BatchNorm(outputs)

    fn forward(x: f32[N, inputs, H, W]) -> f32[N, outputs, floordiv(H - 1, stride) + 1, floordiv(W - 1, stride) + 1] {
        h = if wider { act(bn1(expand(x))) } else { x }
        h = act(bn2(depth(h)))
        h = if squeezes { se(h) } else { h }
        h = bn3(project(h))
        return if same { h + x } else { h }
    }
}

stem = nn.Conv2d(3, 32, 3, stride=2, pad=1, bias=false)
bns = nn.BatchNorm(32)
blocks = [%[2]s]
head = nn.Conv2d(320, 1280, 1, bias=false)
bnh = nn.BatchNorm(1280)
fc = nn.Linear(1280, 1000)

graph main(x: f32[1,3,224,224]) -> (y: f32[1,1000]) {
    h = act(bns(stem(x)))
    for block in blocks { h = block(h) }
    return fc(nn.global_average(act(bnh(head(h)))))
}
`

// An inverted residual widens its input, convolves channel by channel, and narrows.
type inverted struct {
	path                   string
	inputs, inner, outputs int
	kernel, stride         int64
	squeeze                int // channels of the squeeze; 0: there is none
}

func (b *inverted) wider() bool { return b.inner != b.inputs }
func (b *inverted) same() bool  { return b.inputs == b.outputs && b.stride == 1 }

// A mobileStage is some inverted residuals, of which the first has the stride.
type mobileStage struct {
	expand, outputs, count int
	kernel, stride         int64
}

// A mobile is a network of inverted residuals.
type mobile struct {
	act      string // npu's name of the activation
	onnx     func(g *graph, x string) string
	squeezes bool
	stages   []mobileStage
}

func (m *mobile) blocks() (list []inverted) {
	inputs := 32
	for _, s := range m.stages {
		for i := range s.count {
			b := inverted{fmt.Sprintf("blocks.%d.", len(list)), inputs, inputs * s.expand, s.outputs, s.kernel, 1, 0}
			if i == 0 {
				b.stride = s.stride
			}
			if m.squeezes {
				b.squeeze = inputs / 4
			}
			list, inputs = append(list, b), s.outputs
		}
	}
	return list
}

var mobileNetV2 = mobile{
	act: "relu6", onnx: func(g *graph, x string) string { return g.op("Clip", x, g.scalar("0", 0), g.scalar("6", 6)) },
	stages: []mobileStage{
		{1, 16, 1, 3, 1}, {6, 24, 2, 3, 2}, {6, 32, 3, 3, 2}, {6, 64, 4, 3, 2}, {6, 96, 3, 3, 1}, {6, 160, 3, 3, 2}, {6, 320, 1, 3, 1},
	},
}

var efficientNetB0 = mobile{
	act: "silu", onnx: (*graph).silu, squeezes: true,
	stages: []mobileStage{
		{1, 16, 1, 3, 1}, {6, 24, 2, 3, 2}, {6, 40, 2, 5, 2}, {6, 80, 3, 3, 2}, {6, 112, 3, 5, 1}, {6, 192, 4, 5, 2}, {6, 320, 1, 3, 1},
	},
}

func (g *graph) silu(x string) string { return g.op("Mul", x, g.op("Sigmoid", x)) }

func mobilenet() *network {
	return mobileNetV2.network("mobilenet", "MobileNetV2 on one image of 224x224")
}

func efficientnet() *network {
	return efficientNetB0.network("efficientnet", "EfficientNet-B0 on one image of 224x224")
}

func (m *mobile) network(name, doc string) *network {
	n := &network{name: name, doc: doc, input: []int{1, 3, 224, 224}, onnx: m.graph}
	n.convNorm("stem", "bns", 3, 32, 3)
	blocks := ""
	for _, b := range m.blocks() {
		blocks += fmt.Sprintf("\n    Block(%d, %d, %d, %d, %d, %d),", b.inputs, b.inner, b.outputs, b.kernel, b.stride, b.squeeze)
		n.inverted(&b)
	}
	n.convNorm("head", "bnh", 320, 1280, 1)
	n.scaledDense("fc", 1280, 1000, 0.02)
	n.script = fmt.Sprintf(mobileScript, m.act, blocks+"\n")
	return n
}

// inverted adds the weights of a block.
func (n *network) inverted(b *inverted) {
	if b.wider() {
		n.convNorm(b.path+"expand", b.path+"bn1", b.inputs, b.inner, 1)
	}
	n.convNorm(b.path+"depth", b.path+"bn2", 1, b.inner, int(b.kernel))
	if b.squeeze > 0 {
		n.biasedConv(b.path+"se.fc1", b.inner, b.squeeze, 1)
		n.biasedConv(b.path+"se.fc2", b.squeeze, b.inner, 1)
	}
	n.convNorm(b.path+"project", b.path+"bn3", b.inner, b.outputs, 1)
}

// biasedConv adds the weights of a convolution with a bias.
func (n *network) biasedConv(path string, inputs, outputs, kernel int) {
	n.conv(path, inputs, outputs, kernel)
	n.weights = append(n.weights, weight{name: path + ".bias", shape: []int{outputs}, dev: 0.02})
}

func (m *mobile) graph(g *graph) string {
	x := m.onnx(g, g.convNorm("x", "stem", "bns", 3, 2))
	for _, b := range m.blocks() {
		h := x
		if b.wider() {
			h = m.onnx(g, g.convNorm(h, b.path+"expand", b.path+"bn1", 1, 1))
		}
		h = m.onnx(g, g.groupedConvNorm(h, b.path+"depth", b.path+"bn2", b.kernel, b.stride, int64(b.inner)))
		if b.squeeze > 0 {
			s := g.silu(g.biasedConv(g.op("GlobalAveragePool", h), b.path+"se.fc1", 1, 1))
			h = g.op("Mul", h, g.op("Sigmoid", g.biasedConv(s, b.path+"se.fc2", 1, 1)))
		}
		h = g.convNorm(h, b.path+"project", b.path+"bn3", 1, 1)
		if b.same() {
			h = g.op("Add", h, x)
		}
		x = h
	}
	return g.classify(m.onnx(g, g.convNorm(x, "head", "bnh", 1, 1)))
}

// biasedConv is a convolution with a bias.
func (g *graph) biasedConv(x, path string, kernel, stride int64) string {
	return g.op("Conv", append([]any{x, g.weight(path + ".weight"), g.weight(path + ".bias")}, windowAttrs(kernel, stride, 1)...)...)
}
