package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
)

// A combiner brings updates together with what is there, as scatters with a reduction
// do. Integers and floats of eight bytes are combined where they lie. Smaller floats are
// combined as float64, and rounded once when all updates are through.
type combiner struct {
	at   func(to, from []byte, list []int64) // element list[i] of to with element i of from
	rows func(to, from []byte)               // element by element
	wide func(a, b float64) float64          // nil: at and rows are there
}

// mostWide is how many float64 are combined at a time: 4 MB of them.
const mostWide = 1 << 19

// combinerOf finds the combiner of a dtype for add, mul, max or min.
func combinerOf(d tensor.DType, reduce string) *combiner {
	if c := combiners[d][reduce]; c != nil {
		return c
	}
	return &combiner{wide: combineFolds[float64]()[reduce]}
}

var combiners = map[tensor.DType]map[string]*combiner{
	tensor.F64: combinersOf[float64]("add", "mul", "max", "min"),
	tensor.I64: combinersOf[int64]("add", "mul", "max", "min"), tensor.I32: combinersOf[int32]("add", "mul", "max", "min"),
	tensor.I16: combinersOf[int16]("add", "mul", "max", "min"), tensor.I8: combinersOf[int8]("add", "mul", "max", "min"),
	tensor.U64: combinersOf[uint64]("add", "mul", "max", "min"), tensor.U32: combinersOf[uint32]("add", "mul", "max", "min"),
	tensor.U16: combinersOf[uint16]("add", "mul", "max", "min"), tensor.U8: combinersOf[uint8]("add", "mul", "max", "min"),
	tensor.Bool: { // bytes that are 0 or 1
		"add": combineBy(func(a, b uint8) uint8 { return a | b }), "max": combineBy(func(a, b uint8) uint8 { return a | b }),
		"mul": combineBy(func(a, b uint8) uint8 { return a & b }), "min": combineBy(func(a, b uint8) uint8 { return a & b }),
	},
}

// combineFolds are the reductions; of floats, max and min propagate NaN.
func combineFolds[E anyNumber]() map[string]func(a, b E) E {
	return map[string]func(a, b E) E{
		"add": func(a, b E) E { return a + b },
		"mul": func(a, b E) E { return a * b },
		"max": func(a, b E) E { return max(a, b) },
		"min": func(a, b E) E { return min(a, b) },
	}
}

func combinersOf[E anyNumber](names ...string) map[string]*combiner {
	of := map[string]*combiner{}
	for _, name := range names {
		of[name] = combineBy(combineFolds[E]()[name])
	}
	return of
}

func combineBy[E anyNumber](f func(a, b E) E) *combiner {
	return &combiner{
		at: func(to, from []byte, list []int64) {
			d, s := elementsIn[E](to), elementsIn[E](from)
			for i, p := range list {
				d[p] = f(d[p], s[i])
			}
		},
		rows: func(to, from []byte) {
			d, s := elementsIn[E](to), elementsIn[E](from)
			for i := range d {
				d[i] = f(d[i], s[i])
			}
		},
	}
}

// elementsIn views bytes as elements.
func elementsIn[E any](b []byte) []E {
	var e E
	return elements[E](unsafe.Pointer(unsafe.SliceData(b)), len(b)/int(unsafe.Sizeof(e)))
}

// A wideRoom is memory for what is combined as float64, and for some updates.
type wideRoom struct{ values, updates []float64 }

func (x *Exec) wideRoom(values, updates int) wideRoom {
	return wideRoom{elementsIn[float64](x.Bytes(8 * values)), elementsIn[float64](x.Bytes(8 * updates))}
}

// storeEach rounds values into an element of a tensor each, at places from at on.
func storeEach(t *tensor.T, at int, values []float64, list []int64) {
	if t.DType == tensor.F32 {
		to := tensor.Of[float32](t)[at:]
		for _, p := range list {
			to[p] = float32(values[p])
		}
		return
	}
	for _, p := range list {
		t.StoreFloats(at+int(p), values[p:p+1])
	}
}
