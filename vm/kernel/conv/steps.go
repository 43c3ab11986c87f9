package conv

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Steps are what the sums of a channel go through: plus, minus, times, times, plus, in
// this order, each rounded. That is a bias and a norm by running statistics:
// ((sum + bias) - mean) * 1/root * weight + shift.
type Steps [5]float32

// NoSteps change nothing, not even the sign of a zero.
var NoSteps = Steps{float32(math.Copysign(0, -1)), 0, 1, 1, float32(math.Copysign(0, -1))}

// Apply takes the tile through the steps of its channels, of which the list has those
// of all.
func (t *Tile) Apply(level isa.Level, steps []Steps) {
	if t.Channels == 0 || t.Places == 0 {
		return
	}
	of(level).steps(unsafe.SliceData(t.Data), t.Channels, t.Places, 4*t.Ld, &steps[t.Channel][0])
}
