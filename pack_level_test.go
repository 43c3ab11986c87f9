package npu

import (
	"fmt"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestPackedLayoutsAreOfTheirLevel: what a file holds for an instruction set does not
// depend on the one that was asked when it was built.
func TestPackedLayoutsAreOfTheirLevel(t *testing.T) {
	const script = `
module Net() {
    param c1: f32[24, 3, 7, 7]
    param c2: f32[40, 24, 3, 3]
    param c3: f32[40, 40, 1, 1]
    param thin: f32[2, 40, 3, 3]
    param deep: f32[24, 1, 3, 3]
    param w: f32[64, 96]
    param half: bf16[32, 40]
    fn forward(x: f32[1, 3, 20, 20], y: f32[B, 64], z: bf16[5, 32]) -> (f32[1, 2, 10, 10], f32[1, 24, 10, 10], f32[B, 96], f32[5, 40]) {
        a = relu(conv(x, c1, pad=3, stride=2))
        b = conv(relu(conv(a, c2, pad=1)), c3)
        return conv(b, thin, pad=1), conv(a, deep, pad=1, groups=24), relu(y @ w), cast(z @ half, f32)
    }
}
net = Net()
graph main(x: f32[1, 3, 20, 20], y: f32[B, 64], z: bf16[5, 32]) -> (a: f32[1, 2, 10, 10], b: f32[1, 24, 10, 10], c: f32[B, 96], d: f32[5, 40]) {
    return net(x, y, z)
}
`
	p, err := Compile(Script("levels.npu", script), Options{RandomWeights: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first := map[isa.Level][]string{}
	for _, asked := range isa.Levels() {
		wanted, err := p.wanted(nil, asked)
		if err != nil {
			t.Fatal(err)
		}
		for level := isa.Portable; level <= isa.NEON; level++ {
			var names []string
			for _, w := range wanted {
				if l := w.At(level); l.Floats > 0 {
					names = append(names, fmt.Sprint(w.Of.Shape, l.Name, l.Floats))
				}
			}
			slices.Sort(names)
			names = slices.Compact(names)
			if first[level] == nil {
				first[level] = names
			}
			if len(names) < 2 || !slices.Equal(names, first[level]) {
				t.Errorf("%v for %v:\n%q\nfirst asked:\n%q", asked, level, names, first[level])
			}
		}
	}
}
