package gemm

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// everyFormat lists the formats of a kind that this processor can run, also those
// that a level has without its extensions, with slow ones or without kernels of its own.
func everyFormat(kind Kind) []*Format {
	var list []*Format
	for _, level := range isa.Levels() {
		list = append(list, FormatOf(level, kind))
		for _, f := range []*Format{
			choose(level, kind, false, false), choose(level, kind, isa.HasBF16(), isa.HasVNNI(level)), indirect(level)[kind],
		} {
			f.level, f.kind = level, kind
			list = append(list, f)
		}
	}
	return list
}

// A low is a product of low precision with its operands as plain matrices.
type low struct {
	m, n, k int
	f       *Format
	a       []uint16 // bf16 or f16, rows of k
	b       View[uint16]
	bytes   []uint8 // rows of k
	signed  bool    // they have a sign
	weights View[int8]
	way     bool // halves on the left are widened on the way, if the format does that
}

func newLow(rnd *rand.Rand, f *Format, m, n, k int) *low {
	l := &low{m: m, n: n, k: k, f: f, signed: rnd.Intn(2) == 0, way: rnd.Intn(2) == 0}
	row, col := n, 1
	if rnd.Intn(2) == 0 {
		row, col = 1, k
	}
	l.a, l.bytes = make([]uint16, m*k), make([]uint8, m*k)
	l.b = View[uint16]{make([]uint16, n*k), row, col}
	l.weights = View[int8]{make([]int8, n*k), row, col}
	half := narrow.BF16Of
	if f.kind == F16 {
		half = narrow.F16Of
	}
	for i := range l.a {
		l.a[i], l.bytes[i] = half(float32(rnd.NormFloat64())), uint8(rnd.Intn(256))
	}
	for i := range l.b.Data {
		l.b.Data[i], l.weights.Data[i] = half(float32(rnd.NormFloat64())), int8(rnd.Intn(256)-128)
	}
	return l
}

// product packs both operands, with guards behind them.
func (l *low) product(t *testing.T) Product {
	t.Helper()
	left, right := guarded(l.f.LeftLen(l.m, l.k), 1), guarded(l.f.PackedLen(l.k, l.n), 1)
	var a Matrix
	var offsets []float32
	if l.f.kind == Int8 {
		l.f.PackBytes(right, l.weights, l.k, l.n)
		a = l.leftBytes(left, right)
		if l.f.Shift(l.signed) != 0 {
			offsets = guarded(l.n, 1)
			l.f.Offsets(Ints(offsets), l.weights, l.k)
			whole(t, "the offsets", offsets)
		}
	} else {
		l.f.PackHalves(right, l.b, l.k, l.n)
		view := View[uint16]{l.a, l.k, 1}
		a = l.f.LeftHalves(left, view, l.m, l.k)
		if l.way && l.f.Widens() {
			a = l.f.HalvesOnTheWay(view)
		}
	}
	whole(t, "A", left)
	whole(t, "B", right)
	p := l.f.Product(l.m, l.n, l.k, a, right)
	p.Bias = offsets
	return p
}

// leftBytes lays out bytes with or without a sign.
func (l *low) leftBytes(left, right []float32) Matrix {
	if l.signed {
		return l.f.LeftSigned(left, View[int8]{as8[int8](l.bytes), l.k, 1}, l.m, l.k, right)
	}
	return l.f.LeftBytes(left, View[uint8]{l.bytes, l.k, 1}, l.m, l.k, right)
}

// byte is an element of the left operand.
func (l *low) byte(i, q int) int32 {
	if l.signed {
		return int32(int8(l.bytes[i*l.k+q]))
	}
	return int32(l.bytes[i*l.k+q])
}

// multiply computes the product by ranges, and gives C.
func (l *low) multiply(t *testing.T, rnd *rand.Rand, p Product, blocks Blocks) []float32 {
	t.Helper()
	p.Ldc = l.n + rnd.Intn(3)
	p.C = guarded((l.m-1)*p.Ldc+l.n, rnd.Intn(4))
	p.Blocks, p.Backwards = blocks, rnd.Intn(2) == 0
	var x Scratch
	row := rnd.Intn(l.m + 1)
	col := min(l.n, rnd.Intn(l.n/l.f.Width()+2)*l.f.Width())
	for _, r := range []Range{{0, row}, {row, l.m}} {
		for _, c := range []Range{{0, col}, {col, l.n}} {
			if err := x.Mul(l.f.level, &p, r, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole(t, "C", p.C)
	c := make([]float32, 0, l.m*l.n)
	for i := range l.m {
		c = append(c, p.C[i*p.Ldc:][:l.n]...)
		for _, gap := range p.C[i*p.Ldc+l.n : min((i+1)*p.Ldc, len(p.C))] {
			if gap == gap {
				t.Fatal("written between the rows of C")
			}
		}
	}
	return c
}

// value widens an element.
func (l *low) value(h uint16) float64 {
	if l.f.kind == F16 {
		return float64(narrow.F16(h))
	}
	return float64(narrow.BF16(h))
}

// check compares an element with a sum in float64 or in integers.
func (l *low) check(i, j int, got float32) error {
	sum, abs, whole := 0.0, 0.0, int32(0)
	for q := range l.k {
		at := q*l.b.Row + j*l.b.Col
		x := l.value(l.a[i*l.k+q]) * l.value(l.b.Data[at])
		sum, abs = sum+x, abs+math.Abs(x)
		whole += l.byte(i, q) * int32(l.weights.Data[at])
	}
	if l.f.kind == Int8 {
		if g := int32(math.Float32bits(got)); g != whole {
			return fmt.Errorf("%d, not %d", g, whole)
		}
		return nil
	}
	if bound := float64(l.k) * (0x1p-23*abs + 0x1p-125); !(math.Abs(float64(got)-sum) <= bound) {
		return fmt.Errorf("%g, not %g", got, sum)
	}
	return nil
}

func eachFormat(t *testing.T, f func(t *testing.T, format *Format, rnd *rand.Rand)) {
	for kind := range kinds {
		for i, format := range everyFormat(kind) {
			t.Run(fmt.Sprintf("%s %v %d", format.name, format.level, i), func(t *testing.T) {
				f(t, format, rand.New(rand.NewSource(int64(i))))
			})
		}
	}
}

// TestFormats: all heights of tiles, remainders of columns and of pairs and quads,
// against sums in float64 or in integers.
func TestFormats(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *Format, rnd *rand.Rand) {
		w := f.Width()
		for m := 1; m <= 2*f.set.rows+1; m++ {
			for _, n := range []int{1, w - 1, w, w + 1, 2 * w, 3*w + 2, 4*w - 1, 4*w + 1} {
				l := newLow(rnd, f, m, n, rnd.Intn(23))
				for at, x := range l.multiply(t, rnd, l.product(t), Default) {
					if err := l.check(at/n, at%n, x); err != nil {
						t.Fatalf("%dx%dx%d, element %d: %v", m, n, l.k, at, err)
					}
				}
			}
		}
	})
}

// TestFormatBits: blocks and ranges don't change a bit; halves that are widened
// give the bits of the product of floats.
func TestFormatBits(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *Format, rnd *rand.Rand) {
		rounds := 60
		if testing.Short() {
			rounds = 10
		}
		for range rounds {
			m, n, k, blocks := 1+rnd.Intn(4*f.set.rows), 1+rnd.Intn(100), rnd.Intn(200), cut(rnd)
			if rnd.Intn(8) == 0 {
				m, n, k, blocks = inRuns(rnd)
			}
			l := newLow(rnd, f, m, n, k)
			p := l.product(t)
			first := l.multiply(t, rnd, p, Default)
			same(t, "in blocks", first, l.multiply(t, rnd, p, blocks))
			if f.left == leftFloat {
				same(t, "of floats", first, l.floats(t))
			}
		}
	})
}

// TestHalvesAgain: copies of halves on the left, as tiles or as rows, serve the calls that
// follow for further columns, and no others.
func TestHalvesAgain(t *testing.T) {
	eachFormat(t, func(t *testing.T, f *Format, rnd *rand.Rand) {
		if !f.Widens() {
			return
		}
		var x Scratch
		for range 30 {
			l := newLow(rnd, f, 1+rnd.Intn(4*f.set.rows), f.Width()*(4+rnd.Intn(6)), 1+rnd.Intn(900))
			l.way = true
			p := l.product(t)
			want := l.multiply(t, rnd, p, Default)
			p.C, p.Ldc = make([]float32, l.m*l.n), l.n
			for col := 0; col < l.n; {
				next := min(col+f.Width()*(1+rnd.Intn(6)), l.n)
				p.Beside, p.Again = rnd.Intn(2) == 0, col > 0
				if err := x.Mul(f.level, &p, Range{0, l.m}, Range{col, next}); err != nil {
					t.Fatal(err)
				}
				col = next
			}
			same(t, "again", want, p.C)
		}
	})
}

func same(t *testing.T, what string, a, b []float32) {
	t.Helper()
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("element %d is %g, %s %g", i, a[i], what, b[i])
		}
	}
}

// floats multiplies the widened operands at the format's level.
func (l *low) floats(t *testing.T) []float32 {
	t.Helper()
	a, b, c := make([]float32, len(l.a)), make([]float32, len(l.b.Data)), make([]float32, l.m*l.n)
	for i, h := range l.a {
		a[i] = float32(l.value(h))
	}
	for i, h := range l.b.Data {
		b[i] = float32(l.value(h))
	}
	p := Product{
		M: l.m, N: l.n, K: l.k, A: Matrix{Data: a, Row: l.k, Col: 1}, Matrix: Matrix{Data: b, Row: l.b.Row, Col: l.b.Col}, C: c, Ldc: l.n,
	}
	var x Scratch
	if err := x.Mul(l.f.level, &p, Range{0, l.m}, Range{0, l.n}); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSpecialHalves: nothing is skipped, so that 0·Inf is NaN; what fills up pairs
// is nothing.
func TestSpecialHalves(t *testing.T) {
	inf := narrow.BF16Of(float32(math.Inf(1)))
	for _, f := range everyFormat(BF16) {
		l := newLow(rand.New(rand.NewSource(1)), f, 2, f.Width()+1, 3)
		clear(l.a)
		for i := range l.b.Data {
			l.b.Data[i] = inf
		}
		l.a[3], l.a[4], l.a[5] = 0x3f80, 0x3f80, 0x3f80
		c := l.multiply(t, rand.New(rand.NewSource(2)), l.product(t), Default)
		for j := range l.n {
			if c[j] == c[j] || !math.IsInf(float64(c[l.n+j]), 1) {
				t.Fatalf("%s: 0·Inf is %g, 1·Inf is %g", f.name, c[j], c[l.n+j])
			}
		}
	}
}

// TestLayouts: names are different where layouts are.
func TestLayouts(t *testing.T) {
	seen := map[string]string{}
	for kind := range kinds {
		for _, level := range isa.Levels() {
			f := FormatOf(level, kind)
			what := fmt.Sprint(f.kind, f.deep, f.Width(), f.size())
			if other, ok := seen[f.Layout()]; ok && other != what {
				t.Errorf("%s names two layouts: %s and %s", f.Layout(), what, other)
			}
			seen[f.Layout()] = what
		}
	}
}

// TestFormatSteady: a steady product allocates nothing.
func TestFormatSteady(t *testing.T) {
	for kind := range kinds {
		f := FormatOf(isa.Best(), kind)
		l := newLow(rand.New(rand.NewSource(1)), f, 20, 70, 90)
		p := l.product(t)
		p.C, p.Ldc = make([]float32, 20*70), 70
		left, right := make([]float32, f.LeftLen(20, 90)), make([]float32, f.PackedLen(90, 70))
		if kind == Int8 {
			f.PackBytes(right, l.weights, 90, 70)
		}
		var x Scratch
		if n := testing.AllocsPerRun(10, func() {
			if kind == Int8 {
				p.A = l.leftBytes(left, right)
			} else {
				p.A = f.LeftHalves(left, View[uint16]{l.a, 90, 1}, 20, 90)
			}
			_ = x.Mul(f.level, &p, Range{0, 20}, Range{0, 70})
		}); n > 0 {
			t.Errorf("%s: %v allocations", f.name, n)
		}
	}
}
