package conv

import "github.com/npulang/npu/vm/kernel/isa"

var byLevel = map[isa.Level]*kernels{isa.AVX2: &avx2, isa.AVX512: &avx512}

var avx2 = kernels{
	lanes: 8, depth: 320,
	run: panelRunAVX2, pair: panelPairAVX2, each: panelEachAVX2, runs: panelRunsAVX2, rows: rowsOf,
	endTurned: endTurnedAVX2, endRows: endRowsAVX2,
	places:    []func(*bunches){nil, places1AVX2, places2AVX2, places3AVX2, places4AVX2, places5AVX2, places6AVX2},
	flat:      [flatRows + 1]func(*flats){nil, flat1AVX2, flat2AVX2, flat3AVX2, flat4AVX2, flat5AVX2, flat6AVX2},
	scaleRows: scaleRowsAVX2,
	spread:    spreadAVX2, spreadWide: spreadWideAVX2, join: joinAVX2,
	windows: windowsAVX2, mostWindows: mostAVX2, planeSums: planeSumsAVX2,
	products: tapProductsAVX2, sums: tapSumsAVX2, most: tapMostAVX2,
}

var avx512 = kernels{
	lanes: 16, depth: 320,
	run: panelRunAVX2, pair: panelPairAVX2, each: panelEachAVX2, runs: panelRunsAVX2, rows: rowsOf,
	endTurned: endTurnedAVX2, endRows: endRowsAVX2,
	places: []func(*bunches){
		nil, places1AVX512, places2AVX512, places3AVX512, places4AVX512,
		places5AVX512, places6AVX512, places7AVX512, places8AVX512,
	},
	neighbours: []func(*bunches){
		nil, neighbours1AVX512, neighbours2AVX512, neighbours3AVX512, neighbours4AVX512,
		neighbours5AVX512, neighbours6AVX512, neighbours7AVX512, neighbours8AVX512, neighbours9AVX512,
		neighbours10AVX512, neighbours11AVX512, neighbours12AVX512, neighbours13AVX512, neighbours14AVX512,
	},
	flat:      [flatRows + 1]func(*flats){nil, flat1AVX512, flat2AVX512, flat3AVX512, flat4AVX512, flat5AVX512, flat6AVX512},
	scaleRows: scaleRowsAVX2,
	spread:    spreadAVX2, spreadWide: spreadWideAVX2, join: joinAVX512,
	windows: windowsAVX512, mostWindows: mostAVX512, planeSums: planeSumsAVX2,
	products: tapProductsAVX512, sums: tapSumsAVX512, most: tapMostAVX512,
}

var windowsAVX2 = map[windowKind]windowKernels{
	{3, 1}: narrowWindows(windows3By1Rows4AVX2, windows3By1Rows2AVX2),
	{5, 1}: narrowWindows(windows5By1Rows4AVX2, windows5By1Rows2AVX2),
	{7, 1}: narrowWindows(windows7By1Rows4AVX2, nil),
	{3, 2}: narrowWindows(windows3By2Rows4AVX2, nil),
	{5, 2}: narrowWindows(windows5By2Rows4AVX2, nil),
}

var windowsAVX512 = map[windowKind]windowKernels{
	{3, 1}: wideWindows(windows3By1Rows7AVX512, windows3By1Rows4AVX512, windows3By1Rows7AVX512VL, windows3By1Rows4AVX512VL),
	{5, 1}: wideWindows(windows5By1Rows7AVX512, windows5By1Rows4AVX512, windows5By1Rows7AVX512VL, windows5By1Rows4AVX512VL),
	{7, 1}: windowsAVX2[windowKind{7, 1}],
	{3, 2}: wideWindows(windows3By2Rows7AVX512, windows3By2Rows4AVX512, windows3By2Rows7AVX512VL, windows3By2Rows4AVX512VL),
	{5, 2}: wideWindows(windows5By2Rows7AVX512, windows5By2Rows4AVX512, windows5By2Rows7AVX512VL, windows5By2Rows4AVX512VL),
}

var mostAVX2 = map[windowKind]windowKernels{
	{2, 2}: narrowWindows(most2By2Rows4AVX2, nil),
	{3, 2}: narrowWindows(most3By2Rows4AVX2, nil),
}

var mostAVX512 = map[windowKind]windowKernels{
	{2, 2}: {lanes: 16, exact: true, groups: []windowGroup{{4, most2By2Rows4AVX512}}},
	{3, 2}: {lanes: 16, exact: true, groups: []windowGroup{{4, most3By2Rows4AVX512}}},
}

// narrowWindows are the functions of AVX2; two may be nil.
func narrowWindows(four, two func(*windows)) windowKernels {
	k := windowKernels{lanes: 8, groups: []windowGroup{{4, four}}}
	if two != nil {
		k.rests = []windowGroup{{2, two}}
	}
	return k
}

// wideWindows are those of AVX-512, for its whole width and for half of it.
func wideWindows(seven, four, seven8, four8 func(*windows)) windowKernels {
	return windowKernels{
		lanes: 16, exact: true, groups: []windowGroup{{7, seven}, {4, four}}, rests: []windowGroup{{4, four}},
		half: &windowKernels{lanes: 8, exact: true, groups: []windowGroup{{7, seven8}, {4, four8}}, rests: []windowGroup{{4, four8}}},
	}
}

// rowsOf stages rows by registers, if no more is padded than those of a row write.
func rowsOf(dst, src *float32, rows, n, to, from, step, left, right int, fill *float32) {
	whole := (n - 1) / 8 * 8
	last := n - whole
	if step > 2 || left > 8 || last+right > 16 {
		rowsGo(dst, src, rows, n, to, from, step, left, right, fill)
		return
	}
	if step == 1 {
		mask := &runs[last][0][0]
		rowsAVX2(dst, src, rows, whole, to, from, left, fill, mask, mask)
		return
	}
	low, high := min(8, 2*last-1), max(0, 2*last-1-8)
	evensAVX2(dst, src, rows, whole, to, from, left, fill, &runs[last][0][0], &runs[low][0][0], &runs[high][0][0])
}
