package peak_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

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

// TestRatesOverTime: the rate over any time, also over none, is a number.
func TestRatesOverTime(t *testing.T) {
	over := map[string]func(isa.Level, time.Duration) float64{"FMA": peak.FMAFor, "BF16": peak.BF16For, "Int8": peak.Int8For}
	for _, l := range isa.Levels() {
		for name, measure := range over {
			for _, long := range []time.Duration{0, time.Microsecond, time.Millisecond} {
				if g := measure(l, long); !(g > 0 && g < 1e6) {
					t.Errorf("%s, %v, %v: %g GFLOP/s", name, l, long, g)
				}
			}
		}
	}
}

// TestRead: every level reads memory of any length, also on several goroutines, as those who
// measure do.
func TestRead(t *testing.T) {
	for _, l := range isa.Levels() {
		for _, n := range []int{0, 1, 511, 512, 1300, 1 << 16} {
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { peak.Read(l, make([]byte, n)) })
			}
			all.Wait()
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, l := range isa.Levels() {
		for _, n := range []int{32 << 10, 1 << 20, 16 << 20} {
			b.Run(fmt.Sprintf("%v/%dK", l, n>>10), func(b *testing.B) {
				data := make([]byte, n)
				b.SetBytes(int64(n))
				for b.Loop() {
					peak.Read(l, data)
				}
			})
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
