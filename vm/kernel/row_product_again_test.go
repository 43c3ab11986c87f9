package kernel

import (
	"testing"

	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// TestAgain: what comes again of a product depends on the bytes of its format: bytes are a
// quarter of floats, and blocks along k hold four times as many of them, or about as many
// where they go in groups; halves that are widened on the way are half, and blocks hold as
// many.
func TestAgain(t *testing.T) {
	blocks := gemm.Blocks{Rows: 64, Deep: 256, Cols: 256}
	again := func(kind gemm.Kind, size, m, k int) float64 {
		p := &product{m: m, k: k, n: 512}
		if size < 4 {
			p.format, p.leftSize = gemm.FormatOf(isa.Best(), kind), size
		}
		return p.again(&blocks)
	}
	one := again(0, 4, 512, 256)
	if got := again(gemm.Int8, 1, 512, 512); got != one/2 {
		t.Errorf("B of bytes, of twice the depth, takes %g of %g ns", got, one)
	}
	if got := again(gemm.F16, 2, 512, 256); got != one/2 {
		t.Errorf("B of halves takes %g of %g ns", got, one)
	}
	if got := again(gemm.Int8, 1, 64, 256); got != 0 {
		t.Errorf("a product of one block takes %g ns for what does not come again", got)
	}
	if got := again(0, 4, 64, 512); !(got > 0) {
		t.Errorf("C that is stored once on the way takes %g ns", got)
	}
}
