package ir

import (
	"math/rand/v2"
)

// sampleFilled draws a type, and the further attributes as they are.
func sampleFilled(more ...Lit) func(*rand.Rand) Call {
	return func(r *rand.Rand) Call {
		return Call{Attrs: append([]Lit{TypeLit((&sampler{r}).typ(AnyDType, 0, 4))}, more...)}
	}
}

func sampleEye(r *rand.Rand) Call {
	s := &sampler{r}
	return Call{Attrs: []Lit{DimLit(s.dim()), s.orNone(DimLit(s.dim())), DTypeLit(s.dtype(AnyDType))}}
}

func sampleIota(r *rand.Rand) Call {
	s := &sampler{r}
	return Call{Attrs: []Lit{DimLit(N(s.Int64N(1000))), DTypeLit(s.dtype(Numbers))}}
}

func sampleArange(r *rand.Rand) Call {
	s := &sampler{r}
	if s.chance(2) {
		step := []float64{0.25, -0.5, 1.75}[s.IntN(3)]
		return Call{Attrs: []Lit{FloatLit(s.Float64() * 4), DimLit(N(int64(s.IntN(9) - 4))), FloatLit(step), s.orNone(DTypeLit(s.dtype(Floats)))}}
	}
	step := int64(s.IntN(3) + 1)
	return Call{Attrs: []Lit{DimLit(N(int64(s.IntN(15) - 7))), DimLit(N(int64(s.IntN(40)))), DimLit(N(step)), s.orNone(DTypeLit(s.dtype(Numbers)))}}
}

func sampleLinspace(r *rand.Rand) Call {
	s := &sampler{r}
	return Call{Attrs: []Lit{FloatLit(s.NormFloat64()), DimLit(N(int64(s.IntN(9)))), DimLit(s.dim()), DTypeLit(s.dtype(Floats))}}
}

func sampleTriangle(r *rand.Rand) Call {
	s := &sampler{r}
	return sampleOf(s.typ(AnyDType, 2, 4), DimLit(N(int64(s.IntN(9)-4))))
}
