package rewrite

import (
	"testing"

	"github.com/npulang/npu/ir/irtest"
)

// What is turned down at first sight does not match, and what is not may match.
func TestPlausible(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[2,3], %w: f32[3,4], %c: f32[4], %r: f32[2,4]) -> f32[2,4] {
  %0 = matmul %x, %w : f32[2,4]
  %1 = bias_add %0, %c : f32[2,4]
  %2 = add %r, %1 : f32[2,4]
  %3 = relu %2 : f32[2,4]
  return %3
}
`)
	root := f.Body[3]
	for pattern, want := range map[string]bool{
		"relu(x)":                             true,
		"relu(x + y)":                         true,
		"relu(bias_add(matmul(a, b), c) + r)": true, // the sum is written the other way round
		"relu(exp?(x) + y)":                   true,
		"relu6?(relu(x))":                     true,
		"relu(r + exp(x))":                    false,
		"relu(x - y)":                         false,
		"exp(x)":                              false,
		"relu(r + bias_add(exp(a), c))":       true, // which lies deeper than one look goes
	} {
		p := Must(pattern)
		if got := p.root.plausible(root, plausibleDepth); got != want {
			t.Errorf("%s: plausible %v, want %v", pattern, got, want)
		}
	}
}
