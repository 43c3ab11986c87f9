package lanes

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Powers computes what Two does where few registers are free: what it needs lies in
// memory, or in as many registers as Keep was told. It wants no top before: a power far
// above 1 is 2**100 or more, infinite or NaN, and so is then a sum of such.
type Powers struct {
	*Level
	memory []Mem          // by use
	kept   []reg.Register // some of them, from the first on
	series Mem
}

// What Powers needs more than once a vector.
const (
	powerLow = iota
	powerHigh
	powerTable // of a float for each lane
	powerSecond
	powerLast
	powerUses
)

// The bits that TwoMagic leaves of distances: those of -127, whose power is 0, and of 100.
const (
	leastPower = TwoMagic - 127*8
	mostPower  = TwoMagic + 100*8
)

// NewPowers has all it needs in memory.
func NewPowers(l *Level) *Powers {
	p := &Powers{Level: l, memory: make([]Mem, powerUses), series: l.twoSeries(0)}
	p.memory[powerTable] = l.eighths()
	p.memory[powerSecond], p.memory[powerLast] = l.twoSeries(1), l.twoSeries(2)
	p.memory[powerLow], p.memory[powerHigh] = l.Wide32("leastPower", leastPower), l.Wide32("mostPower", mostPower)
	return p
}

func (l *Level) twoSeries(i int) Mem {
	return l.Wide32(Label("two", i), math.Float32bits(float32(twoSeries[i])))
}

// Keep loads as many of the constants as n registers hold, if there are not yet as many.
func (p *Powers) Keep(n int) {
	for len(p.kept) < min(n, powerUses) {
		v := p.Vec()
		if len(p.kept) == powerTable {
			p.VMOVUPS(p.memory[powerTable], v)
		} else {
			p.Take(p.memory[len(p.kept)], v)
		}
		p.kept = append(p.kept, v)
	}
}

func (p *Powers) use(i int) Op {
	if i < len(p.kept) {
		return p.kept[i]
	}
	return p.memory[i]
}

// Of puts 2**(x - base) into each x, as Two does; magic is TwoMagic less base. It takes
// two registers for each.
func (p *Powers) Of(magic Op, xs ...reg.VecVirtual) {
	n := len(xs)
	t, q := p.Vecs(n), p.Vecs(n)
	each(n, func(i int) { p.With(magic, p.VADDPS, p.VADDPS_BCST, xs[i], t[i]) })
	each(n, func(i int) { p.With(p.use(powerLow), p.VPMAXSD, p.VPMAXSD_BCST, t[i], t[i]) })
	each(n, func(i int) { p.With(p.use(powerHigh), p.VPMINSD, p.VPMINSD_BCST, t[i], t[i]) })
	p.rest(magic, xs, t, q)
	each(n, func(i int) { p.VPERMPS(p.use(powerTable), t[i], q[i]) })
	each(n, func(i int) { p.VPSLLD(U8(20), t[i], t[i]) })
	each(n, func(i int) { p.VPADDD(t[i], q[i], q[i]) })
	each(n, func(i int) { p.Take(p.series, t[i]) })
	each(n, func(i int) { p.With(p.use(powerSecond), p.VFMADD213PS, p.VFMADD213PS_BCST, xs[i], t[i]) })
	each(n, func(i int) { p.With(p.use(powerLast), p.VFMADD213PS, p.VFMADD213PS_BCST, xs[i], t[i]) })
	each(n, func(i int) { p.VMULPS(xs[i], q[i], xs[i]) })
	each(n, func(i int) { p.VFMADD213PS(q[i], t[i], xs[i]) })
}

// restOfEighths is what VREDUCEPS has to do: take the nearest multiple of 2**-3 away, the
// even one of two, without an exception.
const restOfEighths = 3<<4 | 1<<3

// rest leaves in each x how far its distance from the base is from the eighths in t. That
// is how far x is itself, since bases are integers, and AVX-512 has an instruction for it.
// Of -Inf it makes 0, and so a power of 0, where the others make NaN.
func (p *Powers) rest(magic Op, xs, t, free []reg.VecVirtual) {
	if p.Wide {
		each(len(xs), func(i int) { p.VREDUCEPS(U8(restOfEighths), xs[i], xs[i]) })
		return
	}
	each(len(xs), func(i int) { p.VSUBPS(magic, t[i], free[i]) })
	each(len(xs), func(i int) { p.VSUBPS(free[i], xs[i], xs[i]) })
}

// Order is the numbers from 0 to 31, in memory.
func (l *Level) Order() Mem {
	const name = "order"
	if m, ok := l.data[name]; ok {
		return m
	}
	m := l.StaticGlobal(name)
	l.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 32 {
		l.AddDatum(4*i, U32(i))
	}
	l.data[name] = m
	return m
}
