package gemm

import (
	"fmt"
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

// TestSplitRows: what is taken apart adds up to what there was, no sum that tiles or rests
// make leaves 16 bits, and only the fours that have rests are listed.
func TestSplitRows(t *testing.T) {
	f := choose(isa.Best(), Int8, false, false)
	if f.split == nil {
		t.Skip("no format of this processor takes bytes apart")
	}
	f.wide = nil
	rnd := rand.New(rand.NewSource(1))
	for right, of := range byteMakers {
		for left, made := range byteMakers {
			for range 20 {
				m, k, n := 1+rnd.Intn(3), rnd.Intn(400), 1+rnd.Intn(40)
				rows, b := make([]int8, m*k), View[int8]{make([]int8, k*n), n, 1}
				for i := range rows {
					rows[i] = made(rnd, i)
				}
				for i := range b.Data {
					b.Data[i] = of(rnd, i/n)
				}
				packed, room := guarded(f.PackedLen(k, n), 1), guarded(f.LeftLen(m, k), rnd.Intn(3))
				f.PackBytes(packed, b, k, n)
				whole(t, "B", packed)
				a := f.LeftSigned(room, View[int8]{rows, k, 1}, m, k, packed)
				whole(t, "A", room)
				s := f.splits(a.Data, m, f.steps(k))
				for i := range m {
					r := apart{rows[i*k:][:k], as[int8](a.Data[i*a.Row:]), b, n}
					if err := r.check(&s, i); err != nil {
						t.Fatalf("%s by %s, %dx%dx%d, row %d: %v", left, right, m, n, k, i, err)
					}
				}
			}
		}
	}
}

// TestWideRows: rows of which most fours would have rests are integers of 16 bits, of which
// not a bit is missing, with their sums behind them.
func TestWideRows(t *testing.T) {
	f := choose(isa.Best(), Int8, false, false)
	if f.wide == nil {
		t.Skip("no format of this processor has tiles for such rows")
	}
	rnd := rand.New(rand.NewSource(1))
	wide := 0
	for range 300 {
		m, k, n := 1+rnd.Intn(9), 1+rnd.Intn(300), 1+rnd.Intn(20)
		left, b := make([]uint8, m*k), make([]int8, k*n)
		for i := range left {
			left[i] = uint8(rnd.Intn(256))
		}
		for i := range b {
			b[i] = int8(rnd.Intn(256) - 128)
		}
		packed, room := guarded(f.PackedLen(k, n), 1), guarded(f.LeftLen(m, k), rnd.Intn(3))
		f.PackBytes(packed, View[int8]{b, n, 1}, k, n)
		a := f.LeftBytes(room, View[uint8]{left, k, 1}, m, k, packed)
		whole(t, "A", room)
		if a.Col != wideWords {
			continue
		}
		wide++
		s := f.wide.splits(a.Data, m, f.steps(k))
		for i := range m {
			sum, words := int32(0), as[int16](a.Data[i*a.Row:][:f.steps(k)*wideWords])
			for at, u := range left[i*k:][:k] {
				x := int16(u) - 128
				sum += int32(x)
				// The second and fourth of four bytes stand behind the first and third.
				if got := words[at/4*4+at%2*2+at%4/2]; got != x {
					t.Fatalf("%dx%d, row %d: byte %d is %d, and is to be %d", m, k, i, at, got, x)
				}
			}
			if s.sums[i] != sum || s.starts[i+1] != 0 {
				t.Fatalf("%dx%d, row %d: the sum is %d, and is to be %d; %d rests", m, k, i, s.sums[i], sum, s.starts[i+1])
			}
			for at := k; at < len(words); at++ {
				if got := words[at/4*4+at%2*2+at%4/2]; got != 0 {
					t.Fatalf("%dx%d, row %d: %d stands behind its bytes", m, k, i, got)
				}
			}
		}
	}
	if wide < 200 {
		t.Errorf("%d of 300 left operands were wide", wide)
	}
}

// apart is a row that has been taken apart, and what it is multiplied by.
type apart struct {
	row, groups []int8
	b           View[int8]
	n           int
}

func (r *apart) check(s *splits, i int) error {
	tiles := make([]int, (len(r.row)+groupBytes-1)/groupBytes*groupBytes)
	for at := range tiles {
		tiles[at] = int(r.groups[at/groupBytes*groupWords*floatBytes+at%groupBytes])
	}
	for at := 0; at < len(tiles); at += groupBytes {
		for sum := range 2 {
			if err := r.checkSum(tiles[at:], at, sum); err != nil {
				return err
			}
		}
	}
	total, both := 0, append([]int(nil), tiles...)
	for e := s.starts[i]; e < s.starts[i+1]; e++ {
		var four [quad]int
		for j := range four {
			four[j] = int(int8(s.values[e] >> (8 * j)))
			both[quad*int(s.quads[e])+j] += four[j]
			total += four[j]
		}
		if four == [quad]int{} {
			return fmt.Errorf("rest %d is nothing", e)
		}
		if err := checkPairs(four[:]); err != nil {
			return fmt.Errorf("rest %d: %w", e, err)
		}
	}
	if int(s.sums[i]) != total {
		return fmt.Errorf("the sum of the rests is %d, not %d", s.sums[i], total)
	}
	for at, x := range both {
		if at < len(r.row) && x != int(r.row[at]) || at >= len(r.row) && x != 0 {
			return fmt.Errorf("byte %d is %d together", at, x)
		}
	}
	return nil
}

// checkSum checks one sum of a group.
func (r *apart) checkSum(group []int, at, sum int) error {
	all := 0
	for q := 0; q < groupBytes; q += quad {
		pair := group[q+2*sum:][:2]
		if err := checkPairs(pair); err != nil {
			return fmt.Errorf("byte %d: %w", at+q+2*sum, err)
		}
		all += pair[0] + pair[1]
	}
	centre := as8[uint8](r.groups[(at/groupBytes*groupWords+groupWords-1)*floatBytes+2*sum:])
	if got := int16(uint16(centre[0]) | uint16(centre[1])<<8); got != int16(-128*all) {
		return fmt.Errorf("byte %d: sum %d of %d is centred by %d", at, sum, all, got)
	}
	for j := range r.n {
		products := 0
		for q := 0; q < groupBytes; q += quad {
			for i := q + 2*sum; i < q+2*sum+2 && at+i < len(r.row); i++ {
				products += group[i] * int(r.b.Data[(at+i)*r.b.Row+j*r.b.Col])
			}
		}
		if products != int(int16(products)) {
			return fmt.Errorf("byte %d: sum %d is %d in column %d", at, sum, products, j)
		}
	}
	return nil
}

// checkPairs: what is multiplied by bytes without a sign stays in 16 bits.
func checkPairs(bytes []int) error {
	for i := 0; i < len(bytes); i += 2 {
		most := max(bytes[i], 0) + max(bytes[i+1], 0)
		least := min(bytes[i], 0) + min(bytes[i+1], 0)
		if most > 128 || least < -128 {
			return fmt.Errorf("a pair of %d and %d", bytes[i], bytes[i+1])
		}
	}
	return nil
}
