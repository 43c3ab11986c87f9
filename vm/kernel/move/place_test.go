package move_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/move"
)

// placed is where an index belongs, in arithmetic that does not overflow.
func placed(v, size, behind int64) (at int64, inside bool) {
	sum := big.NewInt(v)
	if v < 0 {
		sum.Add(sum, big.NewInt(behind))
	}
	return sum.Int64(), sum.Sign() >= 0 && sum.Cmp(big.NewInt(size)) < 0
}

// TestPlace has indices inside, all numbers of them, and one that is not, at each place.
func TestPlace(t *testing.T) {
	for _, level := range isa.Levels() {
		r := rand.New(rand.NewPCG(1, uint64(level)))
		for _, size := range []int64{1, 2, 7, 1 << 20, math.MaxInt32} {
			for n := range 70 {
				long, short := make([]int64, n), make([]int32, n)
				for i := range n {
					long[i] = r.Int64N(2*size) - size
					short[i] = int32(long[i])
				}
				testPlace(t, level, long, size)
				testPlace(t, level, short, size)
				if n == 0 {
					continue
				}
				at := r.IntN(n)
				for _, v := range []int64{size, -size - 1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32} {
					long[at] = v
					testPlace(t, level, long, size)
					short[at] = int32(v)
					testPlace(t, level, short, size)
				}
			}
		}
		testPlace(t, level, []int64{0}, 0)
	}
}

// testPlace tries a list with negative indices that count from the end, and with such that
// are outside.
func testPlace[E int64 | int32](t *testing.T, level isa.Level, list []E, size int64) {
	t.Helper()
	for _, behind := range []int64{size, 0} {
		got, want, inside := make([]int64, len(list)), make([]int64, len(list)), true
		for i, v := range list {
			at, ok := placed(int64(v), size, behind)
			want[i], inside = at, inside && ok
		}
		if ok := move.Place(level, got, list, size, behind); ok != inside || ok && !slices.Equal(got, want) {
			t.Fatalf("%v: %v of size %d, %d behind: %v, %v; want %v, %v", level, list, size, behind, got, ok, want, inside)
		}
		if own, ok := any(slices.Clone(list)).([]int64); ok {
			if ok := move.Place(level, own, own, size, behind); ok != inside || ok && !slices.Equal(own, want) {
				t.Fatalf("%v: %v where they lie: %v, %v", level, list, own, ok)
			}
		}
	}
}
