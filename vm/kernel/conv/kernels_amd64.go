package conv

import "github.com/npulang/npu/vm/kernel/isa"

var byLevel = map[isa.Level]*kernels{isa.AVX2: &avx2, isa.AVX512: &avx512}

var avx2 = kernels{
	lanes: 8, depth: 320,
	run: panelRunAVX2, pair: panelPairAVX2, each: panelEachAVX2, runs: panelRunsAVX2, copyRows: copyRowsAVX2, steps: stepsOf,
	products: tapProductsAVX2, sums: tapSumsAVX2, most: tapMostAVX2,
}

var avx512 = kernels{
	lanes: 16, depth: 320,
	run: panelRunAVX2, pair: panelPairAVX2, each: panelEachAVX2, runs: panelRunsAVX2, copyRows: copyRowsAVX2, steps: stepsOf,
	products: tapProductsAVX512, sums: tapSumsAVX512, most: tapMostAVX512,
}

// copyRowsAVX2 copies rows, every step-th float.
func copyRowsAVX2(dst, src *float32, rows, n, to, from, step int) {
	few := min(n, 8)
	switch {
	case step == 1 && n >= 8:
		rowsAVX2(dst, src, rows, n, to, from)
	case step == 1:
		rowsFewAVX2(dst, src, rows, n, to, from, &runs[few][0][0])
	case step == 2 && n >= 8:
		evensAVX2(dst, src, rows, n, to, from, &runs[7][0][0])
	case step == 2:
		low, high := min(8, 2*n-1), max(0, 2*n-1-8)
		evensFewAVX2(dst, src, rows, n, to, from, &runs[low][0][0], &runs[high][0][0], &runs[few][0][0])
	default:
		copyRowsGo(dst, src, rows, n, to, from, step)
	}
}

// stepsOf takes rows through their steps.
func stepsOf(x *float32, rows, n, ld int, steps *float32) {
	if n >= 8 {
		stepsAVX2(x, rows, n, ld, steps)
	} else {
		stepsFewAVX2(x, rows, n, ld, steps, &runs[n][0][0])
	}
}
