package wide

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// TestOffsets: the generator knows where the fields are.
func TestOffsets(t *testing.T) {
	var x tile
	for i, at := range []uintptr{
		unsafe.Offsetof(x.a), unsafe.Offsetof(x.b), unsafe.Offsetof(x.c),
		unsafe.Offsetof(x.line), unsafe.Offsetof(x.ldc), unsafe.Offsetof(x.k), unsafe.Offsetof(x.add),
	} {
		if at != uintptr(8*i) {
			t.Errorf("field %d is at %d", i, at)
		}
	}
}

// TestWidths: each level's kernels are as wide as what is packed for it.
func TestWidths(t *testing.T) {
	for _, level := range isa.Levels() {
		for kind, k := range map[kind]*kernels{f64: at[float64](level), i32: at[int32](level), i64: at[int64](level)} {
			if k.width != widths[kind][level] || k.width > mostWidth || k.rows() > mostRows {
				t.Errorf("%v of kind %d: %d rows, %d columns", level, kind, k.rows(), k.width)
			}
		}
	}
}

// draw makes numbers of all sizes, and those that are special.
func draw[E Element](r *rand.Rand) E {
	var e E
	switch e := any(&e).(type) {
	case *float64:
		special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 5e-324, math.MaxFloat64}
		if *e = r.NormFloat64(); r.IntN(200) == 0 {
			*e = special[r.IntN(len(special))]
		}
	case *int32:
		*e = int32(r.Uint32()) >> r.IntN(32)
	case *int64:
		*e = int64(r.Uint64()) >> r.IntN(64)
	}
	return e
}

// multiplyAdd is what the levels do in each step.
func multiplyAdd[E Element](level isa.Level, a, b, sum E) E {
	x, float := any(a).(float64)
	if !float {
		return sum + a*b
	}
	y, s := any(b).(float64), any(sum).(float64)
	if direct[f64][level] != nil {
		return any(math.FMA(x, y, s)).(E)
	}
	return any(s + float64(x*y)).(E)
}

// same compares bits, but for those of NaN.
func same[E Element](a, b E) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b))
}

// A matrix lies in a slice with gaps, by rows or by columns.
func lay[E Element](r *rand.Rand, m, n int) gemm.View[E] {
	v := gemm.View[E]{Row: n + r.IntN(3), Col: 1}
	switch r.IntN(4) {
	case 0:
		v.Row, v.Col = 1, m+r.IntN(3)
	case 1:
		v.Row, v.Col = 2*n+1, 2
	}
	v.Data = make([]E, max(m-1, 0)*v.Row+max(n-1, 0)*v.Col+1)
	for i := range v.Data {
		v.Data[i] = draw[E](r)
	}
	return v
}

func TestMul(t *testing.T) {
	for _, level := range isa.Levels() {
		t.Run(fmt.Sprint("f64/", level), func(t *testing.T) { testMul[float64](t, level) })
		t.Run(fmt.Sprint("i32/", level), func(t *testing.T) { testMul[int32](t, level) })
		t.Run(fmt.Sprint("i64/", level), func(t *testing.T) { testMul[int64](t, level) })
	}
}

func testMul[E Element](t *testing.T, level isa.Level) {
	r := rand.New(rand.NewPCG(1, 2))
	var x Scratch
	for range 400 {
		testOne[E](t, r, &x, level, r.IntN(30), r.IntN(70), r.IntN(40))
	}
	testOne[E](t, r, &x, level, 150, 150, 300)
}

// testOne multiplies a part of matrices, and looks at what lies around it.
func testOne[E Element](t *testing.T, r *rand.Rand, x *Scratch, level isa.Level, m, n, k int) {
	t.Helper()
	a, b := lay[E](r, m, k), lay[E](r, k, n)
	p := &Product[E]{N: n, K: k, A: a, B: b, Ldc: n + r.IntN(4)}
	if r.IntN(2) == 0 {
		p.Panels = make([]E, PackedLen[E](level, k, n)+1)
		Pack(level, p.Panels, b, k, n)
	}
	if r.IntN(2) == 0 {
		p.Bias = make([]E, n)
		for j := range p.Bias {
			p.Bias[j] = draw[E](r)
		}
	}
	if r.IntN(2) == 0 {
		p.Blocks = gemm.Blocks{Rows: 1 + r.IntN(20), Deep: 8 + r.IntN(40), Cols: 8, Packed: 1 + r.IntN(3000)}
	}
	const around = 7
	p.C = make([]E, m*p.Ldc+2*around)
	for i := range p.C {
		p.C[i] = around
	}
	c := p.C
	p.C = c[around : len(c)-around]
	rows := gemm.Range{Lo: r.IntN(m + 1), Hi: m}
	cols := gemm.Range{Lo: r.IntN(n/Width[E](level)+1) * Width[E](level), Hi: n}
	if err := Mul(x, level, *p, rows, cols); err != nil {
		t.Fatal(err)
	}
	for i := range m {
		for j := range p.Ldc {
			want := E(around)
			if i >= rows.Lo && j >= cols.Lo && j < cols.Hi {
				want = 0
				for l := range k {
					want = multiplyAdd(level, a.Data[i*a.Row+l*a.Col], b.Data[l*b.Row+j*b.Col], want)
				}
				if p.Bias != nil {
					want += p.Bias[j]
				}
			}
			if got := p.C[i*p.Ldc+j]; !same(got, want) {
				t.Fatalf("%dx%dx%d, rows %v, columns %v of %+v: element (%d,%d) is %v, not %v", m, n, k, rows, cols, p.Blocks, i, j, got, want)
			}
		}
	}
	for i := range around {
		if c[i] != around || c[len(c)-1-i] != around {
			t.Fatalf("%dx%dx%d: something is written outside of C", m, n, k)
		}
	}
}

type stopper struct{ err error }

func (s stopper) Stop() error { return s.err }

func TestStop(t *testing.T) {
	want := errors.New("stop")
	one := []float64{1}
	p := &Product[float64]{N: 1, K: 1, A: gemm.View[float64]{Data: one}, B: gemm.View[float64]{Data: one}, C: []float64{0}, Ldc: 1, Stop: stopper{want}}
	if err := Mul(new(Scratch), isa.Best(), *p, gemm.Range{Hi: 1}, gemm.Range{Hi: 1}); err != want {
		t.Errorf("%v", err)
	}
}

// TestAllocations: a Scratch that has grown is enough.
func TestAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := &Product[int64]{N: 50, K: 40, A: lay[int64](r, 30, 40), B: lay[int64](r, 40, 50), C: make([]int64, 1500), Ldc: 50}
	var x Scratch
	if n := testing.AllocsPerRun(10, func() {
		if err := Mul(&x, isa.Best(), *p, gemm.Range{Hi: 30}, gemm.Range{Hi: 50}); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
