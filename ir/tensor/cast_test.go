package tensor

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Every binary16 and bfloat16 survives the way to float64 and back.
func TestHalfRoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h, b := Float16(i), BFloat16(i)
		if h.Float32() == h.Float32() {
			if got := ToF16(h.Float64()); got != h {
				t.Fatalf("f16 %04x came back as %04x", i, got)
			}
			if got := F16FromFloat32(h.Float32()); got != h {
				t.Fatalf("f16 %04x came back from f32 as %04x", i, got)
			}
		} else if !math.IsNaN(ToF16(h.Float64()).Float64()) {
			t.Fatalf("f16 %04x: NaN lost", i)
		}
		if b.Float32() == b.Float32() {
			if got := ToBF16(b.Float64()); got != b {
				t.Fatalf("bf16 %04x came back as %04x", i, got)
			}
			if got := BF16FromFloat32(b.Float32()); got != b {
				t.Fatalf("bf16 %04x came back from f32 as %04x", i, got)
			}
		} else if !math.IsNaN(ToBF16(b.Float64()).Float64()) || !math.IsNaN(BF16FromFloat32(b.Float32()).Float64()) {
			t.Fatalf("bf16 %04x: NaN lost", i)
		}
	}
}

// Between each two neighbours the tie goes to the even one, and the float64
// next to the tie to the nearer one; an f32 on the way would lose it.
func TestHalfTies(t *testing.T) {
	for _, f := range []struct {
		name  string
		inf   uint16
		to    func(float64) uint16
		value func(uint16) float64
	}{
		{"f16", 0x7c00, func(v float64) uint16 { return uint16(ToF16(v)) }, func(b uint16) float64 { return Float16(b).Float64() }},
		{"bf16", 0x7f80, func(v float64) uint16 { return uint16(ToBF16(v)) }, func(b uint16) float64 { return BFloat16(b).Float64() }},
	} {
		for lo := uint16(0); lo+1 < f.inf; lo++ {
			tie := (f.value(lo) + f.value(lo+1)) / 2
			even := lo + lo&1
			for _, c := range []struct {
				v    float64
				want uint16
			}{{tie, even}, {math.Nextafter(tie, 0), lo}, {math.Nextafter(tie, math.Inf(1)), lo + 1}} {
				if got := f.to(c.v); got != c.want {
					t.Fatalf("%s: %g gives %04x, want %04x", f.name, c.v, got, c.want)
				}
				if got := f.to(-c.v); got != c.want|0x8000 {
					t.Fatalf("%s: %g gives %04x, want %04x", f.name, -c.v, got, c.want|0x8000)
				}
			}
		}
		for v, want := range map[float64]uint16{math.Inf(1): f.inf, math.MaxFloat64: f.inf, math.SmallestNonzeroFloat64: 0} {
			if got := f.to(v); got != want {
				t.Errorf("%s: %g gives %04x, want %04x", f.name, v, got, want)
			}
		}
	}
	if ToF16(65519.99) != 0x7bff || ToF16(65520) != 0x7c00 {
		t.Error("f16: the largest number ends at 65520, exclusive")
	}
}

var edges = []float64{0, math.Copysign(0, -1), 0.5, -0.5, 0.99, -0.99, 1, -1, 1.5, 2.5, 127, 127.5, 128, -128, -128.9, -129, 255, 255.9, 256,
	32767, 32768, -32769, 65535.5, 65536, 1 << 31, 1<<31 - 1, -(1 << 31), -(1 << 31) - 1, 1 << 32, 1 << 53, 1 << 63, -(1 << 63), 1 << 64, 1e19, 1.8446744073709550e19,
	-1e30, 1e30, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64, 5e-8, 65504, 65520}

// want is the rule of float to integer in arbitrary precision.
func wantInt(d DType, v float64) *big.Int {
	lo, hi := big.NewInt(MinInt(d)), new(big.Int).SetUint64(MaxInt(d))
	if v != v {
		return new(big.Int)
	}
	if math.IsInf(v, -1) {
		return lo
	}
	if math.IsInf(v, 1) {
		return hi
	}
	n, _ := big.NewFloat(v).Int(nil)
	if n.Cmp(lo) < 0 {
		return lo
	}
	if n.Cmp(hi) > 0 {
		return hi
	}
	return n
}

func TestCastFloatToInt(t *testing.T) {
	for _, from := range []DType{F64, F32, F16, BF16} {
		src := FromFloats(from, []int{len(edges)}, edges)
		for _, to := range DTypes {
			if !to.IsInt() {
				continue
			}
			got := Cast(src, to)
			for i, v := range src.Floats() {
				g := new(big.Int).SetUint64(got.UintAt(i))
				if to.Kind() == Signed {
					g = big.NewInt(got.IntAt(i))
				}
				if w := wantInt(to, v); g.Cmp(w) != 0 {
					t.Errorf("%v(%v(%g)) = %v, want %v", to, from, v, g, w)
				}
			}
		}
	}
}

// Integers become floats with one rounding: compared with arbitrary precision,
// which rounds to 53, 24 and 8 bits of mantissa.
func TestCastIntToFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var u []uint64
	for range 3000 {
		v := r.Uint64() >> r.IntN(64)
		u = append(u, v, v&^(v>>7), v|1)
	}
	for _, k := range []uint{24, 25, 53, 54, 60, 63} {
		one := uint64(1) << k
		for _, m := range []uint{8, 24, 53} { // around the ties of each format
			if k >= m {
				tie := one | one>>m
				u = append(u, tie, tie-1, tie+1, tie|one>>(m-1))
			}
		}
	}
	prec := map[DType]uint{F64: 53, F32: 24, BF16: 8}
	for d, p := range prec {
		got := Cast(FromSlice([]int{len(u)}, u), d).Floats()
		neg := make([]int64, len(u))
		for i, v := range u {
			want, _ := new(big.Float).SetPrec(p).SetMode(big.ToNearestEven).SetUint64(v).Float64()
			if got[i] != want {
				t.Errorf("%v(%d) = %g, want %g", d, v, got[i], want)
			}
			neg[i] = -int64(v >> 1)
		}
		for i, g := range Cast(FromSlice([]int{len(u)}, neg), d).Floats() {
			want, _ := new(big.Float).SetPrec(p).SetMode(big.ToNearestEven).SetInt64(neg[i]).Float64()
			if g != want {
				t.Errorf("%v(%d) = %g, want %g", d, neg[i], g, want)
			}
		}
	}
}

func TestCastWrapsAndBool(t *testing.T) {
	for _, c := range []struct {
		src  *T
		to   DType
		want []int64
	}{
		{FromSlice([]int{4}, []int64{-1, 128, 300, math.MinInt64}), I8, []int64{-1, -128, 44, 0}},
		{FromSlice([]int{3}, []int64{-1, 256, 255}), U8, []int64{255, 0, 255}},
		{FromSlice([]int{2}, []int8{-1, -128}), U32, []int64{4294967295, 4294967168}},
		{FromSlice([]int{2}, []uint64{math.MaxUint64, 1 << 63}), I64, []int64{-1, math.MinInt64}},
		{FromSlice([]int{2}, []uint64{math.MaxUint64, 1 << 63}), Bool, []int64{1, 1}},
		{FromSlice([]int{5}, []float64{0, math.Copysign(0, -1), math.NaN(), 1e-300, -2}), Bool, []int64{0, 0, 1, 1, 1}},
		{FromSlice([]int{2}, []Float16{0x8000, 0x7e00}), Bool, []int64{0, 1}},
		{FromSlice([]int{2}, []bool{false, true}), F16, []int64{0, 1}},
		{FromSlice([]int{2}, []bool{false, true}), U64, []int64{0, 1}},
		{&T{Bool, []int{3}, []byte{0, 2, 255}}, Bool, []int64{0, 1, 1}},
	} {
		got := Cast(c.src, c.to).Ints()
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%v -> %v: got %v, want %v", c.src.DType, c.to, got, c.want)
				break
			}
		}
	}
}

func TestRanges(t *testing.T) {
	for d, w := range map[DType][2]string{I8: {"-128", "127"}, U8: {"0", "255"}, I16: {"-32768", "32767"}, U16: {"0", "65535"},
		I32: {"-2147483648", "2147483647"}, U32: {"0", "4294967295"}, I64: {"-9223372036854775808", "9223372036854775807"}, U64: {"0", "18446744073709551615"}, Bool: {"0", "1"}} {
		if lo, hi := big.NewInt(MinInt(d)).String(), new(big.Int).SetUint64(MaxInt(d)).String(); lo != w[0] || hi != w[1] {
			t.Errorf("%v: %s..%s, want %s..%s", d, lo, hi, w[0], w[1])
		}
	}
	if FitsInt(U8, -1) || FitsInt(I8, 128) || !FitsInt(I8, -128) || FitsInt(F16, 65520) || !FitsInt(F16, 65519) || FitsUint(I64, 1<<63) {
		t.Error("FitsInt is wrong")
	}
	if FitsFloat(F16, 1e5) || !FitsFloat(F16, math.Inf(1)) || !FitsFloat(F16, math.NaN()) || FitsFloat(F32, 1e39) || FitsFloat(I8, 1) {
		t.Error("FitsFloat is wrong")
	}
}

func BenchmarkCast(b *testing.B) {
	for _, c := range [][2]DType{{F32, F16}, {F16, F32}, {F32, BF16}, {F32, I32}, {I64, F32}, {I32, I8}, {F32, F64}} {
		b.Run(c[0].String()+"-"+c[1].String(), func(b *testing.B) {
			v := New(c[0], 1<<16)
			for i := range v.Len() {
				v.SetFloat(i, float64(i%1000)/7)
			}
			b.SetBytes(int64(len(v.Data)))
			for b.Loop() {
				Cast(v, c[1])
			}
		})
	}
}
