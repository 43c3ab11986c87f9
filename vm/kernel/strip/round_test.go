package strip_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// TestRoundedResults: a value that is rounded to halves and saved as such is rounded once,
// and right also where it is read as a float too, before it was rounded or after.
func TestRoundedResults(t *testing.T) {
	const cols = 70
	src := make([]float32, cols)
	for i := range src {
		src[i] = (float32(i) - 33.3) * float32(math.Exp2(float64(i%50-25)))
	}
	copy(src, []float32{float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, 1e-40, 65519.996, 65520, 0, float32(math.Copysign(0, -1))})
	for _, half := range []struct {
		elem  strip.Elem
		round vec.Code
		of    func(float32) uint16
		back  func(uint16) float32
	}{{strip.BF16, vec.RoundBF16, narrow.BF16Of, narrow.BF16}, {strip.F16, vec.RoundF16, narrow.F16Of, narrow.F16}} {
		for _, level := range isa.Levels() {
			for _, c := range []struct {
				result string // r: rounded, x: not; capitals: as halves
				ops    int    // instructions
			}{{"R", 3}, {"xR", 4}, {"RX", 4}, {"rR", 5}, {"Rx", 4}, {"RRr", 6}} {
				b := strip.New(level)
				x := b.Op(vec.Neg, b.Input(strip.F32))
				r := b.Op(half.round, x)
				views := []strip.View{strip.Matrix(src, cols)}
				floats, halves := make([][cols]float32, len(c.result)), make([][cols]uint16, len(c.result))
				for i, name := range c.result {
					v, elem := x, strip.F32
					if name == 'r' || name == 'R' {
						v = r
					}
					view := strip.Matrix(floats[i][:], cols)
					if name < 'a' {
						elem, view = half.elem, strip.View{Ptr: unsafe.Pointer(&halves[i]), Row: 2 * cols, Col: 2}
					}
					b.Result(v, elem)
					views = append(views, view)
				}
				p, err := b.Compile()
				if err != nil {
					t.Fatal(err)
				}
				if p.Ops() != c.ops {
					t.Errorf("%v, %s: %d instructions, want %d", level, c.result, p.Ops(), c.ops)
				}
				p.Box(new(strip.Scratch), views, 1, cols)
				for i, name := range c.result {
					for j, v := range src {
						h := half.of(-v)
						want := -v
						if name == 'r' {
							want = half.back(h)
						}
						if got := floats[i][j]; name >= 'a' && math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("%v, %s: result %d of %g is %g, want %g", level, c.result, i, v, got, want)
						}
						if got := halves[i][j]; name < 'a' && got != h {
							t.Fatalf("%v, %s: result %d of %g is %#x, want %#x", level, c.result, i, v, got, h)
						}
					}
				}
			}
		}
	}
}
