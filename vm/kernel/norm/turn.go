package norm

import "github.com/npulang/npu/vm/kernel/isa"

// Finite reports whether all elements are finite: their sum in float64 is, since it
// can't overflow.
func Finite(level isa.Level, x []float32) bool {
	s := at(level).sum(x)
	return s-s == 0
}

// Turn writes column j of src to row j of dst: rows by cols floats of src, whose rows
// are srcStep apart as those of dst are dstStep apart.
func Turn(level isa.Level, dst []float32, dstStep int, src []float32, srcStep, rows, cols int) {
	at(level).turn(dst, dstStep, src, srcStep, rows, cols)
}
