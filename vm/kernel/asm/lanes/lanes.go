// Package lanes lets one generator write a loop for AVX2 and for AVX-512: vectors of
// either width, blocks of elements whose width is the same on both, and their ends.
//
//	a block of 32 floats   =>   four registers of AVX2, two of AVX-512; the last
//	                            block through masks, with a fill where nothing is
//
// Since blocks are as wide on both, and since sums over a block are folded in the
// same order (Fold), both give the same bits.
package lanes

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Level is an instruction set and the end of its functions' names.
type Level struct {
	*build.Context
	Name string
	Wide bool // AVX-512
	data map[string]Mem
}

// Both are AVX2 and AVX-512 for one file.
func Both(c *build.Context) []*Level {
	data := map[string]Mem{}
	return []*Level{{c, "AVX2", false, data}, {c, "AVX512", true, data}}
}

// Narrow is the level of half the width, AVX2, whose instructions AVX-512 has too.
func (l *Level) Narrow() *Level { return &Level{l.Context, "AVX2", false, l.data} }

// Func begins a function and writes its documentation.
func (l *Level) Func(name, signature, doc string) {
	l.Function(name + l.Name)
	l.Pragma("noescape")
	l.SignatureExpr(signature)
	l.Doc(name + l.Name + " " + doc)
}

// End leaves a function.
func (l *Level) End() {
	l.VZEROUPPER()
	l.RET()
}

// Lanes is how many floats of four bytes a vector has.
func (l *Level) Lanes() int {
	if l.Wide {
		return 16
	}
	return 8
}

// Vec is a vector, Half one of half the width.
func (l *Level) Vec() reg.VecVirtual {
	if l.Wide {
		return l.ZMM()
	}
	return l.YMM()
}

func (l *Level) Half() reg.VecVirtual {
	if l.Wide {
		return l.YMM()
	}
	return l.XMM()
}

// AsHalf is the low half of a vector.
func (l *Level) AsHalf(v reg.VecVirtual) reg.VecVirtual {
	if l.Wide {
		return v.AsY().(reg.VecVirtual)
	}
	return v.AsX().(reg.VecVirtual)
}

// Like is a new vector as wide as v.
func (l *Level) Like(v reg.Register) reg.VecVirtual {
	switch v.Size() {
	case 16:
		return l.XMM()
	case 32:
		return l.YMM()
	}
	return l.ZMM()
}

// Cut is as much of v as has the width of like.
func (l *Level) Cut(v reg.VecVirtual, like reg.Register) reg.VecVirtual {
	switch like.Size() {
	case 16:
		return v.AsX().(reg.VecVirtual)
	case 32:
		return v.AsY().(reg.VecVirtual)
	}
	return v
}

// Vecs are n vectors.
func (l *Level) Vecs(n int) []reg.VecVirtual {
	vs := make([]reg.VecVirtual, n)
	for i := range vs {
		vs[i] = l.Vec()
	}
	return vs
}

// Zero clears vectors.
func (l *Level) Zero(vs ...reg.VecVirtual) {
	for _, v := range vs {
		l.VXORPS(v, v, v)
	}
}

// F32 and F64 give a constant in all lanes of a new vector.
func (l *Level) F32(name string, bits uint32) reg.VecVirtual {
	v := l.Vec()
	l.VBROADCASTSS(l.Constant(name, U32(bits)), v)
	return v
}

// Constant is one in memory.
func (l *Level) Constant(name string, c Constant) Mem {
	if _, ok := l.data[name]; !ok {
		l.data[name] = l.ConstData(name, c)
	}
	return l.data[name]
}

// Wide32 is a constant in memory that is as long as a vector of AVX2. AVX-512 has forms of
// instructions that spread one float over all lanes, and takes those (With): the linker puts
// data at multiples of 32 bytes, so that vectors of 64 would lie across two lines of the
// cache.
func (l *Level) Wide32(name string, bits uint32) Mem {
	name += "s"
	if m, ok := l.data[name]; ok {
		return m
	}
	m := l.StaticGlobal(name)
	l.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		l.AddDatum(4*i, U32(bits))
	}
	l.data[name] = m
	return m
}

// With writes an instruction whose first operand is a register, or memory that is the same
// in all lanes: whole is its usual form, spread the one with a float for all lanes.
func (l *Level) With(first Op, whole, spread func(...Op), rest ...Op) {
	if _, memory := first.(Mem); memory && l.Wide {
		whole = spread
	}
	whole(append([]Op{first}, rest...)...)
}

// Take loads what is the same in all lanes.
func (l *Level) Take(from Mem, v reg.VecVirtual) {
	l.With(from, l.VMOVUPS, l.VBROADCASTSS, v)
}

// Spread gives an argument of four bytes in all lanes of a new vector, Spread64 one
// of eight.
func (l *Level) Spread(param string) reg.VecVirtual {
	v := l.Vec()
	l.VBROADCASTSS(l.Address(param), v)
	return v
}

func (l *Level) Spread64(param string) reg.VecVirtual {
	v := l.Vec()
	l.VBROADCASTSD(l.Address(param), v)
	return v
}

// Address is where an argument lies.
func (l *Level) Address(param string) Mem {
	b, err := l.Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// Base and Len load the parts of an argument that is a slice.
func (l *Level) Base(param string) reg.GPVirtual {
	return l.Load(l.Param(param).Base(), l.GP64()).(reg.GPVirtual)
}

func (l *Level) Len(param string) reg.GPVirtual {
	return l.Load(l.Param(param).Len(), l.GP64()).(reg.GPVirtual)
}

// Arg loads an argument of eight bytes.
func (l *Level) Arg(param string) reg.GPVirtual {
	return l.Load(l.Param(param), l.GP64()).(reg.GPVirtual)
}

// A Mask selects the lanes of a vector that hold elements: a register of AVX-512's
// own, or a vector of signs.
type Mask struct {
	k reg.Register
	v reg.VecVirtual
}

// K and V are the register of a mask of AVX-512 or of AVX2.
func (m Mask) K() reg.Register   { return m.k }
func (m Mask) V() reg.VecVirtual { return m.v }

// tail is the table that masks of AVX2 are cut from: 32 words of ones, 32 of zeros.
func (l *Level) tail() Mem {
	const name = "tail"
	if m, ok := l.data[name]; ok {
		return m
	}
	m := l.StaticGlobal(name)
	l.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 64 {
		word := U32(0)
		if i < 32 {
			word = 0xffffffff
		}
		l.AddDatum(4*i, word)
	}
	l.data[name] = m
	return m
}

// Masks are the masks of the vectors that together hold a block whose first n
// elements are there; n is below the width of the block, at most 32. half: of
// vectors of half the width.
func (l *Level) Masks(n reg.GPVirtual, count int, half bool) []Mask {
	lanes := l.Lanes()
	if half {
		lanes /= 2
	}
	ms := make([]Mask, count)
	if l.Wide {
		bits := l.GP64()
		l.MOVQ(U32(0xffffffff), bits)
		l.BZHIQ(n, bits, bits)
		for i := range ms {
			ms[i].k = l.K()
			l.KMOVW(bits.As32(), ms[i].k)
			if i+1 < count {
				l.SHRQ(U8(lanes), bits)
			}
		}
		return ms
	}
	words := l.tailOf(n)
	for i := range ms {
		ms[i].v = l.Vec()
		if half {
			ms[i].v = l.Half()
		}
		l.VMOVUPS(words.Offset(4*i*lanes), ms[i].v)
	}
	return ms
}

// tailOf is where the words of a block begin whose first n are ones.
func (l *Level) tailOf(n reg.GPVirtual) Mem {
	table, at := l.GP64(), l.GP64()
	l.LEAQ(l.tail(), table)
	l.MOVQ(n, at)
	l.NEGQ(at)
	return Mem{Base: table, Index: at, Scale: 4, Disp: 4 * 32}
}

// Ends gives what clears, in vector i of a block of count, the lanes behind the block's
// first n elements; n is below the width of the block, at most 32.
func (l *Level) Ends(n reg.GPVirtual, count int) func(i int, v reg.VecVirtual) {
	if l.Wide {
		ms := l.Masks(n, count, false)
		return func(i int, v reg.VecVirtual) { l.VMOVAPS_Z(v, ms[i].k, v) }
	}
	words := l.tailOf(n)
	return func(i int, v reg.VecVirtual) { l.VANDPS(words.Offset(4*i*l.Lanes()), v, v) }
}

// LoadMasked reads the lanes of a mask into v; the others become those of fill,
// or 0 without one. v and fill differ.
func (l *Level) LoadMasked(m Mask, from Mem, fill, v reg.VecVirtual) {
	switch {
	case l.Wide && fill != nil:
		l.VMOVAPS(fill, v)
		l.VMOVUPS(from, m.k, v)
	case l.Wide:
		l.VMOVUPS_Z(from, m.k, v)
	default:
		l.VMASKMOVPS(from, m.v, v)
		if fill != nil {
			l.VBLENDVPS(m.v, v, fill, v)
		}
	}
}

// StoreMasked writes the lanes of a mask.
func (l *Level) StoreMasked(m Mask, v reg.VecVirtual, to Mem) {
	if l.Wide {
		l.VMOVUPS(v, m.k, to)
	} else {
		l.VMASKMOVPS(v, m.v, to)
	}
}

// Masks64 is the mask of a vector of float64 whose first n lanes are there.
func (l *Level) Masks64(n reg.GPVirtual) Mask {
	if l.Wide {
		return l.Masks(n, 1, true)[0]
	}
	narrow, m := l.Masks(n, 1, true)[0], l.Vec()
	l.VPMOVSXDQ(narrow.v, m)
	return Mask{v: m}
}

// Masks64Pair are the masks of two vectors of float64 whose first n lanes are there;
// n is below their number.
func (l *Level) Masks64Pair(n reg.GPVirtual) []Mask {
	ms := l.Masks(n, 2, true)
	if l.Wide {
		return ms
	}
	for i := range ms {
		wide := l.Vec()
		l.VPMOVSXDQ(ms[i].v, wide)
		ms[i].v = wide
	}
	return ms
}

// LoadMasked64 and StoreMasked64 are LoadMasked and StoreMasked for float64.
func (l *Level) LoadMasked64(m Mask, from Mem, v reg.VecVirtual) {
	if l.Wide {
		l.VMOVUPD_Z(from, m.k, v)
	} else {
		l.VMASKMOVPD(from, m.v, v)
	}
}

func (l *Level) StoreMasked64(m Mask, v reg.VecVirtual, to Mem) {
	if l.Wide {
		l.VMOVUPD(v, m.k, to)
	} else {
		l.VMASKMOVPD(v, m.v, to)
	}
}

// Move copies a vector.
func (l *Level) Move(from, to reg.VecVirtual) { l.VMOVAPS(from, to) }

// Keep clears the lanes of v for which a comparison (the code of VCMPPS) of a with b
// does not hold.
func (l *Level) Keep(code int, a, b, v reg.VecVirtual) {
	if l.Wide {
		k := l.K()
		l.VCMPPS(U8(code), b, a, k)
		l.VMOVAPS_Z(v, k, v)
		return
	}
	m := l.Like(v)
	l.VCMPPS(U8(code), b, a, m)
	l.VANDPS(m, v, v)
}

// Pick puts the lanes of from into to for which a comparison of a with b holds.
func (l *Level) Pick(code int, a, b, from, to reg.VecVirtual) {
	if l.Wide {
		k := l.K()
		l.VCMPPS(U8(code), b, a, k)
		l.VMOVAPS(from, k, to)
		return
	}
	m := l.Like(to)
	l.VCMPPS(U8(code), b, a, m)
	l.VBLENDVPS(m, from, to, to)
}

// Codes of VCMPPS.
const (
	LessThan     = 0x11 // LT_OQ
	Equal        = 0x00 // EQ_OQ
	Unordered    = 0x03 // UNORD_Q
	Ordered      = 0x07 // ORD_Q
	NotEqual     = 0x04 // NEQ_UQ
	NotLess      = 0x15 // NLT_UQ
	GreaterThan  = 0x1e // GT_OQ
	LessOrEqual  = 0x12 // LE_OQ
	GreaterEqual = 0x1d // GE_OQ
)

// Loop writes a loop over n elements: body for each whole block of size elements, and
// rest once for what is left, if anything is, with its number of elements below size.
// Both advance nothing: at is the number of bytes done, for the index of operands of
// four bytes an element.
func (l *Level) Loop(name string, n reg.GPVirtual, size int, at reg.GPVirtual, body func(), rest func(left reg.GPVirtual)) {
	left := l.GP64()
	l.MOVQ(n, left)
	l.XORQ(at, at)
	l.SUBQ(U32(size), left)
	l.JLT(LabelRef(name + "Rest"))
	l.Label(name + "Block")
	body()
	l.ADDQ(U32(4*size), at)
	l.SUBQ(U32(size), left)
	l.JGE(LabelRef(name + "Block"))
	l.Label(name + "Rest")
	l.ADDQ(U32(size), left)
	l.JEQ(LabelRef(name + "Done"))
	rest(left)
	l.Label(name + "Done")
}

// At is an operand of Loop, lane elements into the block.
func At(base, at reg.GPVirtual, lane int) Mem {
	return Mem{Base: base, Index: at, Scale: 1, Disp: 4 * lane}
}

// Fold brings vectors to one float of the lowest lane, through op: the upper half of
// the lanes onto the lower until one is left. wide says that lanes are of eight bytes.
func (l *Level) Fold(vs []reg.VecVirtual, double bool, op func(a, b, to reg.VecVirtual)) reg.VecVirtual {
	for n := len(vs) / 2; n > 0; n /= 2 {
		for i := range n {
			op(vs[i], vs[i+n], vs[i])
		}
	}
	v := vs[0]
	if l.Wide {
		high := l.YMM()
		l.VEXTRACTF64X4(U8(1), v, high)
		op(v.AsY().(reg.VecVirtual), high, v.AsY().(reg.VecVirtual))
	}
	high, low := l.XMM(), v.AsX().(reg.VecVirtual)
	l.VEXTRACTF128(U8(1), v.AsY(), high)
	op(low, high, low)
	l.VPERMILPD(U8(1), low, high)
	op(low, high, low)
	if !double {
		l.VMOVSHDUP(low, high)
		op(low, high, low)
	}
	return low
}

// Eight brings vectors to eight floats, the upper half of the lanes onto the lower.
func (l *Level) Eight(vs []reg.VecVirtual) reg.VecVirtual {
	for n := len(vs) / 2; n > 0; n /= 2 {
		for i := range n {
			l.VADDPS(vs[i+n], vs[i], vs[i])
		}
	}
	v := vs[0]
	if l.Wide {
		high := l.YMM()
		l.VEXTRACTF64X4(U8(1), v, high)
		l.VADDPS(high, v.AsY(), v.AsY())
	}
	return v.AsY().(reg.VecVirtual)
}

// Label names a label that is unique in its function.
func Label(parts ...any) string { return fmt.Sprint(parts...) }
