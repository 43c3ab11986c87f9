package conv_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/isa"
)

func winograd(level isa.Level, s conv.Shape, w []float32) (kernel, []float32) {
	k := conv.NewWinograd(level, s)
	packed := make([]float32, k.Packed())
	k.Pack(packed, w)
	return k, packed
}

// randomQuads is a shape that Winograd takes.
func randomQuads(r *rand.Rand) conv.Shape {
	s := conv.Shape{Images: 1 + r.IntN(2), Groups: 1 + r.IntN(2), Channels: 1 + r.IntN(20), Filters: 1 + r.IntN(70)}
	most := []int{5, 10, 20, 40}[r.IntN(4)]
	if r.IntN(8) == 0 { // rows are cut
		s.Channels, s.Filters = 200+r.IntN(400), 1+r.IntN(4)
		s.Axes, most = []conv.Axis{axis(1+r.IntN(5), 3, 1, 1, 1, 1)}, 150
	}
	for len(s.Axes) < 2 {
		a := axis(1+r.IntN(most), 3, 1, 1, r.IntN(4), r.IntN(4))
		if a.Out > 0 && a.In+a.Before+a.Behind >= 3 {
			s.Axes = append(s.Axes, a)
		}
	}
	return s
}

// TestWinograd compares with the definition, by the bound that is stated, and levels and
// parts with each other by their bits.
func TestWinograd(t *testing.T) {
	for seed := range seeds(150) {
		r := rand.New(rand.NewPCG(seed, 14))
		s := randomQuads(r)
		nx, nw, _ := count(s)
		x, w := floats(r, nx), floats(r, nw)
		sums, _ := plain(s, x, w)
		var first []float32
		for _, level := range isa.Levels() {
			k, packed := winograd(level, s, w)
			for _, parts := range []int{1, 2, 5} {
				y := compute(t, level, k, s, parts, x, packed, w)
				bound := winogradBounds(s, x, w)
				for i, v := range y {
					if !(math.Abs(float64(v)-sums[i]) <= bound[i/(len(y)/s.Images/s.Groups/s.Filters)%(s.Groups*s.Filters)]) {
						t.Fatalf("%v, %v in %d parts: element %d is %g, not %g", s, level, parts, i, v, sums[i])
					}
				}
				if level == isa.Portable {
					continue
				}
				if first == nil {
					first = y
				}
				sameFloats(t, y, first)
			}
		}
	}
}

func sameFloats(t *testing.T, got, want []float32) {
	t.Helper()
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("element %d is %g, not %g", i, got[i], want[i])
		}
	}
}

// winogradBounds is by filter how far sums may be off: 16(C+8) times 2^-24, the largest
// element of x, and the sum of the filter's magnitudes.
func winogradBounds(s conv.Shape, x, w []float32) []float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(float64(v)))
	}
	bounds := make([]float64, s.Groups*s.Filters)
	for f := range bounds {
		for _, v := range w[f*s.Channels*9:][:s.Channels*9] {
			bounds[f] += math.Abs(float64(v))
		}
		bounds[f] *= 16 * float64(s.Channels+8) * 0x1p-24 * largest
	}
	return bounds
}

// TestWinogradSpecial: what is not finite, and what leaves the range of floats on the way,
// comes out as from a direct convolution, by the bits of finite sums too.
func TestWinogradSpecial(t *testing.T) {
	inf := float32(math.Inf(1))
	special := []float32{inf, -inf, float32(math.NaN()), 3e38, -3e38, math.MaxFloat32, 2e38, 1e30, 0, float32(math.Copysign(0, -1))}
	for seed := range seeds(80) {
		r := rand.New(rand.NewPCG(seed, 15))
		s := randomQuads(r)
		nx, nw, _ := count(s)
		x, w := floats(r, nx), floats(r, nw)
		for range 1 + r.IntN(3) {
			x[r.IntN(nx)] = special[r.IntN(len(special))]
		}
		if r.IntN(2) == 0 {
			w[r.IntN(nw)] = special[r.IntN(len(special))]
		}
		sums, _ := plain(s, x, w)
		var first []float32
		for _, level := range isa.Levels() {
			k, packed := winograd(level, s, w)
			direct, filters := dense(level, s, w)
			want := compute(t, level, direct, s, 1, x, filters, w)
			for _, parts := range []int{1, 3} {
				y := compute(t, level, k, s, parts, x, packed, w)
				for i, v := range y {
					if v-v != 0 || want[i]-want[i] != 0 && math.Abs(sums[i]) > math.MaxFloat32 {
						sameFloats(t, y[i:i+1], want[i:i+1])
					}
				}
				if level == isa.Portable {
					continue
				}
				if first == nil {
					first = y
				}
				sameFloats(t, y, first)
			}
		}
	}
}

// TestWinogradZeros: of zeros come zeros, and of a padding too, not negative ones.
func TestWinogradZeros(t *testing.T) {
	s := square(1, 1, 20, 20, 9, 3, 1, 1)
	nx, nw, _ := count(s)
	x, w := make([]float32, nx), floats(rand.New(rand.NewPCG(1, 16)), nw)
	for i := range x {
		x[i] = float32(math.Copysign(0, float64(i%2)-1))
	}
	for _, level := range isa.Levels() {
		k, packed := winograd(level, s, w)
		for i, v := range compute(t, level, k, s, 1, x, packed, w) {
			if math.Float32bits(v) != 0 {
				t.Fatalf("%v: element %d is %g", level, i, v)
			}
		}
	}
}

// TestWinogradPays: the choice is for shapes that win clearly.
func TestWinogradPays(t *testing.T) {
	for _, c := range []struct {
		s    conv.Shape
		pays bool
	}{
		{square(1, 1, 64, 64, 56, 3, 1, 1), true},
		{square(1, 1, 512, 512, 7, 3, 1, 1), true},
		{square(1, 1, 512, 512, 4, 3, 1, 1), false},   // few places for many filters
		{square(1, 1, 8, 64, 56, 3, 1, 1), false},     // few channels
		{square(1, 64, 1, 1, 56, 3, 1, 1), false},     // one for each filter
		{square(1, 1, 64, 64, 56, 3, 2, 1), false},    // a stride
		{square(1, 1, 64, 64, 56, 5, 1, 2), false},    // another window
		{square(1, 1, 256, 256, 2048, 3, 1, 1), true}, // long rows
		{square(1, 1, 64, 64, 56, 3, 1, 0), true},     // no padding
		{square(4, 1, 128, 256, 28, 3, 1, 1), true},   // several images
		{square(1, 1, 256, 256, 1, 3, 1, 1), false},   // a single place
		{square(1, 2, 128, 128, 14, 3, 1, 1), true},   // two groups
	} {
		if got := conv.WinogradPays(c.s); got != c.pays {
			t.Errorf("%v: %v, a share of %.2f", c.s, got, conv.WinogradShare(c.s))
		}
	}
}

// TestWinogradBits: every instruction set that fuses products and sums has the same bits,
// also those that no single machine has together.
func TestWinogradBits(t *testing.T) {
	for _, c := range []struct {
		conv.Shape
		sum uint64
	}{
		{square(1, 1, 37, 21, 13, 3, 1, 1), 0x6cc59d6b979a25b5},
		{conv.Shape{Images: 1, Groups: 1, Channels: 390, Filters: 3, Axes: []conv.Axis{axis(3, 3, 1, 1, 1, 1), axis(75, 3, 1, 1, 1, 1)}}, 0xbc0606a229a42520}, // rows are cut
	} {
		nx, nw, _ := count(c.Shape)
		r := rand.New(rand.NewPCG(1, 17))
		x, w := make([]float32, nx), make([]float32, nw)
		for _, list := range [][]float32{x, w} {
			for i := range list {
				list[i] = float32(r.Int32()) * 0x1p-31
			}
		}
		for _, level := range isa.Levels() {
			if level == isa.Portable {
				continue
			}
			k, packed := winograd(level, c.Shape, w)
			sum := fnv.New64a()
			for _, v := range compute(t, level, k, c.Shape, 1, x, packed, w) {
				binary.Write(sum, binary.LittleEndian, v)
			}
			if got := sum.Sum64(); got != c.sum {
				t.Errorf("%v, %v: the checksum is %#x", c.Shape, level, got)
			}
		}
	}
}
