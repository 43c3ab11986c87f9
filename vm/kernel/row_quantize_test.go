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
	by := tensor.New(tensor.F32)
	by.SetFloat(0, 127)
	top := w.op("max", "axis=-1 keepdims=1", w.op("abs", "", x))
	scales = w.op("div", "", top, w.input(by))
	if w.r.IntN(2) == 0 {
		least := tensor.New(tensor.F32)
		least.SetFloat(0, 0x1p-126)
		scales = w.op("maximum", "", scales, w.input(least))
	}
	return w.op("quantize_linear", "dtype=i8", x, scales), scales
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
	for name, write := range map[string]func(w *regionWriter, x int) int{
		"the scales of another tensor": func(w *regionWriter, x int) int {
			_, scales := w.quantizing(x)
			return w.op("quantize_linear", "dtype=i8", w.input(normal(w.r, 3, 8)), scales)
		},
		"bytes without a sign": func(w *regionWriter, x int) int {
			_, scales := w.quantizing(x)
			return w.op("quantize_linear", "dtype=u8", x, scales)
		},
	} {
		w := &regionWriter{T: t, r: rand.New(rand.NewPCG(1, 1))}
		out := write(w, w.input(normal(w.r, 3, 8)))
		w.ops = append(w.ops[:3], w.ops[4:]...)
		w.types = append(w.types[:3], w.types[4:]...)
		w.ops[3].First = 3
		consts := make([]bool, len(w.in))
		consts[1] = true
		if p := kernel.Prepare(w.body(consts, out-1), &o); p != nil && strings.HasPrefix(p.Name, "quantize/f32/") {
			t.Errorf("%s: taken", name)
		}
	}
}
