package conv

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

var byLevel = map[isa.Level]*kernels{isa.NEON: &neon}

// neon is portable, but for products: those of arm64 are fused.
var neon = func() kernels {
	k := portable
	k.products = productsFused
	return k
}()

// productsFused is productsGo with one rounding for each product, as compilers for
// arm64 make it of a product and a sum.
func productsFused(dst, src *float32, n int, offsets *int, taps int, w *float32) {
	to := unsafe.Slice(dst, 8*n)
	clear(to)
	for t, offset := range unsafe.Slice(offsets, taps) {
		v := *at(w, t)
		for i, x := range unsafe.Slice(behind(src, offset), len(to)) {
			to[i] += v * x
		}
	}
}
