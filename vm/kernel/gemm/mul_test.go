package gemm

import (
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A sample is a product with its operands as plain matrices.
type sample struct {
	m, n, k int
	a, b    Matrix
}

// guard stands behind the data of every operand; the tests look whether it is still
// there, and NaN would show in results that read it.
const guard = 16

func guarded(n, skew int) []float32 {
	s := make([]float32, skew+n+guard)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	return s[skew : skew+n]
}

func whole(t *testing.T, what string, s []float32) {
	t.Helper()
	for _, x := range s[len(s) : len(s)+guard : cap(s)] {
		if x == x {
			t.Fatalf("%s: written behind its end", what)
		}
	}
}

// fill makes a matrix of r by c random floats, rows in one piece or columns, at
// some distance.
func fill(rnd *rand.Rand, r, c int) Matrix {
	pad := rnd.Intn(3)
	m := Matrix{Row: c + pad, Col: 1}
	n := max(0, (r-1)*m.Row+c)
	if rnd.Intn(2) == 0 {
		m = Matrix{Row: 1, Col: r + pad}
		n = max(0, (c-1)*m.Col+r)
	}
	m.Data = guarded(n, rnd.Intn(4))
	for i := range m.Data {
		m.Data[i] = float32(rnd.NormFloat64())
	}
	return m
}

func (s sample) packed(level isa.Level) Panels {
	d := guarded(PackedLen(level, s.k, s.n), 1)
	Pack(level, d, s.b, s.k, s.n)
	return PackedPanels(level, d, s.k)
}

// check compares C with sums in float64.
func (s sample) check(t *testing.T, c []float32, ldc int, bias []float32) {
	t.Helper()
	for i := range s.m {
		for j := range s.n {
			sum, abs := 0.0, 0.0
			for q := range s.k {
				x := float64(s.a.Data[i*s.a.Row+q*s.a.Col]) * float64(s.b.Data[q*s.b.Row+j*s.b.Col])
				sum, abs = sum+x, abs+math.Abs(x)
			}
			if bias != nil {
				sum += float64(bias[j])
			}
			bound := float64(s.k+1) * 0x1p-23 * (abs + 2)
			if got := float64(c[i*ldc+j]); !(math.Abs(got-sum) <= bound) {
				t.Fatalf("%dx%dx%d: element (%d,%d) is %g, not %g", s.m, s.n, s.k, i, j, got, sum)
			}
		}
	}
}

// TestBlock: every height of a block up to two tiles, all remainders of columns
// and of the unrolled loop, begun with zero and with C, with a bias.
func TestBlock(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, level := range isa.Levels() {
		w := Width(level)
		for m := 1; m <= 2*Rows(level)+1; m++ {
			for _, n := range []int{1, 3, w - 1, w, w + 1, 2*w - 1, 2 * w, 3*w + 2, 4*w - 1, 4 * w, 4*w + 1, 7 * w} {
				s := sample{m: m, n: n, k: rnd.Intn(11)}
				s.a, s.b = fill(rnd, m, s.k), fill(rnd, s.k, n)
				s.block(t, level, rnd)
			}
		}
	}
}

func (s sample) block(t *testing.T, level isa.Level, rnd *rand.Rand) {
	t.Helper()
	ldc := s.n + rnd.Intn(3)
	c := guarded((s.m-1)*ldc+s.n, rnd.Intn(4))
	b := &Block{M: s.m, N: s.n, K: s.k, C: c, Ldc: ldc, A: s.a, B: s.packed(level)}
	var x Scratch
	x.Run(level, b)
	s.check(t, c, ldc, nil)
	once := append([]float32(nil), c...)
	clear(c)
	b.Backwards = true
	x.Run(level, b)
	for i := range once {
		if i%ldc < s.n && math.Float32bits(once[i]) != math.Float32bits(c[i]) {
			t.Fatalf("%v %dx%d: backwards %g, not %g", level, s.m, s.n, c[i], once[i])
		}
	}
	copy(c, once)
	*b = Block{M: s.m, N: s.n, K: 0, C: c, Ldc: ldc, A: s.a, B: b.B, Add: true}
	x.Run(level, b)
	for i := range once {
		if math.Float32bits(once[i]) != math.Float32bits(c[i]) {
			t.Fatalf("%v %dx%d: adding nothing makes %g of %g", level, s.m, s.n, c[i], once[i])
		}
		if i%ldc >= s.n && c[i] == c[i] {
			t.Fatalf("%v %dx%d: written between the rows of C", level, s.m, s.n)
		}
	}
	bias := guarded(s.n, 1)
	for j := range bias {
		bias[j] = float32(rnd.NormFloat64())
	}
	x.Run(level, &Block{M: s.m, N: s.n, K: s.k, C: c, Ldc: ldc, A: s.a, B: b.B, Bias: bias})
	for i := range once {
		if j := i % ldc; j < s.n && c[i] != once[i]+bias[j] {
			t.Fatalf("%v %dx%d: with the bias %g, %g becomes %g", level, s.m, s.n, bias[j], once[i], c[i])
		}
	}
	whole(t, "C", c)
}

// samples is a number of samples, a tenth of them for tests that are to be short.
func samples(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// random draws a product and blocks that cut it in many pieces.
func random(rnd *rand.Rand, level isa.Level) (sample, Blocks) {
	s, blocks := sample{m: 1 + rnd.Intn(60), n: 1 + rnd.Intn(200), k: rnd.Intn(70)}, cut(rnd)
	if rnd.Intn(24) == 0 {
		s.m, s.n, s.k, blocks = inRuns(rnd)
	}
	s.a, s.b = fill(rnd, s.m, s.k), fill(rnd, s.k, s.n)
	return s, blocks
}

// TestMul: packed and unpacked operands in both orders, all kinds of blocks and
// ranges, with and without a tail: the bits are those of one tile after the other.
func TestMul(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	for range samples(400) {
		for _, level := range isa.Levels() {
			s, blocks := random(rnd, level)
			first := s.mul(t, rnd, level, Default)
			s.check(t, first, s.n, s.bias())
			for range 2 {
				again := s.mul(t, rnd, level, blocks)
				for i := range first {
					if math.Float32bits(first[i]) != math.Float32bits(again[i]) {
						t.Fatalf("%v %dx%dx%d with %+v: %g, not %g", level, s.m, s.n, s.k, blocks, again[i], first[i])
					}
				}
			}
		}
	}
}

// doubled is a tail that writes twice the product elsewhere.
type doubled struct {
	to   []float32
	ld   int
	seen int
}

func (d *doubled) Block(row, col, rows, cols int, c []float32, ldc int) {
	for i := range rows {
		for j := range cols {
			d.to[(row+i)*d.ld+col+j] = 2 * c[i*ldc+j]
			d.seen++
		}
	}
}

// bias is one for some of the samples.
func (s sample) bias() []float32 {
	if s.n%3 > 0 {
		return nil
	}
	b := guarded(s.n, 3)
	for j := range b {
		b[j] = float32(j%7) / 4
	}
	return b
}

// mul computes the sample in random ranges, in one of the ways that Mul has, and
// returns C without gaps.
func (s sample) mul(t *testing.T, rnd *rand.Rand, level isa.Level, blocks Blocks) []float32 {
	t.Helper()
	p := &Product{M: s.m, N: s.n, K: s.k, A: s.a, Matrix: s.b, Blocks: blocks}
	if rnd.Intn(2) == 0 {
		p.Panels = s.packed(level)
	}
	p.Bias, p.Backwards = s.bias(), rnd.Intn(2) == 0
	c := guarded(s.m*s.n, rnd.Intn(4))
	tail := &doubled{to: make([]float32, s.m*s.n), ld: s.n}
	way := rnd.Intn(3)
	if way < 2 {
		p.C, p.Ldc = c, s.n
	}
	if way > 0 {
		p.Tail = tail
	}
	row, col := rnd.Intn(s.m+1), rnd.Intn(s.n/Width(level)+1)*Width(level)
	var x Scratch
	x.Mul(level, p, Range{0, row}, Range{0, col})
	x.Mul(level, p, Range{0, row}, Range{col, s.n})
	x.Mul(level, p, Range{row, s.m}, Range{0, s.n})
	if way > 0 {
		if tail.seen != s.m*s.n {
			t.Fatalf("the tail saw %d elements of %d", tail.seen, s.m*s.n)
		}
		for i, y := range tail.to {
			if way == 1 && y != 2*c[i] {
				t.Fatalf("the tail was given %g for %g", y/2, c[i])
			}
			c[i] = y / 2
		}
	}
	whole(t, "C", c)
	return c
}

// columnsOf is a tail that notes where blocks begin.
type columnsOf struct{ list []int }

func (c *columnsOf) Block(row, col, rows, cols int, _ []float32, ldc int) {
	c.list = append(c.list, col)
}

// TestBackwards: what comes first by the usual way comes last.
func TestBackwards(t *testing.T) {
	rnd := rand.New(rand.NewSource(12))
	for _, level := range isa.Levels() {
		w := Width(level)
		blocks := Default
		blocks.Rows, blocks.Cols = fewRows, w
		s := sample{m: fewRows / w, n: 3*w + 1, k: 1}
		s.a, s.b = fill(rnd, s.m, s.k), fill(rnd, s.k, s.n)
		for _, backwards := range []bool{false, true} {
			var seen columnsOf
			var x Scratch
			x.Mul(level, &Product{M: s.m, N: s.n, K: s.k, A: s.a, Panels: s.packed(level), Blocks: blocks, Tail: &seen, Backwards: backwards},
				Range{0, s.m}, Range{0, s.n})
			want := []int{0, w, 2 * w, 3 * w}
			if backwards {
				slices.Reverse(want)
			}
			if !slices.Equal(seen.list, want) {
				t.Errorf("%v, backwards %v: blocks begin at %v, want %v", level, backwards, seen.list, want)
			}
		}
	}
}

// TestLevels: levels with fused products give the same bits.
func TestLevels(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	for range samples(200) {
		s, blocks := random(rnd, isa.Best())
		var first []float32
		for _, level := range isa.Levels()[1:] {
			c := s.mul(t, rnd, level, blocks)
			for i := range first {
				if math.Float32bits(first[i]) != math.Float32bits(c[i]) {
					t.Fatalf("%v: %g, not %g", level, c[i], first[i])
				}
			}
			first = c
		}
		for i := range first {
			want := s.fused(i/s.n, i%s.n)
			if bias := s.bias(); bias != nil {
				want += bias[i%s.n]
			}
			if math.Float32bits(first[i]) != math.Float32bits(want) {
				t.Fatalf("element %d is %g, not %g", i, first[i], want)
			}
		}
	}
}

// fused is an element by fused products, computed exactly: the product of two
// floats of four bytes fits eight, and the sum is rounded to odd before it is
// rounded to four.
func (s sample) fused(i, j int) float32 {
	var sum float32
	for q := range s.k {
		x := float64(s.a.Data[i*s.a.Row+q*s.a.Col]) * float64(s.b.Data[q*s.b.Row+j*s.b.Col])
		y := float64(sum)
		z := x + y
		// What z lacks, by Knuth's two sums.
		v := z - x
		lost := (x - (z - v)) + (y - v)
		if lost != 0 && math.Float64bits(z)&1 == 0 {
			z = math.Nextafter(z, math.Copysign(math.Inf(1), lost))
		}
		sum = float32(z)
	}
	return sum
}

// TestSpecial: zero times infinity is NaN wherever it stands; padding makes none.
func TestSpecial(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, level := range isa.Levels() {
		for n := 1; n <= 2*Width(level); n++ {
			a := []float32{0, 1, inf, 1}
			b := make([]float32, 2*n)
			for j := range b {
				b[j] = 1
			}
			b[n-1] = inf // (0, n-1)
			s := sample{m: 2, n: n, k: 2, a: Matrix{Data: a, Row: 2, Col: 1}, b: Matrix{Data: b, Row: n, Col: 1}}
			c := make([]float32, 2*n)
			var x Scratch
			x.Mul(level, &Product{M: 2, N: n, K: 2, A: s.a, Panels: s.packed(level), C: c, Ldc: n}, Range{0, 2}, Range{0, n})
			for j := range n {
				nan, want := c[j] != c[j], float32(1)
				if nan != (j == n-1) || !nan && c[j] != want || c[n+j] != inf {
					t.Fatalf("%v: column %d of %d is %g, %g", level, j, n, c[j], c[n+j])
				}
			}
		}
	}
}

// TestPack: each element of a packed matrix lies in its panel.
func TestPack(t *testing.T) {
	rnd := rand.New(rand.NewSource(4))
	for range 300 {
		for _, level := range isa.Levels() {
			k, n := rnd.Intn(40), 1+rnd.Intn(100)
			s := sample{n: n, k: k, b: fill(rnd, k, n)}
			p := s.packed(level)
			whole(t, "panels", p.Data)
			w := Width(level)
			for i := range k {
				for j := range n {
					got, want := p.Data[j/w*w*k+i*w+j%w], s.b.Data[i*s.b.Row+j*s.b.Col]
					if got != want {
						t.Fatalf("%v %dx%d: element %d,%d is packed as %g, not %g", level, k, n, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestAligned: a slice of each length begins at a line of the cache.
func TestAligned(t *testing.T) {
	for n := range 70 {
		s := Aligned(n)
		if len(s) != n || n > 0 && uintptr(unsafe.Pointer(&s[0]))%64 != 0 {
			t.Fatalf("%d floats begin at %p", len(s), s)
		}
	}
}

// TestFields: the fields that kernels read are where the generator believes them to be.
func TestFields(t *testing.T) {
	var x tile
	for i, off := range []uintptr{
		unsafe.Offsetof(x.a), unsafe.Offsetof(x.b), unsafe.Offsetof(x.c), unsafe.Offsetof(x.row), unsafe.Offsetof(x.step),
		unsafe.Offsetof(x.line), unsafe.Offsetof(x.panel), unsafe.Offsetof(x.ldc), unsafe.Offsetof(x.k), unsafe.Offsetof(x.n), unsafe.Offsetof(x.add),
		unsafe.Offsetof(x.next), unsafe.Offsetof(x.hop), unsafe.Offsetof(x.bias),
		unsafe.Offsetof(x.count), unsafe.Offsetof(x.down), unsafe.Offsetof(x.fall), unsafe.Offsetof(x.half), unsafe.Offsetof(x.side), unsafe.Offsetof(x.origin), unsafe.Offsetof(x.keep),
	} {
		if isa.Has(isa.AVX2) && off != uintptr(8*i) {
			t.Errorf("field %d lies at %d", i, off)
		}
	}
	var f finish
	for i, off := range []uintptr{
		unsafe.Offsetof(f.c), unsafe.Offsetof(f.ldc), unsafe.Offsetof(f.rows), unsafe.Offsetof(f.sums), unsafe.Offsetof(f.sumStep),
		unsafe.Offsetof(f.starts), unsafe.Offsetof(f.startStep), unsafe.Offsetof(f.values), unsafe.Offsetof(f.quads), unsafe.Offsetof(f.b),
		unsafe.Offsetof(f.panel), unsafe.Offsetof(f.scales), unsafe.Offsetof(f.scaleStep), unsafe.Offsetof(f.cols), unsafe.Offsetof(f.bias),
	} {
		if isa.Has(isa.AVX2) && off != uintptr(8*i) {
			t.Errorf("field %d of what finishes lies at %d", i, off)
		}
	}
}

// TestSteady: a product that has run once allocates nothing.
func TestSteady(t *testing.T) {
	rnd := rand.New(rand.NewSource(5))
	for _, level := range isa.Levels() {
		s := sample{m: 50, n: 300, k: 64}
		s.a, s.b = fill(rnd, s.m, s.k), fill(rnd, s.k, s.n)
		x, tail := new(Scratch), &doubled{to: make([]float32, s.m*s.n), ld: s.n}
		p := &Product{M: s.m, N: s.n, K: s.k, A: s.a, Matrix: s.b, Tail: tail}
		if n := testing.AllocsPerRun(5, func() { x.Mul(level, p, Range{0, s.m}, Range{0, s.n}) }); n != 0 {
			t.Errorf("%v: %g allocations", level, n)
		}
	}
}

// A lateStop lets some pieces pass.
type lateStop struct{ left int }

var errStopped = errors.New("stopped")

func (s *lateStop) Stop() error {
	if s.left--; s.left < 0 {
		return errStopped
	}
	return nil
}

// TestStop: a product asks before each of its pieces, along rows, columns and the axis
// that is summed up, and ends where it is told to.
func TestStop(t *testing.T) {
	for _, shape := range []struct{ m, n, k, least int }{{4 * Default.Rows, 16, 8, 4}, {8, 8, 4 * Default.Deep, 4}, {8, 3 * Default.Cols, 8, 1}} {
		a, b, c := make([]float32, shape.m*shape.k), make([]float32, shape.k*shape.n), make([]float32, shape.m*shape.n)
		for _, level := range isa.Levels() {
			var x Scratch
			p := Product{M: shape.m, N: shape.n, K: shape.k, A: Matrix{Data: a, Row: shape.k, Col: 1}, Matrix: Matrix{Data: b, Row: shape.n, Col: 1}, C: c, Ldc: shape.n}
			asked := lateStop{1 << 30}
			p.Stop = &asked
			if err := x.Mul(level, &p, Range{0, shape.m}, Range{0, shape.n}); err != nil {
				t.Fatal(err)
			}
			times := 1<<30 - asked.left
			if times < shape.least {
				t.Errorf("%v %+v: asked %d times", level, shape, times)
			}
			for n := range times {
				p.Stop = &lateStop{n}
				if err := x.Mul(level, &p, Range{0, shape.m}, Range{0, shape.n}); err != errStopped {
					t.Errorf("%v %+v: stopped at %d of %d: %v", level, shape, n, times, err)
				}
			}
		}
	}
}

// TestLoneTile: a tile by itself whose rows share a set of the first cache gives the bits of
// rows that don't. If it has more rows than the set has lines, they are copied.
func TestLoneTile(t *testing.T) {
	rnd := rand.New(rand.NewSource(31))
	const deep = 80
	for _, level := range isa.Levels() {
		k := at(level)
		n := 5*k.width - 3
		b := fill(rnd, deep, n)
		packed := make([]float32, PackedLen(level, deep, n))
		Pack(level, packed, b, deep, n)
		for m := 4; m <= k.rows; m++ {
			var got [2][]float32
			for i, row := range []int{deep + 1, 512} {
				a := Matrix{Data: make([]float32, m*row), Row: row, Col: 1}
				r := rand.New(rand.NewSource(int64(m)))
				for j := range m * deep {
					a.Data[j/deep*row+j%deep] = r.Float32() - 0.5
				}
				got[i] = guarded(m*n, 1)
				p := Product{M: m, N: n, K: deep, A: a, Panels: PackedPanels(level, packed, deep), C: got[i], Ldc: n}
				var x Scratch
				if err := x.Mul(level, &p, Range{0, m}, Range{0, n}); err != nil {
					t.Fatal(err)
				}
				whole(t, "C", got[i])
				if copied := len(x.a) > 0; copied != (m > setLines && row == 512) {
					t.Errorf("%v: %d rows, %d apart: copied %v", level, m, row, copied)
				}
			}
			if !slices.Equal(got[0], got[1]) {
				t.Fatalf("%v: %d rows that share a set: %v, not %v", level, m, got[1], got[0])
			}
		}
	}
}

// TestAgainOfFewer: a copy of a left operand does not serve a product of fewer of its columns.
func TestAgainOfFewer(t *testing.T) {
	rnd := rand.New(rand.NewSource(31))
	for _, level := range isa.Levels() {
		m, n, k := 5*Rows(level), 8*Width(level), 700
		a, b := Matrix{Data: make([]float32, m*k), Row: k, Col: 1}, Matrix{Data: make([]float32, n*k), Row: n, Col: 1}
		for i := range a.Data {
			a.Data[i] = float32(rnd.NormFloat64())
		}
		for i := range b.Data {
			b.Data[i] = float32(rnd.NormFloat64())
		}
		var x Scratch
		for _, deep := range []int{k, k - 60} {
			packed := make([]float32, PackedLen(level, deep, n))
			Pack(level, packed, b, deep, n)
			p := Product{M: m, N: n, K: deep, A: a, Panels: PackedPanels(level, packed, deep), C: make([]float32, m*n), Ldc: n}
			var fresh Scratch
			if err := fresh.Mul(level, &p, Range{0, m}, Range{0, n}); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(p.C)
			p.Again = deep < k
			if err := x.Mul(level, &p, Range{0, m}, Range{0, n}); err != nil {
				t.Fatal(err)
			}
			same(t, "again", want, p.C)
		}
	}
}

// TestAgain: what is left of a copy of A serves the calls for further columns of the same
// rows, in any order of rows, and of no other A, nor of one that has changed since.
func TestAgain(t *testing.T) {
	rnd := rand.New(rand.NewSource(12))
	for range samples(200) {
		for _, level := range isa.Levels() {
			s, blocks := random(rnd, level)
			other := s
			other.a = fill(rnd, s.m, s.k)
			var x Scratch
			for _, of := range []*sample{&s, &s, &other, &s, &other, &other} {
				for i := range of.a.Data {
					of.a.Data[i] = -of.a.Data[i]
				}
				got, between := of.again(t, &x, rnd, level, blocks, s.a)
				for i, want := range of.mul(t, rnd, level, Default) {
					if math.Float32bits(want) != math.Float32bits(got[i]) {
						t.Fatalf("%v %dx%dx%d with %+v: %g, not %g", level, s.m, s.n, s.k, blocks, got[i], want)
					}
				}
				for i, want := range s.mul(t, rnd, level, Default) {
					if got := between[i]; got != absent && math.Float32bits(want) != math.Float32bits(got) {
						t.Fatalf("%v %dx%dx%d with %+v, another matrix in between: %g, not %g", level, s.m, s.n, s.k, blocks, got, want)
					}
				}
			}
		}
	}
}

// absent is what no product of the samples is.
const absent = math.MaxFloat32

// again computes the sample by bands of rows and pieces of columns, of which each says to
// the next that A is as it was; in between the Scratch multiplies another matrix, pieces of
// whose product are apart.
func (s *sample) again(t *testing.T, x *Scratch, rnd *rand.Rand, level isa.Level, blocks Blocks, between Matrix) (c, apart []float32) {
	t.Helper()
	c, apart = make([]float32, s.m*s.n), slices.Repeat([]float32{absent}, s.m*s.n)
	p := &Product{
		M: s.m, N: s.n, K: s.k, A: s.a, Panels: s.packed(level), Bias: s.bias(),
		C: c, Ldc: s.n, Blocks: blocks, Beside: true,
	}
	high, wide := 1+rnd.Intn(s.m), (1+rnd.Intn(4))*Width(level)
	for row := 0; row < s.m; row += high {
		for col := 0; col < s.n; col += wide {
			rows, cols := Range{row, min(row+high, s.m)}, Range{col, min(col+wide, s.n)}
			if err := x.Mul(level, p, rows, cols); err != nil {
				t.Fatal(err)
			}
			p.Again = true
			if rnd.Intn(3) == 0 {
				q := *p
				q.A, q.C = between, apart
				if err := x.Mul(level, &q, rows, cols); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return c, apart
}
