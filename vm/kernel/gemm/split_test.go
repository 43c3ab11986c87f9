package gemm

import (
	"math/rand"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// byteMakers make bytes that are hard on sums of 16 bits: the ends of the range next to
// each other, and what lies around the limit of a pair.
var byteMakers = map[string]func(rnd *rand.Rand, i int) int8{
	"least":     func(*rand.Rand, int) int8 { return -128 },
	"greatest":  func(*rand.Rand, int) int8 { return 127 },
	"in turns":  func(_ *rand.Rand, i int) int8 { return int8(127 - i%2*255) },
	"in pairs":  func(_ *rand.Rand, i int) int8 { return int8(127 - i/2%2*255) },
	"at limits": func(rnd *rand.Rand, i int) int8 { return int8(63+rnd.Intn(3)) * int8(1-i/2%2*2) },
	"any":       func(rnd *rand.Rand, _ int) int8 { return int8(rnd.Intn(256) - 128) },
	"small":     func(rnd *rand.Rand, _ int) int8 { return int8(rnd.NormFloat64() * 20) },
	"zeros":     func(*rand.Rand, int) int8 { return 0 },
}

// TestBytesAtTheirEnds: products of the largest bytes, in all formats.
func TestBytesAtTheirEnds(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, f := range everyFormat(Int8) {
		for left, a := range byteMakers {
			for right, b := range byteMakers {
				l := newLow(rnd, f, 1+rnd.Intn(9), 1+rnd.Intn(150), 1+rnd.Intn(100))
				for i := range l.bytes {
					l.bytes[i] = uint8(a(rnd, i%l.k))
				}
				for i := range l.weights.Data {
					l.weights.Data[i] = b(rnd, i%l.n)
				}
				blocks := Blocks{Rows: 1 + rnd.Intn(9), Deep: 8 + rnd.Intn(40), Cols: 1 + rnd.Intn(90), Tall: 1 + rnd.Intn(9), Copied: rnd.Intn(4000)}
				for at, x := range l.multiply(t, rnd, l.product(t), blocks) {
					if err := l.check(at/l.n, at%l.n, x); err != nil {
						t.Fatalf("%s: %s by %s, %dx%dx%d, element %d: %v", f.name, left, right, l.m, l.n, l.k, at, err)
					}
				}
			}
		}
	}
}

// TestSplitRows: what is taken apart adds up to what there was, no pair is too large,
// and only the fours that have rests are listed.
func TestSplitRows(t *testing.T) {
	f := choose(isa.Best(), Int8, false, false)
	if f.split == nil {
		t.Skip("no format of this processor takes bytes apart")
	}
	rnd := rand.New(rand.NewSource(1))
	for name, of := range byteMakers {
		for k := range 140 {
			m := 1 + rnd.Intn(3)
			rows := make([]int8, m*k)
			for i := range rows {
				rows[i] = of(rnd, i)
			}
			room := guarded(f.LeftLen(m, k), rnd.Intn(3))
			a := f.LeftSigned(room, View[int8]{rows, k, 1}, m, k)
			whole(t, "A", room)
			for i := range m {
				checkSplit(t, name, rows[i*k:][:k], as[int8](a.Data[i*a.Row:][:f.steps(k)]), f.splits(a.Data, m, f.steps(k)), i)
			}
		}
	}
}

func checkSplit(t *testing.T, name string, row, tiles []int8, s splits, i int) {
	t.Helper()
	sum := make([]int, len(tiles))
	for j, x := range tiles {
		sum[j] = int(x)
		if j%2 == 1 && max(sum[j]+sum[j-1], -sum[j]-sum[j-1]) > 128 {
			t.Fatalf("%s: a pair of %d and %d is left", name, sum[j-1], sum[j])
		}
	}
	last := -1
	for e := s.starts[i]; e < s.starts[i+1]; e++ {
		quad := int(s.quads[e])
		if s.values[e] == 0 || quad <= last {
			t.Fatalf("%s: rest %#x of number %d behind %d", name, s.values[e], quad, last)
		}
		last = quad
		for j := range 4 {
			sum[4*quad+j] += int(int8(s.values[e] >> (8 * j)))
		}
	}
	total := 0
	for j, x := range sum {
		want := 0
		if j < len(row) {
			want = int(row[j])
		}
		if x != want {
			t.Fatalf("%s: byte %d of %d is %d in two parts, not %d", name, j, len(row), x, want)
		}
		total += x
	}
	if int(s.sums[i]) != total {
		t.Fatalf("%s: the sum is %d, not %d", name, s.sums[i], total)
	}
}
