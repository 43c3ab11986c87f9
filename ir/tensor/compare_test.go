package tensor

import (
	"math"
	"math/bits"
	"strings"
	"testing"
)

func vec[E Native](v ...E) *T { return FromSlice([]int{len(v)}, v) }

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want *T
		tol       Tolerance
		text      string // of the difference, "" for none
	}{
		{vec(1.0, nan, 0), vec(1.0, nan, math.Copysign(0, -1)), Exact, ""},
		{vec(1.0, 2), vec(1.0, 2.5), Exact, "1 of 2 elements differ: at [1] got 2, want 2.5, off by 0.5"},
		{vec(inf, -inf), vec(inf, inf), 1e9, "1 of 2 elements differ: at [1] got -inf, want inf (tolerance 1e+09)"},
		{vec(1.0), vec(inf), 1, "the values differ: at [0] got 1, want inf (tolerance 1)"},
		{vec(1.0), vec(nan), 1, "the values differ: at [0] got 1, want nan (tolerance 1)"},
		{vec(math.MaxFloat64), vec(-math.MaxFloat64), 1, "the values differ: at [0] got 1.7976931348623157e+308, want -1.7976931348623157e+308 (tolerance 1)"},
		{vec[float32](1, 100), vec[float32](1.000009, 100.0009), 1e-5, ""},
		{vec[float32](1, 100), vec[float32](1.00002, 100.0009), 1e-5, "1 of 2 elements differ: at [0] got 1, want 1.00002, off by 2e-05 (tolerance 1e-05)"},
		{vec[float32](0, 5, 9), vec[float32](1, 5, 5), Exact, "2 of 3 elements differ: at [0] got 0, want 1, off by 1; the worst at [2] got 9, want 5, off by 4"},
		{vec[int64](math.MaxInt64), vec[int64](math.MinInt64), 1, "the values differ: at [0] got 9223372036854775807, want -9223372036854775808, off by 1.84e+19 (tolerance 1)"},
		{vec[int64](1<<53 + 1), vec[int64](1 << 53), Exact, "the values differ: at [0] got 9007199254740993, want 9007199254740992, off by 1"},
		{vec[uint64](math.MaxUint64), vec[uint64](math.MaxUint64 - 1), Exact, "the values differ: at [0] got 18446744073709551615, want 18446744073709551614, off by 1"},
		{vec(true, false), vec(true, true), Exact, "1 of 2 elements differ: at [1] got false, want true, off by 1"},
		{vec(1.0), vec[float32](1), Exact, "dtypes differ: got f64[1], want f32[1]"},
		{vec(1.0), Scalar(1.0), Exact, "shapes differ: got f64[1], want f64[]"},
		{Scalar(int8(3)), Scalar(int8(4)), Exact, "the values differ: got 3, want 4, off by 1"},
		{New(F32, 0, 3), New(F32, 0, 3), Exact, ""},
	} {
		d := Compare(c.got, c.want, c.tol)
		text := ""
		if d != nil {
			text = d.Error()
		}
		if text != c.text {
			t.Errorf("got  %q\nwant %q", text, c.text)
		}
	}
}

// A difference beyond the first run of elements is found, with its index.
func TestCompareLong(t *testing.T) {
	a, b := New(F32, 7, 1000), New(F32, 7, 1000)
	a.SetFloat(5*1000+321, 1)
	b.SetFloat(6*1000+999, 1)
	a.SetFloat(6*1000+999, 4)
	d := Compare(a, b, 1e-5)
	if d == nil || d.Count != 2 || d.Total != 7000 || bracket(d.First.Index, ",") != "[5,321]" || bracket(d.Worst.Index, ",") != "[6,999]" {
		t.Fatalf("got %v", d)
	}
	if BitEqual(a, b) || !BitEqual(a, a.Clone()) {
		t.Error("BitEqual is wrong")
	}
}

func TestULP(t *testing.T) {
	for _, c := range []struct {
		d    DType
		x, y float64
		want uint64
	}{
		{F64, 1, math.Nextafter(1, 2), 1},
		{F32, 1, 1 + 1.0/(1<<23), 1},
		{F16, 1, 1 + 3.0/(1<<10), 3},
		{BF16, 1, 1 + 2.0/(1<<7), 2},
		{F32, 0, math.Copysign(0, -1), 0},
		{F32, math.NaN(), math.NaN(), 0},
		{F32, math.NaN(), 1, math.MaxUint64},
		{F64, -math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64, 2},
		{F16, 65504, math.Inf(1), 1},
		{F64, math.Inf(-1), math.Inf(1), 2 * 0x7ff0000000000000},
	} {
		if got := ULP(c.d, c.x, c.y); got != c.want || ULP(c.d, c.y, c.x) != got {
			t.Errorf("ULP(%v, %g, %g) = %d, want %d", c.d, c.x, c.y, got, c.want)
		}
	}
}

func TestDefaultTolerance(t *testing.T) {
	for d, want := range map[DType]Tolerance{F64: 1e-12, F32: 1e-5, F16: 1e-3, BF16: 1e-2, I64: 0, U8: 0, Bool: 0} {
		if got := DefaultTolerance(d); got != want {
			t.Errorf("%v: %g, want %g", d, got, want)
		}
	}
}

func TestShapes(t *testing.T) {
	big, half := math.MaxInt, 1<<(bits.UintSize/2)
	for _, c := range []struct {
		shape []int
		n     int
		ok    bool
	}{{nil, 1, true}, {[]int{2, 3}, 6, true}, {[]int{big, big, 0}, 0, true}, {[]int{0, -1}, 0, false}, {[]int{big, 2}, 0, false}, {[]int{half, half}, 0, false}, {[]int{big / 8}, big / 8, true}} {
		if n, ok := Elements(c.shape); n != c.n || ok != c.ok {
			t.Errorf("Elements(%v) = %d, %v", c.shape, n, ok)
		}
	}
	if got := bracket(Strides([]int{2, 3, 4}), ","); got != "[12,4,1]" {
		t.Error(got)
	}
	if got := bracket(Index([]int{2, 3, 4}, 17), ","); got != "[1,1,1]" {
		t.Error(got)
	}
}

func TestViews(t *testing.T) {
	a := FromSlice([]int{2, 3}, []int32{1, 2, 3, 4, 5, 6})
	r := a.Reshape(3, 2)
	r.SetInt(0, 9)
	if a.IntAt(0) != 9 || a.Clone().Reshape(6).SameMemory(a) {
		t.Error("Reshape shares memory, Clone does not")
	}
	for name, f := range map[string]func(){
		"reshape": func() { a.Reshape(4) }, "slice": func() { FromSlice([]int{3}, []int8{1}) },
		"load": func() { a.LoadInts(make([]int64, 4), 3) }, "store": func() { a.StoreFloats(-1, []float64{1}) }, "of": func() { Of[int64](a) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if _, err := FromBytes(F32, []int{2}, make([]byte, 7)); err == nil || !strings.Contains(err.Error(), "needs 8 bytes, not 7") {
		t.Error(err)
	}
	if _, err := FromBytes(F32, []int{1}, AlignedBytes(8)[1:5]); err == nil {
		t.Error("misaligned data is taken")
	}
}

// Each dtype's loads and stores agree beyond the length of one run.
func TestAccessRuns(t *testing.T) {
	const n = 3*run + 17
	for _, d := range DTypes {
		f, i, u, b := New(d, n), New(d, n), New(d, n), New(d, n)
		vf, vi, vu, vb := make([]float64, n), make([]int64, n), make([]uint64, n), make([]bool, n)
		for k := range n {
			vf[k], vi[k], vu[k], vb[k] = float64(k%100), int64(k%100), uint64(k%100), k%100 != 0
		}
		f.StoreFloats(0, vf)
		i.StoreInts(0, vi)
		u.StoreUints(0, vu)
		b.StoreBools(0, vb)
		if !BitEqual(f, i) || !BitEqual(f, u) {
			t.Errorf("%v: the three stores differ", d)
		}
		if d == Bool && !BitEqual(b, f) {
			t.Error("bool: StoreBools differs")
		}
		for k := range n {
			want := k % 100
			if d == Bool {
				want = min(want, 1)
			}
			if f.Floats()[k] != float64(want) && k%97 == 0 || f.IntAt(k) != int64(want) || f.UintAt(k) != uint64(want) || f.Bools()[k] != vb[k] && k%97 == 0 {
				t.Fatalf("%v: element %d is %s, want %d", d, k, f.Text(k), want)
			}
		}
	}
}
