package fusion

import (
	"testing"

	"github.com/npulang/npu/ir/irtest"
)

// A function that was fused, and read back from its text, is left as it is.
func TestFusedBefore(t *testing.T) {
	const text = `func @f(%x: f32[4,4], %w: f32[4,4]) -> f32[4,4] {
  %0 = exp %x : f32[4,4] !fuse(block)
  %1 = sort %0 : f32[4,4] !fuse(block)
  %2 = matmul %1, %w : f32[4,4]
  %3 = relu %2 : f32[4,4]
  return %3
}
`
	f := irtest.Parse(t, text)
	fuse(t, f, Options{})
	once := f.String()
	again := irtest.Parse(t, once)
	u, report := fuse(t, again, Options{})
	if err := u.Errors().Err(); err != nil {
		t.Error(err)
	}
	if again.String() != once || len(report.Rewrites) > 0 {
		t.Errorf("the second time gives\n%s\ninstead of\n%s", again, once)
	}
}
