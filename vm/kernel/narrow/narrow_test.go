package narrow

import (
	"math"
	"math/rand"
	"testing"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
)

// special are the floats at which roundings, ranges and NaN begin and end.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, 1.00390625, 1.01171875, 65504, 65519.996, 65520, -65520,
	0x1p-14, 0x1.ffcp-15, 0x1p-24, 0x1p-25, 0x1.000002p-25, 0x1.8p-24, 0x1p-149, -0x1p-149, 0x1p-126,
	math.MaxFloat32, -math.MaxFloat32, 0x1.fep127, 0x1.ffp127,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
	math.Float32frombits(0x7f800001), math.Float32frombits(0xff80ffff), math.Float32frombits(0xffffffff),
}

const guard = 9

// sample makes n floats of all magnitudes and special ones, at some distance from
// the start of an array, with NaN before and behind it.
func sample(rnd *rand.Rand, n int) []float32 {
	off := rnd.Intn(8)
	s := make([]float32, off+n+guard)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	s = s[off : off+n : off+n]
	for i := range s {
		switch rnd.Intn(3) {
		case 0:
			s[i] = special[rnd.Intn(len(special))]
		case 1:
			s[i] = math.Float32frombits(rnd.Uint32())
		default:
			s[i] = float32(rnd.NormFloat64())
		}
	}
	return s
}

// within makes n elements in a larger array of a value, which check finds unchanged
// around them.
func within[E comparable](rnd *rand.Rand, n int, value E) (s []E, check func() bool) {
	off := rnd.Intn(8)
	all := make([]E, off+n+guard)
	for i := range all {
		all[i] = value
	}
	return all[off : off+n : off+n], func() bool {
		for i, x := range all {
			if (i < off || i >= off+n) && x != value {
				return false
			}
		}
		return true
	}
}

// each runs f for every level and many lengths.
func each(t *testing.T, f func(t *testing.T, level isa.Level, rnd *rand.Rand, n int)) {
	for _, level := range isa.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			rnd := rand.New(rand.NewSource(1))
			for n := range 70 {
				f(t, level, rnd, n)
			}
			f(t, level, rnd, 1001)
		})
	}
}

// sameFloat compares bits.
func sameFloat(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// TestHalves: roundings against those of tensors, at every length and level; NaN
// keeps its sign and is quiet on all levels alike.
func TestHalves(t *testing.T) {
	each(t, func(t *testing.T, level isa.Level, rnd *rand.Rand, n int) {
		src := sample(rnd, n)
		for _, k := range []struct {
			name string
			to   func(isa.Level, []uint16, []float32)
			of   func(float32) uint16
			want func(float32) uint16
		}{
			{"bf16", ToBF16, BF16Of, func(x float32) uint16 { return uint16(tensor.BF16FromFloat32(x)) }},
			{"f16", ToF16, F16Of, func(x float32) uint16 { return uint16(tensor.ToF16(float64(x))) }},
		} {
			dst, intact := within(rnd, n, uint16(0xdead))
			k.to(level, dst, src)
			if !intact() {
				t.Fatalf("%s of %d: written outside", k.name, n)
			}
			for i, x := range src {
				if dst[i] != k.of(x) || x == x && dst[i] != k.want(x) {
					t.Fatalf("%s of %g (%08x) is %04x; the scalar says %04x, tensors %04x",
						k.name, x, math.Float32bits(x), dst[i], k.of(x), k.want(x))
				}
			}
		}
	})
}

// TestRoundBF16: as floats, also in place.
func TestRoundBF16(t *testing.T) {
	each(t, func(t *testing.T, level isa.Level, rnd *rand.Rand, n int) {
		src := sample(rnd, n)
		dst, intact := within(rnd, n, float32(7))
		RoundBF16(level, dst, src)
		want := append([]float32(nil), src...)
		RoundBF16(level, src, src)
		for i, x := range want {
			if w := BF16(BF16Of(x)); !sameFloat(dst[i], w) || !sameFloat(src[i], w) {
				t.Fatalf("%g is rounded to %g and %g, not %g", x, dst[i], src[i], w)
			}
		}
		if !intact() {
			t.Fatalf("written outside of %d", n)
		}
	})
}

// TestWidening: all 65536 bf16 and f16, against tensors.
func TestWidening(t *testing.T) {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	for _, level := range isa.Levels() {
		dst := make([]float32, len(all))
		FromBF16(level, dst, all)
		for i, x := range dst {
			if w := tensor.BFloat16(i).Float32(); !sameFloat(x, w) || !sameFloat(x, BF16(uint16(i))) {
				t.Fatalf("%v: bf16 %04x is %08x, not %08x", level, i, math.Float32bits(x), math.Float32bits(w))
			}
		}
		FromF16(level, dst, all)
		for i, x := range dst {
			if w := tensor.Float16(i).Float32(); !sameFloat(x, F16(uint16(i))) || w == w && !sameFloat(x, w) {
				t.Fatalf("%v: f16 %04x is %08x, not %08x", level, i, math.Float32bits(x), math.Float32bits(w))
			}
		}
	}
	each(t, func(t *testing.T, level isa.Level, rnd *rand.Rand, n int) {
		for name, from := range map[string]func(isa.Level, []float32, []uint16){"bf16": FromBF16, "f16": FromF16} {
			dst, intact := within(rnd, n, float32(7))
			from(level, dst, all[0x3c00:][:n])
			if !intact() {
				t.Fatalf("%s: written outside of %d", name, n)
			}
		}
		dst, intact := within(rnd, n, int16(7))
		src := make([]uint8, n)
		rnd.Read(src)
		Widen(level, dst, src)
		for i, x := range dst {
			if x != int16(src[i]) {
				t.Fatalf("byte %d is widened to %d", src[i], x)
			}
		}
		signed := make([]int8, n)
		for i, x := range src {
			signed[i] = int8(x)
		}
		WidenSigned(level, dst, signed)
		for i, x := range dst {
			if x != int16(signed[i]) {
				t.Fatalf("byte %d with a sign is widened to %d", signed[i], x)
			}
		}
		if !intact() {
			t.Fatalf("bytes: written outside of %d", n)
		}
	})
}

// TestCopySigned: bytes whose bits are flipped and not, and their sum.
func TestCopySigned(t *testing.T) {
	each(t, func(t *testing.T, level isa.Level, rnd *rand.Rand, n int) {
		for _, flip := range []uint8{0, 0x80} {
			dst, intact := within(rnd, n, uint8(7))
			src, want := make([]uint8, n), int32(0)
			rnd.Read(src)
			for _, x := range src {
				want += int32(int8(x ^ flip))
			}
			if got := CopySigned(level, dst, src, flip); got != want {
				t.Fatalf("the sum of %d bytes is %d, not %d", n, got, want)
			}
			for i, x := range dst {
				if x != src[i]^flip {
					t.Fatalf("byte %d of %d is %d of %d", i, n, x, src[i])
				}
			}
			if !intact() {
				t.Fatalf("written outside of %d", n)
			}
		}
	})
}

// TestLargest: without signs; a NaN is above all.
func TestLargest(t *testing.T) {
	each(t, func(t *testing.T, level isa.Level, rnd *rand.Rand, n int) {
		src := sample(rnd, n)
		if n%2 == 0 {
			for i, x := range src {
				if x != x {
					src[i] = float32(i)
				}
			}
		}
		want := float32(0)
		for _, x := range src {
			want = max(want, float32(math.Abs(float64(x)))) // max of a NaN is one
		}
		if got := Largest(level, src); got != want && (got == got || want == want) {
			t.Fatalf("the largest of %d is %g, not %g", n, got, want)
		}
	})
}

// TestQuantizeSigned: as the operator quantize_linear has it.
func TestQuantizeSigned(t *testing.T) {
	each(t, func(t *testing.T, level isa.Level, rnd *rand.Rand, n int) {
		src := sample(rnd, n)
		scale := float32(math.Exp(rnd.NormFloat64()))
		switch n % 7 {
		case 1:
			scale = 0
		case 2:
			scale = float32(math.Inf(1))
		case 3:
			scale = 0.5 // so that there are halves
			for i := range src {
				src[i] = float32(rnd.Intn(1000)-500) / 4
			}
		case 4:
			clear(src)
			scale = float32(rnd.Intn(2))
		case 5:
			for i := range src {
				src[i] = float32(rnd.NormFloat64()) * 1e3
			}
		}
		dst, intact := within(rnd, n, int8(77))
		if n%2 == 0 {
			QuantizeSigned(level, dst, src, scale)
		} else {
			QuantizeRow(level, dst, src, scale, Largest(level, src))
		}
		for i, x := range src {
			want := 0.0
			if q := float64(float32(x / scale)); q == q {
				want = math.Max(-128, math.Min(127, math.RoundToEven(q)))
			}
			if float64(dst[i]) != want {
				t.Fatalf("%g by %g is %d, not %g", x, scale, dst[i], want)
			}
		}
		if !intact() {
			t.Fatalf("written outside of %d", n)
		}
	})
}

// TestQuantizeByReciprocal: where a quotient lies so close to a half that the last digit of
// the reciprocal might count. The quotient x/s is about half an ulp from a half h, where
// rounding to a float decides, if s is a few ulp from a multiple of 2^23-e of them, with
// 2^e <= h: all such s and h, and the x around s*h.
func TestQuantizeByReciprocal(t *testing.T) {
	const around, neighbours = 9, 3
	var src []float32
	for exponent := -1; exponent <= 6; exponent++ {
		step := 1 << (23 - max(exponent, 0)) // of the mantissa of s
		for base := 1 << 23; base < 1<<24; base += step {
			for off := -around; off <= around; off++ {
				scale := float32(math.Ldexp(float64(base+off), -30))
				src = src[:0]
				for h := math.Ldexp(1, exponent); h < math.Ldexp(2, exponent); h += 0.5 {
					x := float32(h * float64(scale))
					for range neighbours {
						x = math.Nextafter32(x, 0)
					}
					for range 2*neighbours + 1 {
						src, x = append(src, x, -x), math.Nextafter32(x, math.MaxFloat32)
					}
				}
				dst := make([]int8, len(src))
				for _, level := range isa.Levels() {
					QuantizeRow(level, dst, src, scale, Largest(level, src))
					for i, x := range src {
						want := max(-128, min(127, math.RoundToEven(float64(x/scale))))
						if float64(dst[i]) != want {
							t.Fatalf("%v: %x by %x is %d, not %g", level, x, scale, dst[i], want)
						}
					}
				}
			}
		}
	}
}

// BenchmarkNarrow: elements a second, in L2.
func BenchmarkNarrow(b *testing.B) {
	const n = 1 << 14
	floats, halves, signed := make([]float32, n), make([]uint16, n), make([]int8, n)
	for _, level := range isa.Levels() {
		for _, k := range []struct {
			name string
			run  func()
		}{
			{"FromBF16", func() { FromBF16(level, floats, halves) }},
			{"FromF16", func() { FromF16(level, floats, halves) }},
			{"ToBF16", func() { ToBF16(level, halves, floats) }},
			{"ToF16", func() { ToF16(level, halves, floats) }},
			{"Largest", func() { Largest(level, floats) }},
			{"QuantizeSigned", func() { QuantizeSigned(level, signed, floats, 0.1) }},
			{"QuantizeRow", func() { QuantizeRow(level, signed, floats, 0.1, 1) }},
		} {
			b.Run(k.name+"/"+level.String(), func(b *testing.B) {
				for b.Loop() {
					k.run()
				}
				b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gelem/s")
			})
		}
	}
}
