package attn

import (
	"math"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestTwo holds powers of two against float64, at every level: relative to their sum
// they are off by the series' error and a few roundings.
func TestTwo(t *testing.T) {
	for _, level := range isa.Levels() {
		for _, base := range []float32{0, 3, -117, twoFar, -twoFar} {
			row := make([]float32, 4096)
			for i := range row {
				row[i] = base + 0.5 - 140*float32(i)/float32(len(row))
			}
			x, sum := append([]float32(nil), row...), []float32{0}
			at(level).exps(&x[0], len(x), 1, len(x), len(x), 0, &base, &sum[0])
			total := 0.0
			for i, v := range row {
				d := float64(v) - float64(base)
				want := math.Exp2(d)
				total += want
				if off := math.Abs(float64(x[i]) - want); off > want*2e-7+0x1p-126 {
					t.Fatalf("%v: 2**%v is %v, want %v", level, d, x[i], want)
				}
			}
			if math.Abs(float64(sum[0])-total) > 1e-6*total {
				t.Errorf("%v: the sum is %v, want %v", level, sum[0], total)
			}
		}
	}
}

// TestTwofold: masks are multiplied, what is finite stays so, and the rest is kept.
func TestTwofold(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	src := []float32{0, -1, 1.5, -10000, 1e38, -math.MaxFloat32, math.MaxFloat32, inf, -inf, nan, 1e-42}
	for _, level := range isa.Levels() {
		for n := range len(src) + 1 {
			dst := make([]float32, len(src)+1)
			dst[n] = 7
			if n > 0 {
				at(level).twofold(&dst[0], &src[0], n)
			}
			for i, v := range src[:n] {
				want := float64(v) * math.Log2E
				if v-v == 0 {
					want = max(min(want, math.MaxFloat32), -math.MaxFloat32)
				}
				if got := float64(dst[i]); !(math.Abs(got-want) <= 3e-7*math.Abs(want)+1e-45) && got != want && (got == got || want == want) {
					t.Errorf("%v: %v becomes %v, want %v", level, v, got, want)
				}
			}
			if dst[n] != 7 {
				t.Errorf("%v: written behind %d elements", level, n)
			}
		}
	}
}
