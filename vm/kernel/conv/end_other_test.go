//go:build !linux

package conv_test

import (
	"math"
	"testing"
)

// atEnd is a copy of x among NaN.
func atEnd(t *testing.T, x []float32) []float32 {
	t.Helper()
	const around = 64
	all := make([]float32, len(x)+2*around)
	for i := range all {
		all[i] = float32(math.NaN())
	}
	to := all[around : around+len(x)]
	copy(to, x)
	return to
}
