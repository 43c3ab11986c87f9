package gemm

import (
	"math/rand"
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
					a = Matrix{make([]float32, 2*m+4*m*deep), 2, 4 * m}
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
