package move

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Place writes as many indices as to has to it: behind is added to those that are
// negative. ok is false if one is then outside of 0 to size-1.
//
//	size 5, behind 5: 0 -1 4 -5   =>   0 4 4 0
func Place[E int64 | int32](level isa.Level, to []int64, from []E, size, behind int64) (ok bool) {
	from = from[:len(to)]
	n := 0
	if m := machines[level]; m != nil {
		n = len(to) &^ 15
	}
	outside := placeLoop(to[n:], from[n:], size, behind)
	if n > 0 {
		m, d, s := machines[level], unsafe.SliceData(to), unsafe.Pointer(unsafe.SliceData(from))
		if unsafe.Sizeof(*new(E)) == 8 {
			outside |= m.placeLongs(d, (*int64)(s), n, size, behind)
		} else {
			outside |= m.placeInts(d, (*int32)(s), n, size, behind)
		}
	}
	return outside == 0
}

// placeLoop is Place without a jump that depends on an index: what is outside is negative,
// or the last one less it is. Within Place the loop would keep its numbers in memory.
//
//go:noinline
func placeLoop[E int64 | int32](to []int64, from []E, size, behind int64) (outside int) {
	all := int64(0)
	for i, x := range from {
		v := int64(x)
		v += behind & (v >> 63)
		to[i] = v
		all |= v | (size - 1 - v)
	}
	return int(uint64(all) >> 63)
}
