package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// operands is what the kinds of products differ in. A step along k takes four bytes
// of A, which every column meets: one float, two bf16 or two or four integers.
type operands struct {
	name string
	part int // a register of B takes this part of its bytes in a panel: 1, or 2 for half of them
	// grouped says that a step along k is a group of four such steps.
	grouped bool
	// widened says that a group of A has integers of 16 bits.
	widened bool
	// inTwos says that rows of B stand side by side in twos; see twos.go.
	inTwos bool
	// integers says that sums are integers.
	integers bool
	// raised says that bytes of B are 128 more than they were, and that sums begin with what
	// makes up for it.
	raised bool
	// keeps says that there are keeping tiles; see keep.go.
	keeps bool
	// sparse says that there are sparse tiles; see sparse.go.
	sparse bool
	// load makes a register of B of what lies in a panel.
	load func(t *tile, m Mem, r reg.VecVirtual)
	// spread fills a register with four bytes of A.
	spread func(t *tile, m Mem, r reg.VecVirtual)
	// add adds the products of a and b to the sums.
	add func(t *tile, a, b, sum reg.VecVirtual)
	// from does the same with B in memory; nil: B has to be loaded first.
	from func(t *tile, a reg.VecVirtual, b Mem, sum reg.VecVirtual)
	// meet does it with A in memory, which it spreads, and B in a register; nil: there is no
	// such instruction, or nobody has asked for it. It is for AVX-512 alone.
	meet func(t *tile, a Mem, b, sum reg.VecVirtual)
	// more writes what there is beside tiles; nil: nothing.
	more func(*Context)
}

// lineBytes is how many bytes a register of B takes in a panel.
func (t *tile) lineBytes() int { return t.bytes / t.part }

// spreadFloat and addFloats are of products of floats.
func spreadFloat(t *tile, m Mem, r reg.VecVirtual) { t.VBROADCASTSS(m, r) }
func addFloats(t *tile, a, b, sum reg.VecVirtual)  { t.VFMADD231PS(b, a, sum) }
func spreadInts(t *tile, m Mem, r reg.VecVirtual)  { t.VPBROADCASTD(m, r) }
func loadWhole(t *tile, m Mem, r reg.VecVirtual)   { t.VMOVUPS(m, r) }

// The kinds of products.
var (
	floats = operands{
		part: 1, sparse: true, load: loadWhole, spread: spreadFloat, add: addFloats,
		from: func(t *tile, a reg.VecVirtual, b Mem, sum reg.VecVirtual) { t.VFMADD231PS(b, a, sum) },
		meet: func(t *tile, a Mem, b, sum reg.VecVirtual) { t.VFMADD231PS_BCST(a, b, sum) },
	}

	// Halves are bf16 or f16 in panels, widened on the way to a register; A has
	// floats. With AVX-512 those of bf16 stand in twos.
	bf16Halves = operands{
		name: "BF16", part: 2, keeps: true, spread: spreadFloat, add: addFloats,
		load: func(t *tile, m Mem, r reg.VecVirtual) {
			t.VPMOVZXWD(m, r)
			t.VPSLLD(Imm(16), r, r)
		},
	}
	bf16Twos = operands{
		name: "BF16", part: 2, inTwos: true, keeps: true, spread: spreadFloat, add: addFloats,
	}
	f16Halves = operands{
		name: "F16", part: 2, keeps: true, spread: spreadFloat, add: addFloats,
		load: func(t *tile, m Mem, r reg.VecVirtual) { t.VCVTPH2PS(m, r) },
	}

	// Pairs of bf16 on both sides.
	bf16Pairs = operands{
		name: "Pairs", part: 1, load: loadWhole, spread: spreadFloat,
		add: func(t *tile, a, b, sum reg.VecVirtual) {
			t.Instruction(gen.Accumulate("VDPBF16PS", b, a, sum))
		},
	}

	// Sixteen bytes with a sign in A meet such without one; see groups.go and split.go.
	int8Groups = operands{name: "Groups", part: 1, grouped: true, integers: true, more: split}

	// The same as integers of 16 bits.
	int8Wide = operands{name: "Wide", part: 1, grouped: true, widened: true, integers: true, more: lowTable}

	// Four bytes with a sign in A meet four without one: what has a sign may come from memory,
	// where the product spreads it.
	int8Quads = operands{
		name: "Quads", part: 1, integers: true, raised: true, load: loadWhole, spread: spreadInts,
		add:  func(t *tile, a, b, sum reg.VecVirtual) { t.VPDPBUSD(a, b, sum) },
		meet: func(t *tile, a Mem, b, sum reg.VecVirtual) { t.VPDPBUSD_BCST(a, b, sum) },
	}

	// The same with AVX-VNNI, on processors without AVX-512.
	int8QuadsVEX = operands{
		name: "Quads", part: 1, integers: true, raised: true, load: loadWhole, spread: spreadInts,
		add: func(t *tile, a, b, sum reg.VecVirtual) {
			t.Instruction(gen.Accumulate("VEX.VPDPBUSD", a, b, sum))
		},
	}
)

// fits reports whether a level has the registers for a tile that spans panels: its
// sums, a broadcast a row, and one of B.
func (o operands) fits(v vectors, rows, panels int) bool {
	return rows*2*panels+rows+1 <= v.registers
}

// file is the name of the file of a level and a kind.
func (o operands) file(v vectors) string {
	if o.name == "" {
		return "tiles_" + strings.ToLower(v.name)
	}
	return "tiles_" + strings.ToLower(o.name+"_"+v.name)
}
