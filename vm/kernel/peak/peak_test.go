package peak_test

import (
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
)

// TestPeaks: every level of this processor has a loop of each kind, which takes some
// time and not for ever.
func TestPeaks(t *testing.T) {
	for _, l := range isa.Levels() {
		for name, measure := range map[string]func(isa.Level) float64{"FMA": peak.FMA, "BF16": peak.BF16, "Int8": peak.Int8} {
			if g := measure(l); !(g > 0 && g < 1e6) {
				t.Errorf("%s, %v: %g GFLOP/s", name, l, g)
			}
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
