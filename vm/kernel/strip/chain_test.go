package strip_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// numbers are the operands of chains: ordinary ones and those that have ways of their
// own.
var numbers = []float32{0.5, -2, 3, 0.1, -0.7, 1, -1, 8, 0x1p-126, 0x1p-140, 0x1p127, -0x1p127, 0, float32(math.Copysign(0, -1)),
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 6, math.MaxFloat32}

// cheap are codes that chains take, on their own or by others.
var cheap = []vec.Code{vec.Add, vec.Sub, vec.SubFrom, vec.Mul, vec.Div, vec.Max, vec.Min, vec.ClipLo, vec.ClipHi, vec.Relu, vec.Relu6, vec.Abs, vec.Neg, vec.Square}

// TestChains computes chains of codes on numbers, and the same with the numbers as
// operands in memory, of which no chain can be made: the bits are the same, but those of
// NaN.
func TestChains(t *testing.T) {
	const cols = 64 + 7
	r := rand.New(rand.NewPCG(4, 5))
	for _, level := range isa.Levels() {
		var s strip.Scratch
		for range 2000 {
			chained, plain := strip.New(level), strip.New(level)
			x, y := chained.Input(strip.F32), plain.Input(strip.F32)
			operands := []float32{}
			views := []strip.View{}
			for range 1 + r.IntN(14) {
				c, v := cheap[r.IntN(len(cheap))], numbers[r.IntN(len(numbers))]
				if c.Args() == 0 {
					x, y = chained.Op(c, x), plain.Op(c, y)
					continue
				}
				operands = append(operands, v)
				x, y = chained.Op(c, x, chained.Const(v)), plain.Op(c, y, plain.Input(strip.F32))
			}
			for i := range operands {
				views = append(views, strip.View{Ptr: unsafe.Pointer(&operands[i])})
			}
			in := make([]float32, cols)
			for i := range in {
				in[i] = numbers[r.IntN(len(numbers))] * (1 + r.Float32())
			}
			got, want := boxed(t, &s, chained, x, in, nil), boxed(t, &s, plain, y, in, views)
			for i := range got {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
					t.Fatalf("%v: of %v with %v: %v, operator by operator %v", level, in[i], operands, got[i], want[i])
				}
			}
		}
	}
}

// boxed computes a program of one operand that walks and others that stay.
func boxed(t *testing.T, s *strip.Scratch, b *strip.Builder, v strip.Value, in []float32, more []strip.View) []float32 {
	t.Helper()
	b.Result(v, strip.F32)
	p, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, len(in))
	views := append([]strip.View{strip.Matrix(in, len(in))}, more...)
	p.Box(s, append(views, strip.Matrix(out, len(out))), 1, len(in))
	return out
}

// TestStream writes results around the caches: the same bits as through them, and nothing
// around the results, whatever their alignment and the number of operands, and whether rows
// have operands of their own.
func TestStream(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for _, level := range isa.Levels() {
		for inputs := 1; inputs <= 3; inputs++ {
			b := strip.New(level)
			sum := b.Input(strip.F32)
			for range inputs - 1 {
				sum = b.Op(vec.Add, sum, b.Input(strip.F32))
			}
			b.Result(b.Op(vec.Mul, b.Op(vec.Add, sum, b.Const(1)), b.Const(0.3)), strip.F32)
			p, err := b.Compile()
			if err != nil {
				t.Fatal(err)
			}
			var s strip.Scratch
			for _, cols := range []int{1, 63, 64, 65, 128, 200, 1024, 3000} {
				for _, rows := range []int{1, 3} {
					for _, offset := range []int{0, 1, 16} {
						stream(t, r, p, &s, inputs, rows, cols, offset, false)
					}
				}
			}
			for _, cols := range []int{2048, 4096, 4100, 9000} { // what all rows need is long
				for _, rows := range []int{2, 4, 7} {
					stream(t, r, p, &s, inputs, rows, cols, 0, true)
				}
			}
		}
	}
}

func stream(t *testing.T, r *rand.Rand, p *strip.Program, s *strip.Scratch, inputs, rows, cols, offset int, shared bool) {
	t.Helper()
	ld := cols
	if rows > 1 {
		ld = (cols+15)&^15 + 16*r.IntN(2)
	}
	var views []strip.View
	for i := range inputs {
		x := make([]float32, rows*ld)
		for i := range x {
			x[i] = r.Float32()
		}
		if views = append(views, strip.Matrix(x, ld)); shared && i > 0 {
			views[i] = strip.Columns(x)
		}
	}
	want, got := guarded(rows*ld, 0), guarded(rows*ld, 0)
	aligned := floats(rows*ld + 128)
	for i := range aligned {
		aligned[i] = guard
	}
	got.all, got.data = aligned, aligned[16+offset:16+offset+rows*ld]
	p.Box(s, append(views, strip.Matrix(want.data, ld)), rows, cols)
	p.BoxStream(s, append(views, strip.Matrix(got.data, ld)), rows, cols)
	for i, w := range want.data {
		if got.data[i] != w {
			t.Fatalf("%d operands, %dx%d by %d: element %d is %v, want %v", inputs, rows, cols, ld, i, got.data[i], w)
		}
	}
	if !got.intact() {
		t.Fatalf("%d operands, %dx%d by %d: wrote outside", inputs, rows, cols, ld)
	}
}
