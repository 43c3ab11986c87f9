package gemm

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Width is how many columns a panel of B has at a level, also one that this processor
// lacks.
func Width(level isa.Level) int { return widths[level] }

// Rows is how many rows of A the largest tile of a level has: products whose rows
// are a multiple of it, or many, run fastest.
func Rows(level isa.Level) int { return at(level).rows }

// A Block is one product of an m by k matrix and panels of n columns, small enough
// for the caches; see Blocks.
type Block struct {
	M, N, K int
	C       []float32 // row i begins at C[i*Ldc]
	Ldc     int
	A       Matrix
	B       Panels
	Add     bool      // C += A·B
	Bias    []float32 // N floats that are added to every row in the end; nil: nothing is
	Next    []float32 // what the next block begins to read B at, if not behind this one's last panel
	// Backwards goes through the panels from the last to the first; see Product.
	Backwards bool

	// tiled says that A holds what packTiles has made of it.
	tiled bool
	end   *ending // what finishes the sums; nil: they are finished
	// widen is the format whose panels become floats, some at a time, in wide; nil: B is
	// read as it is.
	widen *Format
	wide  []float32
	// origins are what the sums of each row begin with, without Add, where A has quads.
	origins []int32
	// terms are the elements of the only row of A that are not zero; nil: there may be any.
	terms []term
}

// origin is where a row has its own; 0: sums begin with zero.
func (b *Block) origin(row int) uintptr {
	if b.origins == nil {
		return 0
	}
	return uintptr(unsafe.Pointer(&b.origins[row]))
}

// Run computes the block, in tiles, panel by panel. Every element is the sum of its
// products in ascending order of k, each added with one rounding (the portable level
// rounds twice), beginning with zero or with C.
func (x *Scratch) Run(level isa.Level, b *Block) { x.run(at(level), b) }

func (x *Scratch) run(k *kernels, b *Block) {
	if b.M <= 0 || b.N <= 0 {
		return
	}
	t := &x.tile
	t.begin(b)
	if s := k.stack(b.M); k.panels(s.low) > 1 {
		t.wide(k, s)
	} else {
		from := 0
		if !b.tiled && b.widen == nil && t.line == k.line && k.inThirds(b.M, b.A) {
			from = t.threes(k)
		}
		t.narrow(k, s, from)
	}
	t.of = Block{}
}

// A stack is the tiles of some rows: high ones with low+1 rows, the others, below
// them, with low rows. So no tile is much smaller than the rest.
type stack struct{ tiles, low, high int }

func (k *kernels) stack(rows int) stack {
	tiles := (rows + k.rows - 1) / k.rows
	return stack{tiles, rows / tiles, rows % tiles}
}

// height is how many rows tile i has.
func (s stack) height(i int) int {
	if i < s.high {
		return s.low + 1
	}
	return s.low
}

const (
	floatBytes = 4
	lineBytes  = 64 // of the caches
)

const (
	hopSteps   = 4 // along k from one hop to the next, but for dense functions
	denseSteps = 8 // in whose lines dense functions ask for some
	hopAsks    = 4 // lines that the others ask for in as many
)

// bandRows is what the rows of a block are a multiple of, where tiles have so many. Where the
// largest tile has twelve rows, one of ten takes no longer for each, and blocks of 64 rows are
// better than those of 72 whose last one has eight, for which all of B comes again.
func bandRows(rows int) int {
	if rows == mostRows {
		return mostRows / 3
	}
	return rows
}

// words is how many times four bytes of A a step along k takes.
func (k *kernels) words() int { return max(k.group, 1) }

// begin notes what all tiles of a block have in common.
func (t *tile) begin(b *Block) {
	t.of = *b
	t.row, t.step = b.A.Row*floatBytes, b.A.Col*floatBytes
	t.line, t.panel = b.B.Line*floatBytes, b.B.Panel*floatBytes
	t.ldc, t.k, t.add, t.bias = b.Ldc*floatBytes, b.K, 0, 0
	if b.Add {
		t.add = 1
	}
	if b.tiled {
		t.row = floatBytes
	}
	if b.widen != nil {
		t.line = b.widen.set.width * floatBytes
	}
}

// wideLen is how many floats a block needs for the panels that it widens.
func (b *Block) wideLen(k *kernels) int {
	return k.panels(k.stack(b.M).low) * b.widen.panelRows(b.K) * k.width
}

// panels is where tiles find count panels from one on, the last of which may not exist.
func (t *tile) panels(k *kernels, first, count int) uintptr {
	b := &t.of
	if b.widen == nil || b.widen.keeps != nil {
		return address(b.B.Data) + uintptr(first*b.B.Panel*floatBytes)
	}
	wide := b.widen.widened(b.wide, b.B, first, min(count, ceil(b.N, k.width)-first), b.K)
	t.panel = wide.Panel * floatBytes
	return address(wide.Data)
}

// right is the memory in which panels finds them.
func (b *Block) right() []float32 {
	if b.widen == nil {
		return b.B.Data
	}
	return b.wide
}

// after is what tiles ask for: the panel that follows theirs, or behind the last what the next
// block begins with.
func (t *tile) after(panel int, last bool) uintptr {
	b := &t.of
	if last && b.Next != nil {
		return address(b.Next)
	}
	return address(b.B.Data) + uintptr(panel*b.B.Panel*floatBytes)
}

// narrow runs tiles of one panel each, for the columns behind some.
func (t *tile) narrow(k *kernels, s stack, from int) {
	b := &t.of
	dense := t.dense(k, s.tiles)
	t.hop = k.hop(s.tiles, t.line, dense != &noTiles)
	panels, on := ceil(b.N-from, k.width), b.on()
	for i := range panels {
		n := from + turned(i, panels, b.Backwards)*k.width
		t.n = min(b.N-n, k.width)
		t.b, t.next = t.panels(k, n/k.width, 1), t.after(n/k.width+on, i == panels-1)
		if b.Bias != nil {
			t.bias = address(b.Bias) + uintptr(n*floatBytes)
		}
		t.column(k, s, dense, address(b.C)+uintptr(n*floatBytes))
		b.finish(n, t.n)
	}
}

// on is how many panels behind one the next one lies.
func (b *Block) on() int {
	if b.Backwards {
		return -1
	}
	return 1
}

// turned is number i of n, which may be counted from the last one on.
func turned(i, n int, backwards bool) int {
	if backwards {
		return n - 1 - i
	}
	return i
}

// hop is that of so many tiles, which ask for all of the next panel, each for its share: by
// two lines on every hop, so that a tile by itself asks for the first half; of dense ones
// each begins behind the lines of the one before.
func (k *kernels) hop(tiles, line int, dense bool) int {
	switch {
	case k.group > 0: // which hop on every step
		return min(ceil(line, tiles), 2*lineBytes)
	case dense:
		return ceil(denseSteps*line/lineBytes, tiles) * lineBytes
	}
	return min(ceil(hopSteps*line, tiles), 2*lineBytes)
}

// column runs the tiles of one panel.
func (t *tile) column(k *kernels, s stack, dense *[mostRows + 1]func(*tile), c uintptr) {
	t.a, t.c, t.origin = address(t.of.A.Data), c, t.of.origin(0)
	if of := t.of.widen; of != nil && of.keeps != nil {
		s = t.keeping(k, s)
	}
	t.run(k, dense, s.low+1, s.high)
	t.run(k, dense, s.low, s.tiles-s.high)
}

// keeping computes the first tile of a panel, which makes floats of it, and says which ones
// are left.
func (t *tile) keeping(k *kernels, s stack) stack {
	height := s.height(0)
	t.heighten(k, height)
	t.keep = address(t.of.wide)
	t.of.widen.keeps[height](t)
	t.a += uintptr(t.down)
	t.c += uintptr(t.fall)
	t.b = t.keep
	return stack{s.tiles - 1, s.low, max(s.high-1, 0)}
}

// heighten notes where tiles of one height that lie below each other are.
func (t *tile) heighten(k *kernels, height int) {
	row := t.row
	if t.of.tiled {
		row, t.step = t.k*k.words()*floatBytes, height*floatBytes
	}
	t.down, t.fall = height*row, height*t.ldc
}

// run computes tiles of one height, one below the other.
func (t *tile) run(k *kernels, dense *[mostRows + 1]func(*tile), height, count int) {
	if count == 0 {
		return
	}
	t.heighten(k, height)
	run := dense[height]
	if run == nil && k.columns {
		run = k.tiles[height][1]
	}
	if run != nil {
		t.count = count
		run(t)
		return
	}
	for range count {
		k.tiles[height][1](t)
		t.a += uintptr(t.down)
		t.c += uintptr(t.fall)
		t.origin += uintptr(height * floatBytes)
		t.next += uintptr(t.hop * (t.k / hopSteps))
	}
}

// dense are the functions that know how A and B lie, by height. With AVX2 they ask for half
// as much of the next panel as others do, so where too few tiles share the asking, there are
// none: with weights that no cache holds, 12 rows wait for memory rather than for
// instructions.
func (t *tile) dense(k *kernels, tiles int) *[mostRows + 1]func(*tile) {
	switch {
	case k.group > 0 && !t.of.tiled:
		return &k.dense[inRows]
	case k.group > 0:
		return &k.dense[inTiles]
	case t.line != k.line:
	case k.asks < hopAsks && tiles*k.asks*lineBytes < denseSteps*t.line:
	case t.of.tiled:
		return &k.dense[inTiles]
	case t.of.A.Col == 1:
		return &k.dense[inRows]
	}
	return &noTiles
}

var noTiles [mostRows + 1]func(*tile)

// wide runs tiles of few rows that may span several panels.
func (t *tile) wide(k *kernels, s stack) {
	b := &t.of
	group := k.panels(s.low)
	a, c := address(b.A.Data), address(b.C)
	groups, on := ceil(b.N, group*k.width), b.on()
	for i := range groups {
		at := turned(i, groups, b.Backwards) * group
		n, panel := at*k.width, t.panels(k, at, group)
		t.next, t.hop = t.after(at+on*group, i == groups-1), lineBytes
		row := 0
		for i := range s.tiles {
			height := s.height(i)
			t.a, t.origin = a+uintptr(row*t.row), b.origin(row)
			t.across(k, height, Range{n, min(n+group*k.width, b.N)}, panel, c+uintptr(row*t.ldc))
			row += height
			t.next += uintptr(t.hop * (b.K / hopSteps))
		}
		b.finish(n, min(b.N-n, group*k.width))
	}
}

// across runs tiles of one height over some columns; b is their first panel, c the
// first column of all in the row.
func (t *tile) across(k *kernels, height int, cols Range, b, c uintptr) {
	wide := k.panels(height)
	for n := cols.Lo; n < cols.Hi; {
		p := 1
		if cols.Hi-n > (wide-1)*k.width {
			p = wide
		}
		t.b, t.c, t.n = b, c+uintptr(n*floatBytes), min(cols.Hi-n, p*k.width)
		if t.of.Bias != nil {
			t.bias = address(t.of.Bias) + uintptr(n*floatBytes)
		}
		next, origin := t.next, t.origin
		t.count, t.down, t.fall = 1, 0, 0
		if t.of.terms == nil || !t.skip(k.sparse[p]) {
			k.tiles[height][p](t)
		}
		t.next, t.origin = next, origin
		n += p * k.width
		b += uintptr(p * t.panel)
	}
}
