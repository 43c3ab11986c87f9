package fusion

import (
	"github.com/npulang/npu/ir"
)

// assumed is the size of a symbol that nothing binds, as in listings.
const assumed = 64

// most bounds sizes, so that sums of them stay far from overflow.
const most = 1 << 50

// Sizes turn dimensions into numbers, for estimates.
type sizes struct {
	dims map[string]int64
	env  ir.Env
}

func newSizes(dims map[string]int64) *sizes { return &sizes{dims, ir.Env{}} }

// of is the size of a dimension; one that has no value counts as 0.
func (s *sizes) of(d ir.Dim) int64 {
	if n, ok := d.Const(); ok {
		return min(max(n, 0), most)
	}
	d.Symbols(func(name string) {
		if _, ok := s.env[name]; ok {
			return
		}
		s.env[name] = assumed
		if n, ok := s.dims[name]; ok {
			s.env[name] = n
		}
	})
	n, err := d.Eval(s.env)
	if err != nil {
		return 0
	}
	return min(max(n, 0), most)
}

// elements is the product of the sizes.
func (s *sizes) elements(shape []ir.Dim) int64 {
	n := int64(1)
	for _, d := range shape {
		n = times(n, s.of(d))
	}
	return n
}

func (s *sizes) bytes(t ir.Type) int64 {
	return times(s.elements(t.Shape), int64(t.DType.Size()))
}

// times multiplies, up to most.
func times(a, b int64) int64 {
	if a > 0 && b > most/a {
		return most
	}
	return a * b
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / max(b, 1) }

// alignUp is the next multiple of n, a power of two.
func alignUp(a, n int64) int64 { return ceilDiv(a, max(n, 1)) * max(n, 1) }
