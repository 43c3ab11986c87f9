package main

import "fmt"

// unetScript is a small U-Net as diffusion models have them: groupnorm and silu before each
// convolution, skips that are concatenated, nearest neighbours on the way up.
const unetScript = `module Block(inputs: int, outputs: int) {
    const wider = inputs != outputs
    norm1 = nn.GroupNorm(8, inputs)
    conv1 = nn.Conv2d(inputs, outputs, 3, pad=1)
    norm2 = nn.GroupNorm(8, outputs)
    conv2 = nn.Conv2d(outputs, outputs, 3, pad=1)
    short = nn.Conv2d(inputs, outputs, 1)

    fn forward(x: f32[N, inputs, H, W]) -> f32[N, outputs, H, W] {
        h = conv2(silu(norm2(conv1(silu(norm1(x))))))
        return h + if wider { short(x) } else { x }
    }
}

first = nn.Conv2d(4, 64, 3, pad=1)
enter = [%s]
down = [%s]
middle = Block(256, 256)
up = [%s]
leave = [%s]
norm = nn.GroupNorm(8, 64)
last = nn.Conv2d(64, 4, 3, pad=1)

graph main(x: f32[1,4,64,64]) -> (y: f32[1,4,64,64]) {
    a = enter[0](first(x))
    b = enter[1](down[0](a))
    c = enter[2](down[1](b))
    h = leave[0](concat([middle(c), c], axis=1))
    h = leave[1](concat([up[0](h.repeat(2, axis=2).repeat(2, axis=3)), b], axis=1))
    h = leave[2](concat([up[1](h.repeat(2, axis=2).repeat(2, axis=3)), a], axis=1))
    return last(silu(norm(h)))
}
`

// unetBlocks are the residual blocks: path, inputs, outputs.
var unetBlocks = []struct {
	path            string
	inputs, outputs int
}{
	{"enter.0.", 64, 64}, {"enter.1.", 128, 128}, {"enter.2.", 256, 256}, {"middle.", 256, 256},
	{"leave.0.", 512, 256}, {"leave.1.", 256, 128}, {"leave.2.", 128, 64},
}

// unet is a U-Net of three sizes on one latent image.
func unet() *network {
	n := &network{name: "unet", doc: "a U-Net of 64, 128 and 256 channels with group norms on one image of 64x64", input: []int{1, 4, 64, 64}, onnx: unetOnnx}
	n.biasedConv("first", 4, 64, 3)
	lists := map[string]string{}
	for _, b := range unetBlocks {
		lists[b.path[:5]] += fmt.Sprintf("\n    Block(%d, %d),", b.inputs, b.outputs)
		n.norm(b.path+"norm1", b.inputs)
		n.biasedConv(b.path+"conv1", b.inputs, b.outputs, 3)
		n.norm(b.path+"norm2", b.outputs)
		n.biasedConv(b.path+"conv2", b.outputs, b.outputs, 3)
		if b.inputs != b.outputs {
			n.biasedConv(b.path+"short", b.inputs, b.outputs, 1)
		}
	}
	for i, c := range []int{64, 128} {
		n.biasedConv(fmt.Sprintf("down.%d", i), c, 2*c, 3)
		n.biasedConv(fmt.Sprintf("up.%d", 1-i), 2*c, c, 3)
	}
	n.norm("norm", 64)
	n.biasedConv("last", 64, 4, 3)
	n.script = fmt.Sprintf(unetScript, lists["enter"]+"\n",
		"nn.Conv2d(64, 128, 3, stride=2, pad=1), nn.Conv2d(128, 256, 3, stride=2, pad=1)",
		"nn.Conv2d(256, 128, 3, pad=1), nn.Conv2d(128, 64, 3, pad=1)", lists["leave"]+"\n")
	return n
}

func unetOnnx(g *graph) string {
	a := g.unetBlock(g.biasedConv("x", "first", 3, 1), 0)
	b := g.unetBlock(g.biasedConv(a, "down.0", 3, 2), 1)
	c := g.unetBlock(g.biasedConv(b, "down.1", 3, 2), 2)
	h := g.unetBlock(g.channels(g.unetBlock(c, 3), c), 4)
	h = g.unetBlock(g.channels(g.biasedConv(g.twice(h), "up.0", 3, 1), b), 5)
	h = g.unetBlock(g.channels(g.biasedConv(g.twice(h), "up.1", 3, 1), a), 6)
	return g.biasedConv(g.silu(g.groupNorm(h, "norm", 64, 64)), "last", 3, 1)
}

// unetBlock is one of unetBlocks.
func (g *graph) unetBlock(x string, i int) string {
	b, side := unetBlocks[i], []int64{64, 32, 16, 16, 16, 32, 64}[i]
	h := g.biasedConv(g.silu(g.groupNorm(x, b.path+"norm1", int64(b.inputs), side)), b.path+"conv1", 3, 1)
	h = g.biasedConv(g.silu(g.groupNorm(h, b.path+"norm2", int64(b.outputs), side)), b.path+"conv2", 3, 1)
	if b.inputs != b.outputs {
		x = g.biasedConv(x, b.path+"short", 1, 1)
	}
	return g.op("Add", h, x)
}

// groupNorm is a norm of eight groups, as exporters write it for opset 17: an instance
// norm of the groups, and weights of channels.
func (g *graph) groupNorm(x, path string, channels, side int64) string {
	ones := g.constant("ones8", []int{8}, func() []float32 { return []float32{1, 1, 1, 1, 1, 1, 1, 1} })
	zeros := g.constant("zeros8", []int{8}, func() []float32 { return make([]float32, 8) })
	y := g.op("Reshape", x, g.shape(0, 8, -1))
	y = g.op("InstanceNormalization", y, ones, zeros, floatAttr("epsilon", 1e-5))
	y = g.op("Reshape", y, g.shape(1, channels, side, side))
	weight := func(name string) string {
		w := g.find(path + name)
		return g.constant(w.name, []int{w.shape[0], 1, 1}, w.values)
	}
	return g.op("Add", g.op("Mul", y, weight(".weight")), weight(".bias"))
}

// shape is a constant list of sizes, once.
func (g *graph) shape(sizes ...int64) string {
	name := fmt.Sprint("shape ", sizes)
	if g.known[name] {
		return name
	}
	g.known[name] = true
	return g.ints(name, sizes...)
}

// channels puts the channels of two images one behind the other.
func (g *graph) channels(a, b string) string { return g.op("Concat", a, b, intAttr("axis", 1)) }

// twice is an image of twice the size, by nearest neighbours.
func (g *graph) twice(x string) string {
	scales := g.constant("scales", []int{4}, func() []float32 { return []float32{1, 1, 2, 2} })
	return g.op("Resize", x, "", scales, textAttr("mode", "nearest"), textAttr("coordinate_transformation_mode", "asymmetric"), textAttr("nearest_mode", "floor"))
}
