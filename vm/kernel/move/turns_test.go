package move_test

import (
	"testing"
	"time"
)

// benchTurns measures f and a copy of as many bytes in turns and reports the best
// of each.
func benchTurns(b *testing.B, bytes int, f, plain func()) {
	took, copied := time.Hour, time.Hour
	best := func(d *time.Duration, f func()) {
		start := time.Now()
		f()
		*d = min(*d, time.Since(start))
	}
	for b.Loop() {
		best(&took, f)
		best(&copied, plain)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(bytes)/float64(took.Nanoseconds()), "GB/s")
	b.ReportMetric(float64(took)/float64(copied), "copies")
}
