package ir

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

// A sampler draws the parts of random legal calls: small shapes of rank 0 to
// 4 in which sizes of 0 and 1 turn up.
type sampler struct{ *rand.Rand }

func (s *sampler) chance(oneIn int) bool { return s.IntN(oneIn) == 0 }

// dtype draws from a set.
func (s *sampler) dtype(set DTypes) tensor.DType {
	for {
		if d := tensor.DTypes[s.IntN(len(tensor.DTypes))]; set.Has(d) {
			return d
		}
	}
}

// size draws a dimension: 1 to 5, now and then 0 or more than the 16 lanes of
// a vector unit.
func (s *sampler) size() int {
	switch s.IntN(25) {
	case 0:
		return 0
	case 1:
		return 6 + s.IntN(14)
	}
	return 1 + s.IntN(5)
}

func (s *sampler) dim() Dim { return N(int64(s.size())) }

// shape draws a shape with a rank from lo to hi.
func (s *sampler) shape(lo, hi int) []int {
	shape := make([]int, lo+s.IntN(hi-lo+1))
	for i := range shape {
		shape[i] = s.size()
	}
	return shape
}

// dims draws a shape of a rank.
func (s *sampler) dims(rank int) []Dim { return Dims(s.shape(rank, rank)...) }

// typ draws a type of the set with a rank from lo to hi.
func (s *sampler) typ(set DTypes, lo, hi int) Type {
	return Type{s.dtype(set), Dims(s.shape(lo, hi)...)}
}

// part draws a shape that broadcasts to the given one.
func (s *sampler) part(shape []int) []int {
	p := append([]int{}, shape...)
	if s.chance(2) {
		return p
	}
	for i := range p {
		if s.chance(4) {
			p[i] = 1
		}
	}
	return p[s.IntN(len(p)+1):]
}

// axis draws an axis of a rank, written from the front or the back.
func (s *sampler) axis(rank int) int64 { return int64(s.IntN(2*rank) - rank) }

// axes draws a list of different axes, in any order.
func (s *sampler) axes(rank int) []int64 {
	axes := []int64{}
	for _, a := range s.Perm(rank)[:s.IntN(rank+1)] {
		if s.chance(2) {
			a -= rank
		}
		axes = append(axes, int64(a))
	}
	return axes
}

// attr draws a value where any is legal; others keep their default.
func (s *sampler) attr(a Attr) Lit {
	switch a.Kind {
	case KFloat:
		if !a.Required && s.chance(2) {
			return a.Default
		}
		return FloatLit(s.Float64()*4 - 2)
	case KBool:
		return s.flag()
	case KString:
		if len(a.Values) > 0 {
			return StrLit(a.Values[s.IntN(len(a.Values))])
		}
	}
	return a.Default
}

func (s *sampler) attrs(as []Attr) []Lit {
	ls := make([]Lit, len(as))
	for i, a := range as {
		ls[i] = s.attr(a)
	}
	return ls
}

func (s *sampler) flag() Lit { return BoolLit(s.chance(2)) }

// orNone is l, or now and then None.
func (s *sampler) orNone(l Lit) Lit {
	if s.chance(3) {
		return None
	}
	return l
}

// ints draws a tensor of integers from lo to hi.
func (s *sampler) ints(t Type, lo, hi int64) *tensor.T {
	out := tensor.New(t.DType, t.Ints()...)
	for i := range out.Len() {
		out.SetInt(i, lo+s.Int64N(hi-lo+1))
	}
	return out
}

// indices draws a tensor of integers from lo to hi-1, and its type.
func (s *sampler) indices(shape []Dim, lo, hi int64) (Type, *tensor.T) {
	t := Type{[]tensor.DType{tensor.I64, tensor.I32}[s.IntN(2)], shape}
	return t, s.ints(t, lo, hi-1)
}
