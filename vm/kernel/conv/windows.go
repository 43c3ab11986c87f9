package conv

import "runtime"

// Windows are the argument of a kernel that sums up products of windows of planes, each
// by a filter of its own. It goes through planes, in them through groups of rows of
// places, and in these through blocks of eight places. Elements are read where they lie,
// or not at all where there is padding. Distances are in bytes; the generator of the
// kernels knows the offsets of the fields.
//
// Places in memory are numbers, not pointers, since they go on behind what there is, and
// are written without the garbage collector's knowledge; slide keeps the memory alive.
type windows struct {
	x, zeros, w, y uintptr // zeros: a row of padding
	xNext, yNext   int     // from one plane to the next
	line, pitch    int     // of rows of x, and of sums
	first, rows    int     // the row of x that the first place sees first, of so many
	groups         int     // of rows of places
	blocks         uintptr // of a row, the last first
	wide           int     // how many
	planes         int     // it goes down to 0

	seen [maxSeen]uintptr // rows of x, by the kernel
}

// maxSeen is how many rows a group of rows of places sees at most.
const maxSeen = 11

// windowKernels are functions by how many rows a group has.
type windowKernels struct{ four, two func(*windows) } // two: nil if there is none

// A windowBlock is eight places of a row, or what is left of them.
type windowBlock struct {
	col   int          // bytes from the beginning of a row to what the first place sees first
	to    int          // bytes from the beginning of a row of sums
	masks *[8][8]int32 // of registers that are loaded; nil: all of it is there
}

// A windowKind is a size of square windows and a step.
type windowKind struct{ size, step int }

// kind is that of a geometry's windows; ok is false if they have none.
func (g *geometry) kind() (k windowKind, ok bool) {
	r, c := g.rows, g.cols
	return windowKind{r.Size, r.Step}, len(g.outer) == 0 && r.Size == c.Size && r.Step == c.Step && r.Spread == 1 && c.Spread == 1
}

// loads lists the registers of eight that a row of windows is loaded into: floats behind
// what the first place sees first. By steps of two they are pairs, whose even elements are
// of one column and whose odd ones are of the next.
func (k windowKind) loads() (at []int) {
	for i := 0; i < k.size; i += k.step {
		at = append(at, i)
		if k.step == 2 {
			at = append(at, i+8)
		}
	}
	return at
}

// blocksOf lays out the blocks of a row of n places from the first one on, the last
// block first. It ends with the row and overlaps the one before; but of less than eight
// places it writes too much, which belongs to the next row and is written later.
func (k windowKind) blocksOf(a Axis, first, n int) []windowBlock {
	var list []windowBlock
	loads := k.loads()
	for end := roundUp(n, 8); end > 0; end -= 8 {
		at := max(0, min(end, n)-8)
		from := (first+at)*k.step - a.Before
		b := windowBlock{col: floatBytes * from, to: floatBytes * at}
		if from < 0 || from+loads[len(loads)-1]+8 > a.In {
			b.masks = masksOf(from, loads, a.In)
		}
		list = append(list, b)
	}
	return list
}

// masksOf choose what of registers from an element on lies in a row of n.
func masksOf(from int, loads []int, n int) *[8][8]int32 {
	var m [8][8]int32
	for i, load := range loads {
		for l := range 8 {
			if at := from + load + l; at >= 0 && at < n {
				m[i][l] = -1
			}
		}
	}
	return &m
}

// A windowing is how a thin convolution goes by windows.
type windowing struct {
	windowKernels
	blocks [][]windowBlock // by part of the columns
	zeros  []float32       // a row, and around it what masked loads leave out, which are slow where no memory is
}

// windowingOf finds the kernel of a thin convolution of one channel and one filter a
// group; there may be none.
func windowingOf(s *Shape, g *geometry, fast *kernels) (w windowing) {
	if kind, ok := g.kind(); ok && s.Channels == 1 && s.Filters == 1 {
		w.windowKernels = fast.windows[kind]
	}
	return w
}

// lay lays out the blocks of a grid.
func (w *windowing) lay(g *geometry, cols cut) {
	kind, _ := g.kind()
	w.blocks, w.zeros = nil, make([]float32, g.cols.In+2*slack)
	for i := range cols.parts() {
		first, n := cols.part(i)
		w.blocks = append(w.blocks, kind.blocksOf(g.cols, first, n))
	}
}

// rest is how many rows of a block are left for a group of two, which must not write more
// than that.
func (w *windowing) rest(b *Block) int {
	if b.rows%4 == 2 && b.cols >= 8 && w.two != nil {
		return 2
	}
	return 0
}

// slide sums up the products of a unit's windows: by fours of rows, of which the last may
// reach into the next plane, which is written later; and by two where so many are left.
func (t *Thin) slide(w *Work, b *Block, tile, x, filters []float32) {
	rest := t.windowing.rest(b)
	if n := b.rows - rest; n > 0 {
		t.see(w, b, 0, tile, x, filters)
		w.windows.groups = (n + 3) / 4
		t.windowing.four(&w.windows)
	}
	if rest > 0 {
		t.see(w, b, b.rows-rest, tile, x, filters)
		w.windows.groups = 1
		t.windowing.two(&w.windows)
	}
	runtime.KeepAlive(t)
	runtime.KeepAlive(tile)
	runtime.KeepAlive(x)
	runtime.KeepAlive(filters)
}

// see sets the argument of a kernel from a row of a unit's places on.
func (t *Thin) see(w *Work, b *Block, row int, tile, x, filters []float32) {
	g, p := &t.geo, &w.windows
	blocks := t.windowing.blocks[b.col/t.grid.cols.each]
	p.x, p.zeros = address(&x[(b.image*t.Groups+b.first)*g.inputs()]), address(&t.windowing.zeros[slack])
	p.w, p.y = address(&filters[b.first*t.depth]), address(&tile[row*b.cols])
	p.xNext, p.yNext = floatBytes*g.inputs(), floatBytes*t.ld
	p.line, p.pitch = floatBytes*g.cols.In, floatBytes*b.cols
	p.first, p.rows = (b.row+row)*g.rows.Step-g.rows.Before, g.rows.In
	p.blocks, p.wide, p.planes = address(&blocks[0]), len(blocks), b.last-b.first
}
