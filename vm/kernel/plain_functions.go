package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/long"
)

// longFunctions are the functions of floats of eight bytes that package long computes
// several at a time, with the definitions of what it leaves to them.
var longFunctions = map[string]func(float64) float64{
	"exp":     ir.ExpOf,
	"log":     ir.LogOf,
	"sigmoid": ir.SigmoidOf,
	"silu":    func(x float64) float64 { return x * ir.SigmoidOf(x) },
}

// functionLoop is the loop of one of them.
func functionLoop(level isa.Level, name string, of func(float64) float64) plainLoop {
	return func(d unsafe.Pointer, in [3]unsafe.Pointer, n int) {
		to, a := oneOf(d, in, n)
		long.Compute(level, name, to, a, of)
	}
}
