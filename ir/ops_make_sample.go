package ir

import (
	"math/rand/v2"
)

// sampleFilled draws a type, and the further attributes as they are.
func sampleFilled(more ...Lit) func(*rand.Rand) Call {
	return func(r *rand.Rand) Call {
		return Call{Attrs: append([]Lit{TypeLit(drawType(r, AnyDType, 0, 4))}, more...)}
	}
}

func sampleEye(r *rand.Rand) Call {
	return Call{Attrs: []Lit{DimLit(N(drawDim(r))), orNone(r, DimLit(N(drawDim(r)))), DTypeLit(drawDType(r, AnyDType))}}
}

func sampleIota(r *rand.Rand) Call {
	return Call{Attrs: []Lit{DimLit(N(r.Int64N(1000))), DTypeLit(drawDType(r, Numbers))}}
}

func sampleArange(r *rand.Rand) Call {
	if r.IntN(2) == 0 {
		step := []float64{0.25, -0.5, 1.75}[r.IntN(3)]
		return Call{Attrs: []Lit{FloatLit(r.Float64() * 4), DimLit(N(int64(r.IntN(9) - 4))), FloatLit(step), orNone(r, DTypeLit(drawDType(r, Floats)))}}
	}
	step := int64(r.IntN(3) + 1)
	return Call{Attrs: []Lit{DimLit(N(int64(r.IntN(15) - 7))), DimLit(N(int64(r.IntN(40)))), DimLit(N(step)), orNone(r, DTypeLit(drawDType(r, Numbers)))}}
}

func sampleLinspace(r *rand.Rand) Call {
	return Call{Attrs: []Lit{FloatLit(r.NormFloat64()), DimLit(N(int64(r.IntN(9)))), DimLit(N(drawDim(r))), DTypeLit(drawDType(r, Floats))}}
}

func sampleTriangle(r *rand.Rand) Call {
	return sampleOf(drawType(r, AnyDType, 2, 4), DimLit(N(int64(r.IntN(9)-4))))
}
