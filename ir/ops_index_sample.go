package ir

import (
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// What is indexed must not be empty, unless there are no indices.

// atLeast1 makes a shape without zeros.
func atLeast1(shape []Dim) []Dim {
	out := slices.Clone(shape)
	for i, d := range out {
		out[i] = MaxOf(d, N(1))
	}
	return out
}

func sizeAt(t Type, axis int) int64 {
	n, _ := t.Shape[axis].Const()
	return n
}

// sampleIndexed is the call of a tensor and indices, whose values are known.
func sampleIndexed(x Type, i Type, known *tensor.T, attrs ...Lit) Call {
	return Call{In: []Type{x, i}, Attrs: attrs, Known: []*tensor.T{nil, known}}
}

func sampleGather(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 3)
	axis := s.axis(x.Rank())
	at, _ := axisOf(axis, x.Rank())
	x.Shape[at] = MaxOf(x.Shape[at], N(1))
	n := sizeAt(x, at)
	i, known := s.indices(s.dims(s.IntN(3)), -n, n)
	return sampleIndexed(x, i, known, IntLit(axis))
}

func sampleEmbedding(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 2, 2)
	x.Shape[0] = MaxOf(x.Shape[0], N(1))
	n := sizeAt(x, 0)
	i, known := s.indices(s.dims(s.IntN(3)), -n, n)
	return sampleIndexed(x, i, known)
}

func sampleTakeAlong(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	axis := s.axis(x.Rank())
	at, _ := axisOf(axis, x.Rank())
	x.Shape[at] = MaxOf(x.Shape[at], N(1))
	shape := slices.Clone(x.Shape)
	for a := range shape {
		switch s.IntN(5) {
		case 0:
			shape[a] = N(1)
		case 1:
			if a != at {
				x.Shape[a] = N(1)
			}
		}
	}
	shape[at] = s.dim()
	n := sizeAt(x, at)
	i, known := s.indices(shape, -n, n)
	return sampleIndexed(x, i, known, IntLit(axis))
}

// coordinates draws the last axis of i for the axes of x from batch on.
func (s *sampler) coordinates(x Type, batch int) (Type, *tensor.T) {
	depth := s.IntN(x.Rank() - batch + 1)
	shape := append(slices.Clone(x.Shape[:batch]), s.dims(s.IntN(3))...)
	i, known := s.indices(append(shape, N(int64(depth))), 0, 1)
	for k := range known.Len() {
		n := sizeAt(x, batch+k%depth)
		known.SetInt(k, s.Int64N(2*n)-n)
	}
	return i, known
}

func sampleGatherND(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	x.Shape = atLeast1(x.Shape)
	batch := s.IntN(x.Rank())
	i, known := s.coordinates(x, batch)
	return sampleIndexed(x, i, known, IntLit(int64(batch)))
}

func sampleOneHot(r *rand.Rand) Call {
	s := &sampler{r}
	n := 1 + s.Int64N(5)
	i, known := s.indices(s.dims(s.IntN(4)), -n, n)
	c := sampleOf(i, DimLit(N(n)), DTypeLit(s.dtype(AnyDType)), IntLit(s.axis(i.Rank()+1)), DimLit(N(1)), DimLit(N(0)))
	c.Known = []*tensor.T{known}
	return c
}

func sampleScatter(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	axis := s.axis(x.Rank())
	at, _ := axisOf(axis, x.Rank())
	x.Shape[at] = MaxOf(x.Shape[at], N(1))
	shape := make([]Dim, x.Rank())
	for a := range shape {
		shape[a] = MinOf(x.Shape[a], s.dim())
	}
	shape[at] = s.dim()
	n := sizeAt(x, at)
	i, known := s.indices(shape, -n, n)
	c := sampleIndexed(x, i, known, IntLit(axis), s.reduce())
	c.In = append(c.In, Type{x.DType, shape})
	return c
}

func (s *sampler) reduce() Lit { return s.attr(reduceAttr) }

func sampleScatterND(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 3)
	x.Shape = atLeast1(x.Shape)
	i, known := s.coordinates(x, 0)
	depth := int(sizeAt(i, i.Rank()-1))
	c := sampleIndexed(x, i, known, s.reduce())
	c.In = append(c.In, Type{x.DType, slices.Concat(i.Shape[:i.Rank()-1], x.Shape[depth:])})
	return c
}

func sampleSort(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	return sampleOf(x, IntLit(s.axis(x.Rank())), s.flag())
}

func sampleTopK(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	axis := s.axis(x.Rank())
	at, _ := axisOf(axis, x.Rank())
	return sampleOf(x, DimLit(N(s.Int64N(sizeAt(x, at)+1))), IntLit(axis), s.flag(), s.flag())
}
