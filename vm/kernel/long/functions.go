package long

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A function computes eight floats at a time, with the bits of a definition, which does
// those that it is not for, and eight with one of them.
type function func(d, a *float64, n int) (done int)

// Compute makes a function's values of a in d, which has as many elements and may be a: exp,
// log, sigmoid or silu. of is its definition, by package ir.
func Compute(level isa.Level, name string, d, a []float64, of func(float64) float64) {
	f := functions[level][name]
	d = d[:len(a)]
	for i := 0; i < len(a); {
		if n := (len(a) - i) &^ 7; f != nil && n > 0 {
			i += f(unsafe.SliceData(d[i:]), unsafe.SliceData(a[i:]), n)
		}
		for end := min(i+8, len(a)); i < end; i++ {
			d[i] = of(a[i])
		}
	}
}
