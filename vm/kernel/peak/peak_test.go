package peak_test

import (
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
)

// TestFMA: every level of this processor has a loop, which takes some time and
// not for ever.
func TestFMA(t *testing.T) {
	for _, l := range isa.Levels() {
		if g := peak.FMA(l); !(g > 0 && g < 1e5) {
			t.Errorf("%v: %g GFLOP/s", l, g)
		}
	}
}

func BenchmarkFMA(b *testing.B) {
	for _, l := range isa.Levels() {
		b.Run(l.String(), func(b *testing.B) {
			var g float64
			for b.Loop() {
				g = max(g, peak.FMA(l))
			}
			b.ReportMetric(g, "GFLOP/s")
		})
	}
}
