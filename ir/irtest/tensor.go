package irtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Tensor makes a tensor of a type without symbols: mostly small numbers, whose
// sums and products are exact, with some values that are special to the dtype.
func Tensor(r *rand.Rand, t ir.Type) *tensor.T {
	v := tensor.New(t.DType, t.Ints()...)
	special := r.IntN(4) == 0 // in one tensor of four: NaN spreads
	oneIn := []int{8, 8, 2}[r.IntN(3)]
	if t.DType.IsFloat() {
		v.StoreFloats(0, drawn(r, v.Len(), special, oneIn, specialFloat, smallFloat))
	} else {
		v.StoreInts(0, drawn(r, v.Len(), special, oneIn, specialInt, smallInt))
	}
	return v
}

// drawn draws n elements, one in so many of which is a special one.
func drawn[W float64 | int64](r *rand.Rand, n int, special bool, oneIn int, rare, usual func(*rand.Rand) W) []W {
	list := make([]W, n)
	for i := range list {
		if special && r.IntN(oneIn) == 0 {
			list[i] = rare(r)
		} else {
			list[i] = usual(r)
		}
	}
	return list
}

func smallInt(r *rand.Rand) int64 { return int64(r.IntN(17) - 8) }

func smallFloat(r *rand.Rand) float64 {
	if r.IntN(2) == 0 {
		return float64(r.IntN(9) - 4)
	}
	return r.NormFloat64()
}

// specialFloats: -0 is the one that a rule forgets most easily; the last ones are
// denormal in f16, bf16 and f32, and f64.
var specialFloats = []float64{
	math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.Copysign(0, -1), 0, 1e30, -1e-30, 65504, 0.5, 1.5, 2.5,
	0x1p-24, -0x1p-133, 0x1p-149, 0x1p-1074,
}

func specialFloat(r *rand.Rand) float64 { return specialFloats[r.IntN(len(specialFloats))] }

// specialInts are the ends of the range, in every width.
var specialInts = []int64{math.MinInt64, math.MaxInt64, 1 << 31, -1 << 31, 1<<15 - 1, -128, 255}

func specialInt(r *rand.Rand) int64 { return specialInts[r.IntN(len(specialInts))] }

// setSpecial makes one element of a tensor special.
func setSpecial(r *rand.Rand, t *tensor.T, i int) {
	if t.DType.IsFloat() {
		t.SetFloat(i, specialFloat(r))
	} else {
		t.SetInt(i, specialInt(r))
	}
}

// Specials are floats that kernels forget most easily.
func Specials() []float64 { return slices.Clone(specialFloats) }
