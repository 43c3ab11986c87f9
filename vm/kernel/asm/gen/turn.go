package gen

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Strided reaches eight places at one distance from each other by two pointers.
type Strided struct{ P, P4, By, By3 reg.GPVirtual }

// Eight are the places from p on, by bytes apart.
func Eight(c *build.Context, p, by reg.GPVirtual) Strided {
	s := Strided{P: p, P4: c.GP64(), By: by, By3: c.GP64()}
	c.LEAQ(Mem{Base: by, Index: by, Scale: 2}, s.By3)
	s.Far(c)
	return s
}

// Far sets the second pointer from the first.
func (s Strided) Far(c *build.Context) { c.LEAQ(Mem{Base: s.P, Index: s.By, Scale: 4}, s.P4) }

// At is place number i.
func (s Strided) At(i int) Mem {
	base := s.P
	if i >= 4 {
		base, i = s.P4, i-4
	}
	return [...]Mem{{Base: base}, {Base: base, Index: s.By, Scale: 1}, {Base: base, Index: s.By, Scale: 2}, {Base: base, Index: s.By3, Scale: 1}}[i]
}

// Quarters turns four registers of floats within quarters of 64 bytes: with eight floats
// each, column i is in the lower half of the result's register i, and column i+4 in the upper
// one.
func Quarters(c *build.Context, r [4]reg.VecVirtual) (q [4]reg.VecVirtual) {
	var p [4]reg.VecVirtual
	alloc := c.YMM
	if r[0].Size() == 64 {
		alloc = c.ZMM
	}
	for i := 0; i < 4; i += 2 {
		p[i], p[i+1] = alloc(), alloc()
		c.VUNPCKLPS(r[i+1], r[i], p[i])
		c.VUNPCKHPS(r[i+1], r[i], p[i+1])
	}
	for j := range 2 {
		q[2*j], q[2*j+1] = alloc(), alloc()
		c.VSHUFPS(U8(0x44), p[2+j], p[j], q[2*j])
		c.VSHUFPS(U8(0xee), p[2+j], p[j], q[2*j+1])
	}
	return q
}

// Transposed turns eight registers of eight floats in the usual three rounds: pairs of
// floats, pairs of pairs, halves.
func Transposed(c *build.Context, r [8]reg.VecVirtual) (t [8]reg.VecVirtual) {
	a, b := Quarters(c, [4]reg.VecVirtual(r[:4])), Quarters(c, [4]reg.VecVirtual(r[4:]))
	for i := range 4 {
		t[i], t[i+4] = c.YMM(), c.YMM()
		c.VPERM2F128(U8(0x20), b[i], a[i], t[i])
		c.VPERM2F128(U8(0x31), b[i], a[i], t[i+4])
	}
	return t
}
