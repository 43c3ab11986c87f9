package ir

import "math/rand/v2"

// optional draws an argument that may be absent.
func (s *sampler) optional(t Type) Type {
	if s.chance(3) {
		return Type{}
	}
	return t
}

func sampleLayerNorm(r *rand.Rand) Call {
	s := &sampler{r}
	d, shape := s.dtype(Floats), s.shape(0, 4)
	axes := s.axes(len(shape))
	order, _ := axesInOrder(nil, axes, len(shape))
	w := T(d, Dims(permuted(nil, shape, order)...)...)
	return Call{
		In:    []Type{T(d, Dims(shape...)...), s.optional(w), s.optional(w)},
		Attrs: []Lit{IntsLit(axes...), s.attr(epsAttr)},
	}
}

func sampleRMSNorm(r *rand.Rand) Call {
	s := &sampler{r}
	d, shape := s.dtype(Floats), s.shape(1, 4)
	w := T(d, Dims(shape[len(shape)-1])...)
	return Call{In: []Type{T(d, Dims(shape...)...), s.optional(w)}, Attrs: []Lit{FloatLit(1e-6)}}
}

// sampleChannels draws a call with args arguments, of which weight and bias may
// be absent.
func sampleChannels(args int) func(*rand.Rand) Call {
	return func(r *rand.Rand) Call {
		s := &sampler{r}
		d, shape := s.dtype(Floats), s.shape(2, 4)
		w := T(d, Dims(shape[1])...)
		c := Call{In: []Type{T(d, Dims(shape...)...), s.optional(w), s.optional(w)}, Attrs: []Lit{FloatLit(1e-5)}}
		for len(c.In) < args {
			c.In = append(c.In, w)
		}
		return c
	}
}

func sampleGroupNorm(r *rand.Rand) Call {
	s := &sampler{r}
	d, shape, groups := s.dtype(Floats), s.shape(2, 4), 1+s.IntN(3)
	shape[1] = groups * s.size()
	w := T(d, Dims(shape[1])...)
	return Call{
		In:    []Type{T(d, Dims(shape...)...), s.optional(w), s.optional(w)},
		Attrs: []Lit{IntLit(int64(groups)), FloatLit(1e-5)},
	}
}
