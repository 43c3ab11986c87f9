package tensor

import (
	"fmt"
	"math"
)

// Elements of any dtype are read and written as float64, int64 or uint64, in
// runs: one indirect call per run, a plain loop inside. Every conversion is
// that of Cast. A caller that streams through a tensor takes runs of some
// hundred elements, so that they stay in the first-level cache.

// A codec is one dtype's six loops. The tensor may be of any length; each
// loop handles the elements from at on.
type codec struct {
	loadFloats  func(t *T, dst []float64, at int)
	loadInts    func(t *T, dst []int64, at int)
	loadUints   func(t *T, dst []uint64, at int)
	storeFloats func(t *T, at int, src []float64)
	storeInts   func(t *T, at int, src []int64)
	storeUints  func(t *T, at int, src []uint64)
}

// codecs is the table of conversions, indexed by DType.
var codecs = [...]codec{
	F64:  doubleCodec(),
	F32:  floatCodec(func(v float32) float64 { return float64(v) }, func(v float64) float32 { return float32(v) }, loadAs[float32, float64], storeAs[float32, float64]),
	F16:  floatCodec(Float16.Float64, ToF16, loadF16, storeF16),
	BF16: floatCodec(BFloat16.Float64, ToBF16, loadBF16, storeBF16),
	I64:  intCodec[int64](math.MinInt64, math.MaxInt64),
	I32:  intCodec[int32](math.MinInt32, math.MaxInt32),
	I16:  intCodec[int16](math.MinInt16, math.MaxInt16),
	I8:   intCodec[int8](math.MinInt8, math.MaxInt8),
	U64:  intCodec[uint64](0, math.MaxUint64),
	U32:  intCodec[uint32](0, math.MaxUint32),
	U16:  intCodec[uint16](0, math.MaxUint16),
	U8:   intCodec[uint8](0, math.MaxUint8),
	Bool: {
		loadBool[float64], loadBool[int64], loadBool[uint64],
		storeBool[float64], storeBool[int64], storeBool[uint64],
	},
}

// LoadFloats fills dst with the elements of t from position at on. Floats of
// every dtype are exact; 64-bit integers are rounded to nearest even.
func (t *T) LoadFloats(dst []float64, at int) { t.codec(at, len(dst)).loadFloats(t, dst, at) }

// LoadInts is LoadFloats for int64. Integers and bool are exact, u64 keeps its
// bits; floats are truncated and saturate, NaN is 0.
func (t *T) LoadInts(dst []int64, at int) { t.codec(at, len(dst)).loadInts(t, dst, at) }

// LoadUints is LoadInts for uint64; negative integers keep their bits.
func (t *T) LoadUints(dst []uint64, at int) { t.codec(at, len(dst)).loadUints(t, dst, at) }

// StoreFloats converts src into the elements of t from position at on.
func (t *T) StoreFloats(at int, src []float64) { t.codec(at, len(src)).storeFloats(t, at, src) }

// StoreInts is StoreFloats for int64; integers wrap, floats are rounded to
// nearest even.
func (t *T) StoreInts(at int, src []int64) { t.codec(at, len(src)).storeInts(t, at, src) }

// StoreUints is StoreInts for uint64.
func (t *T) StoreUints(at int, src []uint64) { t.codec(at, len(src)).storeUints(t, at, src) }

// LoadBools fills dst with whether each element is not zero; NaN is not.
func (t *T) LoadBools(dst []bool, at int) {
	t.codec(at, len(dst))
	truths[t.DType](t, dst, at)
}

// truths are the loops of LoadBools.
var truths = [...]func(t *T, dst []bool, at int){
	F64: truth[float64], F32: truth[float32], F16: truthOfHalf[Float16], BF16: truthOfHalf[BFloat16],
	I64: truth[int64], I32: truth[int32], I16: truth[int16], I8: truth[int8],
	U64: truth[uint64], U32: truth[uint32], U16: truth[uint16], U8: truth[uint8], Bool: truth[uint8],
}

func truth[E interface {
	Native
	number
}](t *T, dst []bool, at int) {
	for i, v := range span[E](t, at, len(dst)) {
		dst[i] = v != 0
	}
}

// truthOfHalf looks at all bits but the sign.
func truthOfHalf[E Float16 | BFloat16](t *T, dst []bool, at int) {
	for i, v := range span[E](t, at, len(dst)) {
		dst[i] = v&0x7fff != 0
	}
}

// StoreBools stores 0 and 1 from position at on.
func (t *T) StoreBools(at int, src []bool) {
	if t.DType == Bool {
		t.codec(at, len(src))
		for i, v := range src {
			t.Data[at+i] = bit(v)
		}
		return
	}
	var buf [run]int64
	for len(src) > 0 {
		n := min(len(src), run)
		for i, v := range src[:n] {
			buf[i] = int64(bit(v))
		}
		t.StoreInts(at, buf[:n])
		src, at = src[n:], at+n
	}
}

// codec picks the loops of t's dtype and checks the run's bounds, so that a
// loop over raw memory cannot leave the tensor.
func (t *T) codec(at, n int) *codec {
	if at < 0 || n > t.Len()-at {
		panic(fmt.Sprintf("tensor: elements [%d, %d) of %v%v", at, at+n, t.DType, t.Shape))
	}
	return &codecs[t.DType]
}

// Floats copies the elements out as float64.
func (t *T) Floats() []float64 {
	v := make([]float64, t.Len())
	t.LoadFloats(v, 0)
	return v
}

// Ints copies the elements out as int64.
func (t *T) Ints() []int64 {
	v := make([]int64, t.Len())
	t.LoadInts(v, 0)
	return v
}

// Uints copies the elements out as uint64.
func (t *T) Uints() []uint64 {
	v := make([]uint64, t.Len())
	t.LoadUints(v, 0)
	return v
}

// Bools copies out whether each element is not zero.
func (t *T) Bools() []bool {
	v := make([]bool, t.Len())
	t.LoadBools(v, 0)
	return v
}

// FloatAt reads one element, by its position in memory.
func (t *T) FloatAt(i int) float64 {
	var v [1]float64
	t.LoadFloats(v[:], i)
	return v[0]
}

// IntAt reads one element as int64.
func (t *T) IntAt(i int) int64 {
	var v [1]int64
	t.LoadInts(v[:], i)
	return v[0]
}

// UintAt reads one element as uint64.
func (t *T) UintAt(i int) uint64 {
	var v [1]uint64
	t.LoadUints(v[:], i)
	return v[0]
}

// BoolAt reports whether one element is not zero.
func (t *T) BoolAt(i int) bool { return t.FloatAt(i) != 0 }

// SetFloat converts v into one element.
func (t *T) SetFloat(i int, v float64) { t.StoreFloats(i, []float64{v}) }

// SetInt converts v into one element.
func (t *T) SetInt(i int, v int64) { t.StoreInts(i, []int64{v}) }

// SetUint converts v into one element.
func (t *T) SetUint(i int, v uint64) { t.StoreUints(i, []uint64{v}) }

// SetBool stores 0 or 1 in one element.
func (t *T) SetBool(i int, v bool) { t.SetInt(i, int64(bit(v))) }

func bit(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}
