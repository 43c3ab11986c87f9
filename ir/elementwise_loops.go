package ir

// The loops of the cheap binary operators, written out: a call per element
// would cost several times the operation.

func addRun[W wide](_ *Call, dst []W, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v + b[i]
	}
}

func subRun[W wide](_ *Call, dst []W, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v - b[i]
	}
}

func mulRun[W wide](_ *Call, dst []W, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v * b[i]
	}
}

// divRun's integers are guarded against 0; the smallest by -1 wraps in Go too.
func divRun[W wide](_ *Call, dst []W, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v / b[i]
	}
}

func remRun[W int64 | uint64](_ *Call, dst []W, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v % b[i]
	}
}

// Go's max and min propagate NaN and order the zeros, so that they commute.
func maxRun[W wide](_ *Call, dst []W, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = max(v, b[i])
	}
}

func minRun[W wide](_ *Call, dst []W, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = min(v, b[i])
	}
}

func eqRun[W comparable](_ *Call, dst []bool, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v == b[i]
	}
}

func neRun[W comparable](_ *Call, dst []bool, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v != b[i]
	}
}

func ltRun[W wide](_ *Call, dst []bool, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v < b[i]
	}
}

func leRun[W wide](_ *Call, dst []bool, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v <= b[i]
	}
}

func gtRun[W wide](_ *Call, dst []bool, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v > b[i]
	}
}

func geRun[W wide](_ *Call, dst []bool, in [][]W) {
	b := in[1]
	for i, v := range in[0] {
		dst[i] = v >= b[i]
	}
}
