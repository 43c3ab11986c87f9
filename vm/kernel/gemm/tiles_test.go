package gemm

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestPackTiles: every number of rows up to some tiles, all remainders of the turned
// blocks of eight columns, rows and columns in one piece and neither.
func TestPackTiles(t *testing.T) {
	rnd := rand.New(rand.NewSource(8))
	for _, level := range isa.Levels() {
		k := at(level)
		for m := 1; m <= 2*k.rows+1; m++ {
			for deep := range 20 {
				a := fill(rnd, m, deep)
				if deep%3 == 2 { // neither rows nor columns
					a = Matrix{Data: make([]float32, 2*m+4*m*deep), Row: 2, Col: 4 * m}
					for i := range a.Data {
						a.Data[i] = rnd.Float32()
					}
				}
				dst := guarded(m*deep, 1)
				k.packTiles(dst, a, m, deep)
				whole(t, "the tiles", dst)
				row := 0
				for i := range k.stack(m).tiles {
					h := k.stack(m).height(i)
					for j := range h * deep {
						r, c := row+j%h, j/h
						if got, want := dst[row*deep+j], a.Data[r*a.Row+c*a.Col]; got != want {
							t.Fatalf("%v: %d rows, %d columns: element (%d,%d) is %g, not %g", level, m, deep, r, c, got, want)
						}
					}
					row += h
				}
				if row != m {
					t.Fatalf("%v: the tiles of %d rows have %d", level, m, row)
				}
			}
		}
	}
}

// TestDenseTiles: the tiles that know how A and B lie give the bits of those that are
// told, for every length, from zero or C, with a bias, one to three in a column.
func TestDenseTiles(t *testing.T) {
	rnd := rand.New(rand.NewSource(9))
	for _, level := range isa.Levels() {
		k := at(level)
		for where, tiles := range k.dense {
			for h, run := range tiles {
				if run == nil {
					continue
				}
				for deep := range 40 {
					for _, n := range []int{k.width, k.width - 1, 1} {
						sameTiles(t, rnd, level, h, deep, n, 1+deep%3, where, run)
					}
				}
			}
		}
	}
}

// TestColumns: tiles of one panel that are computed several at a time give the bits of
// those that are computed one by one, and leave what is next where those do.
func TestColumns(t *testing.T) {
	rnd := rand.New(rand.NewSource(10))
	for _, level := range isa.Levels() {
		k := at(level)
		if !k.columns {
			continue
		}
		for h := 1; h <= k.rows; h++ {
			for deep := range 10 {
				for where := range 2 {
					if off := sameTiles(t, rnd, level, h, deep, k.width-deep%2, 1+deep%3, where, k.tiles[h][1]); off != 0 {
						t.Fatalf("%v: tiles of %d rows, %d products: what is next is %d bytes off", level, h, deep, off)
					}
				}
			}
		}
	}
}

// sameTiles holds tiles against those that are computed one by one, and returns how far apart
// they leave what is next, in bytes.
func sameTiles(t *testing.T, rnd *rand.Rand, level isa.Level, h, deep, n, count, where int, run func(*tile)) (off int) {
	t.Helper()
	k := at(level)
	rows := h * count
	a := Matrix{Data: fill(rnd, 1, rows*(deep+1)).Data[:rows*(deep+1)-1], Row: deep + 1, Col: 1}
	if where == inTiles {
		a.Data = a.Data[:rows*deep]
	}
	b, bias := fill(rnd, 1, deep*k.width), fill(rnd, 1, n)
	u := tile{
		row: a.Row * floatBytes, step: floatBytes, line: k.width * floatBytes, ldc: n * floatBytes, k: deep, n: n, add: deep % 2,
		a: address(a.Data), b: address(b.Data), next: address(b.Data), hop: lineBytes, bias: address(bias.Data),
		count: count, down: h * a.Row * floatBytes, fall: h * n * floatBytes,
	}
	if where == inTiles {
		u.row, u.step, u.down = floatBytes, h*floatBytes, h*deep*floatBytes
	}
	single := func(u *tile) {
		for i := range count {
			u.count = 1
			k.tiles[h][1](u)
			u.a = address(a.Data) + uintptr((i+1)*u.down)
			u.c = address(u.of.C) + uintptr((i+1)*u.fall)
		}
	}
	var got [2][]float32
	var next [2]uintptr
	for i, f := range []func(*tile){single, run} {
		c := guarded(rows*n, 1)
		for j := range c {
			c[j] = float32(j % 9)
		}
		v := u
		v.of = Block{A: a, B: Panels{b.Data, 0, k.width}, C: c, Bias: bias.Data}
		v.c = address(c)
		f(&v)
		whole(t, "C", c)
		got[i], next[i] = c, v.next
	}
	if !slices.Equal(got[0], got[1]) {
		t.Fatalf("%v: %d tiles of %d rows, %d columns, %d products (%d): %v, not %v", level, count, h, n, deep, where, got[1], got[0])
	}
	return int(next[1] - next[0])
}
