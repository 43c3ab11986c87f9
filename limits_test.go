package npu

import (
	"math"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestMemoryLimit: bytes that are written take as long as a copy, the rest of what is read
// as long as reading.
func TestMemoryLimit(t *testing.T) {
	l := newLimits(isa.Best(), 1)
	l.copies[1<<20], l.reads[1<<20] = 10, 40 // GB/s, so that both are measured already
	for _, c := range []struct{ read, written, want float64 }{
		{5e5, 5e5, 0.1}, // a copy
		{1e6, 0, 0.025}, // read
		{9e5, 1e5, 0.02 + 0.02},
		{1e5, 9e5, 0.1}, // made of little
	} {
		if got := l.memory(int64(c.read), int64(c.written)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%g bytes read and %g written take %g ms, and are to take %g", c.read, c.written, got, c.want)
		}
	}
}
