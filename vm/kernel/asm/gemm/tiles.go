package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

// The fields of gemm.tile, at their offsets.
const (
	fieldA      = 8 * iota
	fieldB      // panels of two registers
	fieldC      //
	fieldRow    // bytes from one row of A to the next
	fieldStep   // bytes from one column of A to the next
	fieldLine   // bytes from one row of a panel to the next
	fieldPanel  // bytes from one panel to the next
	fieldLdc    // bytes from one row of C to the next
	fieldK      // products an element
	fieldN      // columns of C that exist
	fieldAdd    // 0: begin with zero; else with C
	fieldNext   // what the loop asks for ahead of its use
	fieldHop    // bytes to go on there every four steps; of a dense tile in the end
	fieldBias   // what is added to every row in the end; 0: nothing
	fieldCount  // tiles of a function that computes several, one below the other
	fieldDown   // bytes from one of them to the next, in A
	fieldFall   // and in C
	fieldHalf   // of thirds: where the half panel is
	fieldSide   // of thirds: bytes from the panel's columns to those of the half, in C
	fieldOrigin // what sums begin with, by row, if bytes of B are raised
	fieldKeep   // where a keeping tile writes the floats of its panel
	fieldLost   // of a sparse tile, which sets it: not 0 if it has written nothing
)

// unroll is how many steps along k the loop has in a row.
const unroll = 4

// panelsOf is how many panels a tile of so many rows may span besides one. Tiles of few rows
// have too few sums in one panel to hide the latency of a product: eight, and of bytes, which
// take five cycles where floats take four, ten.
func (o operands) panelsOf(rows int) int {
	if o.raised && rows == 4 {
		return 2
	}
	return map[int]int{1: 4, 2: 2, 3: 2}[rows]
}

// tiles writes a function for each height of a tile.
func tiles(c *Context, v vectors, o operands) {
	if o.grouped {
		groupTiles(c, v, o)
		return
	}
	most := 1
	for rows := 1; rows <= v.rows; rows++ {
		newTile(c, v, o, rows, 1).write()
		if p := o.panelsOf(rows); p > 1 && o.fits(v, rows, p) {
			newTile(c, v, o, rows, p).write()
			most = max(most, p)
		}
	}
	keepingTiles(v, o, func(rows int) {
		t := newTile(c, v, o, rows, 1)
		t.keeping = true
		t.write()
	})
	sparseTiles(o, func(panels int) {
		t := newTile(c, v, o, 1, panels)
		t.listed = true
		t.write()
	})
	denseTiles(v, o, func(rows int, d *dense) {
		t := newTile(c, v, o, rows, 1)
		t.dense = d
		t.paired = d.tiled && !v.masks && o.from != nil
		t.write()
	})
	laneTable(c, most*2*v.lanes())
}

// A tile is a function that is being written: rows times panels of two registers.
type tile struct {
	*Context
	vectors
	operands
	height, panels int
	dense          *dense // nil: the distances of A and B may be any
	paired         bool   // see pairs.go
	arg            reg.GPVirtual
	sums           [][]reg.VecVirtual // by row and register
	a, b, c        rowsAt
	left           left // A of a dense tile
	step           reg.GPVirtual
	soon           reg.GPVirtual     // what a tile of several panels asks for
	next           reg.GPVirtual     // what one of a single panel asks for
	second         reg.OpmaskVirtual // see twos.go
	keeping        bool              // see keep.go
	keep           reg.GPVirtual     // where it writes next
	listed         bool              // see sparse.go
}

func newTile(c *Context, v vectors, o operands, height, panels int) *tile {
	return &tile{Context: c, vectors: v, operands: o, height: height, panels: panels}
}

// width is how many registers a row of the tile has.
func (t *tile) width() int { return 2 * t.panels }

// write emits the function.
func (t *tile) write() {
	name := t.name()
	t.Function(name)
	t.Pragma("noescape")
	t.Signature(gen.Pointer("gemm", "t", "tile"))
	what := "computes %d by %d elements of C"
	if t.keeping {
		what += ", and writes the floats of the panel"
	}
	t.Doc(fmt.Sprintf("%s "+what+".", name, t.height, t.width()*t.lanes()))
	t.arg = t.Load(t.Param("t"), t.GP64()).(reg.GPVirtual)
	t.sums = make([][]reg.VecVirtual, t.height)
	for i := range t.sums {
		for range t.width() {
			t.sums[i] = append(t.sums[i], t.alloc(t.Context))
		}
	}
	switch {
	case t.dense != nil:
		t.column(t.denseProducts)
	case t.keeping:
		t.begin()
		t.keepingProducts()
		t.end()
	case t.listed:
		t.begin()
		t.sparseProducts()
		t.loseNegativeZeros()
		t.end()
	case t.inColumns():
		t.column(t.products)
	default:
		t.begin()
		t.products()
		t.end()
	}
	t.VZEROUPPER()
	t.RET()
}

// inColumns reports whether a tile that is told all distances computes several of them, one
// below the other, as dense ones do. With AVX-512 not all kinds of products have dense ones.
func (t *tile) inColumns() bool { return t.masks && t.panels == 1 }

// column computes tiles that lie one below the other. They are one function, so that
// the processor begins the next one while the sums of the last are under way: with a call
// for each they took one part in a hundred more.
func (t *tile) column(products func()) {
	t.Label("tile")
	t.begin()
	products()
	t.MOVQ(t.next, Mem{Base: t.arg, Disp: fieldNext})
	t.end()
	for _, step := range []struct{ place, by int }{{fieldA, fieldDown}, {fieldC, fieldFall}} {
		t.ADDQ(t.field(step.by), Mem{Base: t.arg, Disp: step.place})
	}
	if t.raised {
		t.ADDQ(Imm(uint64(4*t.height)), Mem{Base: t.arg, Disp: fieldOrigin})
	}
	t.DECQ(Mem{Base: t.arg, Disp: fieldCount})
	t.JNE(LabelRef("tile"))
}

// name is the function's name.
func (t *tile) name() string {
	shape := fmt.Sprintf("tile%dx%d", t.height, t.panels)
	switch {
	case t.dense != nil:
		shape = fmt.Sprint(t.dense.name, t.height)
	case t.keeping:
		shape = fmt.Sprint("keep", t.height)
	case t.listed:
		shape = fmt.Sprint("sparse", t.panels)
	}
	return shape + t.operands.name + t.vectors.name
}

// field loads a field of the argument.
func (t *tile) field(offset int) reg.GPVirtual { return field(t.Context, t.arg, offset) }

// rowsAt reaches up to fourteen rows that lie at one distance from each other by two
// pointers and three multiples of the distance.
type rowsAt struct{ p, p7, by, by3, by5 reg.GPVirtual }

func (t *tile) rowsAt(pointer, distance, rows int) rowsAt {
	r := rowsAt{p: t.field(pointer)}
	if rows > 1 {
		r.by = t.field(distance)
	}
	if rows > 3 {
		r.by3 = t.GP64()
		t.LEAQ(Mem{Base: r.by, Index: r.by, Scale: 2}, r.by3)
	}
	if rows > 5 {
		r.by5 = t.GP64()
		t.LEAQ(Mem{Base: r.by, Index: r.by, Scale: 4}, r.by5)
	}
	if rows > 7 {
		r.p7 = t.GP64()
		t.LEAQ(Mem{Base: r.p, Index: r.by5, Scale: 1}, r.p7)
		t.LEAQ(Mem{Base: r.p7, Index: r.by, Scale: 2}, r.p7)
	}
	return r
}

// row is the start of row i.
func (r rowsAt) row(i int) Mem {
	base := r.p
	if i >= 7 {
		base, i = r.p7, i-7
	}
	at := func(index reg.GPVirtual, scale uint8) Mem { return Mem{Base: base, Index: index, Scale: scale} }
	return [...]Mem{{Base: base}, at(r.by, 1), at(r.by, 2), at(r.by3, 1), at(r.by, 4), at(r.by5, 1), at(r.by3, 2)}[i]
}

// advance goes on by a number of bytes.
func (t *tile) advance(r rowsAt, by reg.GPVirtual) {
	t.ADDQ(by, r.p)
	if r.p7 != nil {
		t.ADDQ(by, r.p7)
	}
}

// begin sets the sums to zero or to C.
func (t *tile) begin() {
	t.c = t.rowsAt(fieldC, fieldLdc, t.height)
	t.askForC()
	t.CMPQ(Mem{Base: t.arg, Disp: fieldAdd}, Imm(0))
	t.JNE(LabelRef("fromC"))
	t.fromZero()
	t.JMP(LabelRef("multiply"))
	t.Label("fromC")
	whole := func(i, v int) { t.VMOVUPS(t.c.row(i).Offset(v*t.bytes), t.sums[i][v]) }
	if t.masks {
		whole = nil
	}
	part := func(mask Op, i, v int) {
		t.vectors.load(t.Context, mask, t.c.row(i).Offset(v*t.bytes), t.sums[i][v])
	}
	if t.paired {
		t.edge("loadEdge", "loaded", whole, part)
		t.Label("loaded")
		t.pair()
	} else {
		t.edge("loadEdge", "multiply", whole, part)
	}
	t.Label("multiply")
}

// askSteps is from how many steps along k on a dense tile of bytes asks for its lines of C.
// That is so many instructions more, which count in short tiles; long ones mostly write to
// matrices that are far away. On an Emerald Rapids with a busy neighbour 128 rows by 128 columns
// of 128 bytes (32 steps) reached 87 % of the peak without asking where they did 84, 128 by 1536
// of 384 (96 steps) 93 instead of 91, but 512 by 4096 of 1024 (256 steps) 85 instead of 87.
const askSteps = 192

// askForC asks for the tile's lines of C.
func (t *tile) askForC() {
	short := t.dense != nil && t.embeds() && t.raised
	if short {
		t.CMPQ(Mem{Base: t.arg, Disp: fieldK}, U32(askSteps))
		t.JLT(LabelRef("asked"))
	}
	for i := range t.height {
		for v := 0; v < t.width(); v += 64 / t.bytes {
			t.PREFETCHT0(t.c.row(i).Offset(v * t.bytes))
		}
	}
	if short {
		t.Label("asked")
	}
}

// fromZero begins with no products.
func (t *tile) fromZero() {
	if !t.raised {
		t.each(func(i, v int) { t.clear(t.Context, t.sums[i][v]) })
		return
	}
	origin := t.field(fieldOrigin)
	t.each(func(i, v int) { t.spread(t, Mem{Base: origin, Disp: 4 * i}, t.sums[i][v]) })
}

// bias adds the bias to the sums, if there is one.
func (t *tile) bias() {
	bias := t.field(fieldBias)
	t.TESTQ(bias, bias)
	t.JEQ(LabelRef("store"))
	add := func(load func(m Mem, r reg.VecVirtual), v int) {
		r := t.alloc(t.Context)
		load(Mem{Base: bias, Disp: v * t.bytes}, r)
		for i := range t.height {
			t.sum(r, t.sums[i][v])
		}
	}
	if !t.masks {
		t.CMPQ(Mem{Base: t.arg, Disp: fieldN}, Imm(uint64(t.width()*t.lanes())))
		t.JLT(LabelRef("biasEdge"))
		for v := range t.width() {
			add(func(m Mem, r reg.VecVirtual) { t.VMOVUPS(m, r) }, v)
		}
		t.JMP(LabelRef("store"))
		t.Label("biasEdge")
	}
	n := t.field(fieldN)
	for v := range t.width() {
		mask := t.mask(t.Context, n.As32(), v*t.lanes())
		add(func(m Mem, r reg.VecVirtual) { t.vectors.load(t.Context, mask, m, r) }, v)
	}
	t.Label("store")
}

// sum adds a register to one of sums.
func (t *tile) sum(r, to reg.VecVirtual) {
	if t.integers {
		t.VPADDD(r, to, to)
	} else {
		t.VADDPS(r, to, to)
	}
}

// end writes the sums to C.
func (t *tile) end() {
	if t.paired {
		t.unpair()
	}
	t.bias()
	if t.height > 7 || t.keeping { // the loop needs the registers
		t.c = t.rowsAt(fieldC, fieldLdc, t.height)
	}
	t.edge("storeEdge", "done",
		func(i, v int) { t.VMOVUPS(t.sums[i][v], t.c.row(i).Offset(v*t.bytes)) },
		func(mask Op, i, v int) { t.vectors.store(t.Context, mask, t.c.row(i).Offset(v*t.bytes), t.sums[i][v]) })
	t.Label("done")
}

func (t *tile) each(f func(i, v int)) {
	for i := range t.height {
		for v := range t.width() {
			f(i, v)
		}
	}
}

// edge does whole for each register of the tile if all its columns exist, and part,
// with a mask, if not, or if there is no whole; the code goes on at the label next, which
// follows it.
func (t *tile) edge(label, next string, whole func(i, v int), part func(mask Op, i, v int)) {
	if whole != nil {
		t.CMPQ(Mem{Base: t.arg, Disp: fieldN}, Imm(uint64(t.width()*t.lanes())))
		t.JLT(LabelRef(label))
		t.each(whole)
		t.JMP(LabelRef(next))
		t.Label(label)
	}
	n := t.field(fieldN)
	for v := range t.width() {
		mask := t.mask(t.Context, n.As32(), v*t.lanes())
		for i := range t.height {
			part(mask, i, v)
		}
	}
}

// products adds k times a column of A times a row of the panels.
func (t *tile) products() {
	t.a = t.rowsAt(fieldA, fieldRow, t.height)
	t.b = t.rowsAt(fieldB, fieldPanel, t.panels)
	t.step = t.field(fieldStep)
	line := t.field(fieldLine)
	t.along(line, func() func() { return t.asking(line) })
}

// along goes through the steps along k, of rows of panels that are line bytes apart. What
// asking returns comes in front of every four.
func (t *tile) along(line reg.GPVirtual, asking func() func()) {
	k := t.field(fieldK)
	if t.inTwos {
		t.second = secondMask(t.Context)
	}
	ask := asking()
	t.SUBQ(Imm(unroll), k)
	t.JLT(LabelRef("rest"))
	t.Label("four")
	ask()
	for range unroll / t.beside() {
		t.product(line)
	}
	t.SUBQ(Imm(unroll), k)
	t.JGE(LabelRef("four"))
	t.Label("rest")
	t.ADDQ(Imm(unroll), k)
	t.JEQ(LabelRef("multiplied"))
	if t.inTwos {
		t.restOfTwos(line, k)
	} else {
		t.Label("one")
		t.product(line)
		t.DECQ(k)
		t.JNE(LabelRef("one"))
	}
	t.Label("multiplied")
}

// asking prepares to ask for what is used later, and returns what does it every four
// steps. Tiles of several panels ask for their own lines: what they compute is soon done.
func (t *tile) asking(line reg.GPVirtual) func() {
	if t.panels > 1 {
		t.soon = t.GP64()
		t.LEAQ(Mem{Base: t.b.p, Index: line, Scale: uint8(soonBytes / (2 * t.lineBytes()))}, t.soon)
		return func() {}
	}
	// By two lines, so that the two tiles of some twelve rows ask for a whole panel: such
	// products of weights that no cache holds took a fifth more time with one line.
	t.next = t.field(fieldNext)
	hop := t.field(fieldHop)
	return func() {
		t.PREFETCHT1(Mem{Base: t.next})
		t.PREFETCHT1(Mem{Base: t.next, Disp: 64})
		t.ADDQ(hop, t.next)
	}
}

// product is one step along k, or two.
func (t *tile) product(line reg.GPVirtual) {
	if t.inTwos {
		t.twos(line, 2)
		return
	}
	if t.panels == 1 {
		t.byRow(line)
	} else {
		t.byRegister(line)
	}
	t.advance(t.a, t.step)
	t.advance(t.b, line)
	if t.soon != nil {
		t.ADDQ(line, t.soon)
	}
}

// ahead is how many rows of a panel are asked for before they are used.
const ahead = 8

// soonBytes is how far ahead tiles of several panels ask for their lines. Beyond 384
// bytes the processor's own looking ahead is disturbed.
const soonBytes = 256

// byRow holds a row of the panel in registers and broadcasts A element by element.
func (t *tile) byRow(line reg.GPVirtual) {
	b := []reg.VecVirtual{t.alloc(t.Context), t.alloc(t.Context)}
	for v, r := range b {
		t.operands.load(t, Mem{Base: t.b.p, Disp: v * t.lineBytes()}, r)
	}
	t.keepRow(b)
	for at := 0; at < 2*t.lineBytes(); at += 64 {
		t.PREFETCHT0(Mem{Base: t.b.p, Index: line, Scale: ahead, Disp: at})
	}
	for i := range t.height {
		a := t.alloc(t.Context)
		t.spread(t, t.a.row(i), a)
		for v, r := range b {
			t.add(t, a, r, t.sums[i][v])
		}
	}
}

// soonAt is what is asked for of a panel.
func (t *tile) soonAt(panel int) Mem {
	m := t.b.row(panel)
	m.Base = t.soon
	return m
}

// byRegister holds the broadcasts and goes through the panels.
func (t *tile) byRegister(line reg.GPVirtual) {
	a := make([]reg.VecVirtual, t.height)
	for i := range a {
		a[i] = t.alloc(t.Context)
		t.spread(t, t.a.row(i), a[i])
	}
	for v := range t.width() {
		m := t.b.row(v / 2).Offset(v % 2 * t.lineBytes())
		if v%2 == 0 {
			for at := 0; at < 2*t.lineBytes(); at += 64 {
				t.PREFETCHT0(t.soonAt(v / 2).Offset(at))
			}
		}
		if t.height == 1 && t.from != nil {
			t.from(t, a[0], m, t.sums[0][v])
			continue
		}
		r := t.alloc(t.Context)
		t.operands.load(t, m, r)
		for i := range a {
			t.add(t, a[i], r, t.sums[i][v])
		}
	}
}
