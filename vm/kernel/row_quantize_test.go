package kernel_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// quantizing writes the operators that quantize rows, and returns the bytes and the
// scales.
func (w *regionWriter) quantizing(x int) (bytes, scales int) {
	if scales = w.scales(x, 127); w.r.IntN(2) == 0 {
		scales = w.op("maximum", "", scales, w.number(0x1p-126))
	}
	return w.op("quantize_linear", "dtype=i8", x, scales), scales
}

// scales writes the largest magnitude of each row, divided by a number.
func (w *regionWriter) scales(x int, by float32) int {
	return w.op("div", "", w.op("max", "axis=-1 keepdims=1", w.op("abs", "", x)), w.number(by))
}

// number adds an input of one float without axes.
func (w *regionWriter) number(v float32) int {
	x := tensor.New(tensor.F32)
	x.SetFloat(0, float64(v))
	return w.input(x)
}

// TestQuantizeRegions: rows of all lengths, with special values, become the bytes and the
// scales that the operators give, bit for bit, by any number of parts.
func TestQuantizeRegions(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-45, 1e-38, 3e38, float32(math.Inf(1)), float32(math.NaN())}
	for _, o := range choices()[1:] {
		for n := 1; n < 70; n += 3 {
			for _, which := range []string{"bytes, scales", "scales, bytes", "bytes", "scales"} {
				w := &regionWriter{T: t, r: rand.New(rand.NewPCG(uint64(n), 1))}
				x := normal(w.r, 2, 5, n)
				for i := range tensor.Of[float32](x)[:5*n] {
					if row := i / n; row < 4 && w.r.IntN(8) < row {
						tensor.Of[float32](x)[i] = special[w.r.IntN(len(special))]
					}
				}
				clear(x.Data[4*9*n:]) // a row of zeros
				w.quantized(w.input(x), which, o)
			}
		}
	}
}

func (w *regionWriter) quantized(x int, which string, o kernel.Options) {
	bytes, scales := w.quantizing(x)
	var out []int
	for _, name := range strings.Split(which, ", ") {
		out = append(out, map[string]int{"bytes": bytes, "scales": scales}[name])
	}
	w.sameQuantized(o, which, out...)
}

// sameQuantized compares results with those of the operators one by one.
func (w *regionWriter) sameQuantized(o kernel.Options, which string, out ...int) {
	b := w.body([]bool{false, true, true}, out...)
	p := kernel.Prepare(b, &o)
	if p == nil || !strings.HasPrefix(p.Name, "quantize/f32/") {
		w.Fatalf("the region is not run by quantize/f32: %s", kernel.Refusals(b, &o))
	}
	want, _ := stepwise(w.T, b, w.in, kernel.Options{})
	for _, parts := range []int{1, p.Parts(3), p.Parts(100)} {
		var types []ir.Type
		for _, v := range b.Out {
			types = append(types, b.Type(v))
		}
		got := garbageOf(types)
		var exec kernel.Exec
		for part := range parts {
			if err := p.Do(&exec, part, parts, got, w.in); err != nil {
				w.Fatal(err)
			}
		}
		for i := range got {
			if !tensor.BitEqual(got[i], want[i]) && tensor.Compare(got[i], want[i], 0) != nil {
				w.Fatalf("%s, %s: result %d: %v", p.Name, which, i, tensor.Compare(got[i], want[i], 0))
			}
		}
	}
}

// TestQuantizeLeast: a least scale of zero holds as any other does.
func TestQuantizeLeast(t *testing.T) {
	for _, o := range choices()[1:] {
		w := &regionWriter{T: t, r: rand.New(rand.NewPCG(3, 3))}
		x := w.input(normal(w.r, 3, 8))
		scales := w.op("maximum", "", w.scales(x, -127), w.number(0))
		w.sameQuantized(o, "bytes, scales", w.op("quantize_linear", "dtype=i8", x, scales), scales)
	}
}

// TestQuantizeAllocatesNothing: a steady run finds all memory where it was.
func TestQuantizeAllocatesNothing(t *testing.T) {
	for _, o := range choices()[1:] {
		w := &regionWriter{T: t, r: rand.New(rand.NewPCG(2, 2))}
		bytes, scales := w.quantizing(w.input(normal(w.r, 20, 100)))
		b := w.body([]bool{false, true, true}, bytes, scales)
		p := kernel.Prepare(b, &o)
		out := garbageOf([]ir.Type{b.Type(b.Out[0]), b.Type(b.Out[1])})
		var exec kernel.Exec
		if n := testing.AllocsPerRun(10, func() { _ = p.Do(&exec, 0, 1, out, w.in) }); n > 0 {
			t.Errorf("%s: %v allocations a run", p.Name, n)
		}
	}
}

// TestQuantizeRefuses: what looks alike and is not is left to others.
func TestQuantizeRefuses(t *testing.T) {
	o := choices()[1]
	for _, c := range []struct {
		name  string
		taken bool
		write func(w *regionWriter, x int) int
	}{
		{"its own scales", true, func(w *regionWriter, x int) int {
			return w.op("quantize_linear", "dtype=i8", x, w.scales(x, 127))
		}},
		{"the scales of another tensor", false, func(w *regionWriter, x int) int {
			scales := w.scales(x, 127)
			return w.op("quantize_linear", "dtype=i8", w.input(normal(w.r, 3, 8)), scales)
		}},
		{"bytes without a sign", false, func(w *regionWriter, x int) int {
			return w.op("quantize_linear", "dtype=u8", x, w.scales(x, 127))
		}},
	} {
		w := &regionWriter{T: t, r: rand.New(rand.NewPCG(1, 1))}
		out := c.write(w, w.input(normal(w.r, 3, 8)))
		consts := make([]bool, len(w.in))
		consts[1] = true
		p := kernel.Prepare(w.body(consts, out), &o)
		if taken := p != nil && strings.HasPrefix(p.Name, "quantize/f32/"); taken != c.taken {
			t.Errorf("%s: taken: %v", c.name, taken)
		}
	}
}
