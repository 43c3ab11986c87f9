package strip_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/strip"
	"github.com/npulang/npu/vm/kernel/vec"
)

// A memory is floats with guards around, at any offset.
type memory struct {
	all  []float32
	data []float32
}

const guard = 1e30

func guarded(n, offset int) *memory {
	m := &memory{all: make([]float32, n+offset+70)}
	for i := range m.all {
		m.all[i] = guard
	}
	m.data = m.all[offset : offset+n : offset+n]
	return m
}

// intact reports whether nothing around was written.
func (m *memory) intact() bool {
	start := int(uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))-uintptr(unsafe.Pointer(&m.all[0]))) / 4
	for i, v := range m.all {
		if (i < start || i >= start+len(m.data)) && v != guard {
			return false
		}
	}
	return true
}

// TestBox computes boxes of all widths around a block, with operands of every
// kind, at every level.
func TestBox(t *testing.T) {
	for _, level := range isa.Levels() {
		b := strip.New(level)
		x, row, col, one := b.Input(strip.F32), b.Input(strip.F32), b.Input(strip.F32), b.Input(strip.F32)
		h := b.Op(vec.Add, b.Op(vec.Mul, x, row), col)
		y := b.Op(vec.Sub, one, h)
		b.Result(y, strip.F32)
		b.Result(h, strip.F32)
		p, err := b.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var s strip.Scratch
		r := rand.New(rand.NewPCG(1, 2))
		for cols := 0; cols <= 200; cols++ {
			// Where results are dense, so many rows are more than are laid out at a time.
			for _, rows := range []int{0, 1, 2, 5, 67, 5000/(cols+1) + 1} {
				in, ld := cols+r.IntN(2), cols+r.IntN(2)*r.IntN(3)
				xs, rv, cv := guarded(rows*in, r.IntN(9)), guarded(cols, 1), guarded(rows, 3)
				ys, hs := guarded(rows*ld, r.IntN(9)), guarded(rows*ld, r.IntN(9))
				for _, m := range []*memory{xs, rv, cv} {
					for i := range m.data {
						m.data[i] = r.Float32()
					}
				}
				ones := []float32{0.5}
				p.Box(&s, []strip.View{strip.Matrix(xs.data, in), strip.Columns(rv.data), strip.Rows(cv.data), {Ptr: unsafe.Pointer(&ones[0])},
					strip.Matrix(ys.data, ld), strip.Matrix(hs.data, ld)}, rows, cols)
				for i := range rows {
					for j := range cols {
						h := float32(xs.data[i*in+j]*rv.data[j]) + cv.data[i]
						if got := hs.data[i*ld+j]; got != h {
							t.Fatalf("%v %dx%d: h[%d,%d] is %g, want %g", level, rows, cols, i, j, got, h)
						}
						if got := ys.data[i*ld+j]; got != 0.5-h {
							t.Fatalf("%v %dx%d: y[%d,%d] is %g, want %g", level, rows, cols, i, j, got, 0.5-h)
						}
					}
					for j := cols; j < ld; j++ {
						if ys.data[i*ld+j] != guard || hs.data[i*ld+j] != guard {
							t.Fatalf("%v %dx%d: wrote between rows", level, rows, cols)
						}
					}
				}
				if !ys.intact() || !hs.intact() {
					t.Fatalf("%v %dx%d: wrote outside", level, rows, cols)
				}
			}
		}
	}
}

// TestColumnsApart reads and writes elements that lie apart: a transposition.
func TestColumnsApart(t *testing.T) {
	for _, level := range isa.Levels() {
		b := strip.New(level)
		x := b.Input(strip.F32)
		b.Result(b.Op(vec.Neg, x), strip.F32)
		p, err := b.Compile()
		if err != nil {
			t.Fatal(err)
		}
		const rows, cols = 7, 131
		in, out := make([]float32, rows*cols), make([]float32, rows*cols)
		for i := range in {
			in[i] = float32(i)
		}
		var s strip.Scratch
		p.Box(&s, []strip.View{{unsafe.Pointer(&in[0]), 4, 4 * rows}, strip.Matrix(out, cols)}, rows, cols)
		for r := range rows {
			for c := range cols {
				if got, want := out[r*cols+c], -in[c*rows+r]; got != want {
					t.Fatalf("%v: [%d,%d] is %g, want %g", level, r, c, got, want)
				}
			}
		}
	}
}

// TestSteady: boxes make no memory once the scratch has grown.
func TestSteady(t *testing.T) {
	b := strip.New(isa.Best())
	x := b.Input(strip.F32)
	b.Result(b.Op(vec.Mul, b.Op(vec.Exp, x), x), strip.F32)
	p, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var s strip.Scratch
	data := make([]float32, 1000)
	views := []strip.View{strip.Matrix(data, 100), strip.Matrix(data, 100)}
	p.Box(&s, views, 10, 100)
	if n := testing.AllocsPerRun(10, func() { p.Box(&s, views, 10, 100) }); n > 0 {
		t.Errorf("a box makes %v pieces of memory", n)
	}
}

// TestRefuses: calls that make no program are said, not run.
func TestRefuses(t *testing.T) {
	for name, build := range map[string]func(*strip.Builder){
		"without results": func(b *strip.Builder) { b.Input(strip.F32) },
		"add has 2":       func(b *strip.Builder) { b.Result(b.Op(vec.Add, b.Input(strip.F32)), strip.F32) },
		"reads value 7":   func(b *strip.Builder) { b.Result(b.Op(vec.Neg, 7), strip.F32) },
	} {
		b := strip.New(isa.Portable)
		build(b)
		if _, err := b.Compile(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
