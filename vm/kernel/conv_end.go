package kernel

import (
	"math"

	"github.com/npulang/npu/ir/tensor"
)

// An end is what package conv does itself with sums that it stores, behind the steps of
// their channels: conv.Ending.
type end struct {
	rest   int // the input that is added first, or Absent
	lo, hi float32
}

// noEnd leaves sums as they are.
var noEnd = end{rest: Absent, lo: float32(math.Inf(-1)), hi: float32(math.Inf(1))}

// holds are the operators that keep values between two bounds, NaN and the sign of a
// zero aside.
var holds = map[string][2]float32{
	"relu":  {0, float32(math.Inf(1))},
	"relu6": {0, 6},
}

// endOf finds the end of a body whose tail is plain. It reports false, and what changes
// nothing, if there is more than an end, as then all of it is a tail's.
func endOf(b *Body, heart int) (e end, ok bool) {
	e = noEnd
	ops, v := b.Ops[heart+1:], b.Ops[heart].First
	if len(ops) > 0 && ops[0].Is("add") {
		if e.rest = restOf(b, &ops[0], v); e.rest == Absent {
			return noEnd, false
		}
		ops, v = ops[1:], ops[0].First
	}
	if len(ops) > 0 && ops[0].Call != nil && ops[0].Args[0] == v {
		if h, ok := holds[ops[0].Call.Op.Name]; ok {
			e.lo, e.hi = h[0], h[1]
			ops, v = ops[1:], ops[0].First
		}
	}
	if len(ops) > 0 || len(b.Out) != 1 || b.Out[0] != v {
		return noEnd, false
	}
	return e, true
}

// restOf is the input of the result's shape that an operator adds to value v, or Absent.
func restOf(b *Body, add *Op, v int) int {
	for i, a := range add.Args {
		other := add.Args[1-i]
		if a == v && other >= 0 && other < len(b.In) && b.In[other].DType == tensor.F32 && b.In[other].Equal(add.Call.Out[0]) {
			return other
		}
	}
	return Absent
}
