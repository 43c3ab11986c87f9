package conv

import (
	"runtime"
	"slices"
	"unsafe"
)

// Windows are the argument of a kernel that sums up products of windows of planes, each
// by a filter of its own, or finds their largest elements. It goes through planes, in them
// through groups of rows of places, and in these through blocks of a register of places.
// Elements are read where they lie, or not at all where there is padding. Distances are in
// bytes; the generator of the kernels knows the offsets of the fields.
//
// Places in memory are numbers, not pointers, since they go on behind what there is, and
// are written without the garbage collector's knowledge; slide keeps the memory alive.
type windows struct {
	x, blank, w, y uintptr // blank: a row of padding
	xNext, yNext   int     // from one plane to the next
	line, pitch    int     // of rows of x, and of sums
	first, rows    int     // the row of x that the first place sees first, of so many
	groups         int     // of rows of places
	blocks         uintptr // of a row, the last first
	wide           int     // how many
	planes         int     // it goes down to 0
	back, backY    int     // rows of x, and bytes of sums, that the last of several groups goes back
	ahead          int     // bytes from a row to that which the next group sees in its stead

	steps  uintptr // of the first plane's channel
	ld     int     // from one step to the next
	has    int     // which steps there are
	lo, hi [8]float32
	with   [len(NoSteps)][8]float32 // the steps of a plane

	seen [maxSeen]uintptr // rows of x, by the kernel
}

// maxSeen is how many rows a group of rows of places sees at most: seven rows by windows of
// five elements, two apart.
const maxSeen = 17

// windowKernels are the functions of a kind of windows.
type windowKernels struct {
	lanes int  // places of a block
	exact bool // nothing is written behind the places of a row

	groups []windowGroup // by how many rows they have, most first; nil: there are none
	rests  []windowGroup // for so many rows that are left of groups

	half *windowKernels // for rows of no more than half as many places; nil: these
}

// A windowGroup is a function for groups of some rows of places.
type windowGroup struct {
	rows int
	run  func(*windows)
}

// A windowBlock is a register of places of a row, or what is left of them.
type windowBlock struct {
	col   int          // bytes from the beginning of a row to what the first place sees first
	to    int          // bytes from the beginning of a row of sums
	masks *[8][8]int32 // of registers that are loaded; nil: all of it is there
	bits  [8]uint16    // of an exact block: lanes of registers that are loaded, and behind them those of places
}

// A windowKind is a size of square windows and a step.
type windowKind struct{ size, step int }

// kind is that of a geometry's windows; ok is false if they have none.
func (g *geometry) kind() (k windowKind, ok bool) {
	r, c := g.rows, g.cols
	return windowKind{r.Size, r.Step}, len(g.outer) == 0 && r.Size == c.Size && r.Step == c.Step && r.Spread == 1 && c.Spread == 1
}

// loads lists the registers of some lanes that a row of windows is loaded into: floats
// behind what the first place sees first. By steps of two they are pairs, whose even elements
// are of one column and whose odd ones are of the next.
func (k windowKind) loads(lanes int) (at []int) {
	for i := 0; i < k.size; i += k.step {
		at = append(at, i)
		if k.step == 2 {
			at = append(at, i+lanes)
		}
	}
	return at
}

// blocksOf lays out the blocks of a row of n places from the first one on, the last
// block first, unless they go by pairs. It ends with the row and overlaps the one before; but of
// less than eight places it writes too much, which belongs to the next row and is written later.
func (k windowKind) blocksOf(a Axis, first, n int) []windowBlock {
	var list []windowBlock
	loads := k.loads(8)
	for end := roundUp(n, 8); end > 0; end -= 8 {
		at := max(0, min(end, n)-8)
		from := (first+at)*k.step - a.Before
		b := windowBlock{col: floatBytes * from, to: floatBytes * at}
		if from < 0 || from+loads[len(loads)-1]+8 > a.In {
			b.masks = masksOf(from, loads, a.In)
		}
		list = append(list, b)
	}
	if k.size > 3 {
		pair(list)
	}
	return list
}

// exactBlocksOf is blocksOf for kernels that store some lanes of a register only.
func (k windowKind) exactBlocksOf(a Axis, first, n, lanes int) []windowBlock {
	var list []windowBlock
	loads := k.loads(lanes)
	for at := 0; at < n; at += lanes {
		from := (first+at)*k.step - a.Before
		b := windowBlock{col: floatBytes * from, to: floatBytes * at}
		for i, load := range loads {
			b.bits[i] = bitsOf(-from-load, a.In-from-load)
		}
		b.bits[len(loads)] = bitsOf(0, n-at)
		list = append(list, b)
	}
	return list
}

// bitsOf has the bits from one to the one before another.
func bitsOf(first, end int) uint16 {
	first, end = max(first, 0), max(end, 0)
	return uint16(1<<min(end, 16)-1) &^ uint16(1<<min(first, 16)-1)
}

// pair brings blocks with masks together, for kernels that take two of a kind: those at
// both ends of a row.
func pair(list []windowBlock) {
	slices.SortStableFunc(list, func(a, b windowBlock) int {
		switch {
		case (a.masks == nil) == (b.masks == nil):
			return 0
		case a.masks == nil:
			return 1
		}
		return -1
	})
	for i := 1; i < len(list); i += 2 {
		if a, b := &list[i-1], &list[i]; a.masks != nil && b.masks == nil {
			b.masks = &wholeMasks
		}
	}
}

// wholeMasks choose all.
var wholeMasks = func() (m [8][8]int32) {
	for i := range m {
		for l := range m[i] {
			m[i][l] = -1
		}
	}
	return m
}()

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
	geo    *geometry
	cols   cut             // of places
	blocks [][]windowBlock // by part of the columns
	blank  []float32       // a row of padding, and around it what masked loads leave out, which are slow where no memory is
}

// windowingOf finds the kernel of planes with filters of their own, or without any, among
// those of a level; there may be none.
func windowingOf(g *geometry, of map[windowKind]windowKernels) (w windowing) {
	w.geo = g
	if kind, ok := g.kind(); ok {
		w.windowKernels = of[kind]
		if h := w.half; h != nil && g.cols.Out <= h.lanes {
			w.windowKernels = *h
		}
	}
	return w
}

// there reports whether there is one.
func (w *windowing) there() bool { return len(w.groups) > 0 }

// lay lays out the blocks of a row that is cut, and says what padding is.
func (w *windowing) lay(cols cut, padding float32) {
	g := w.geo
	kind, _ := g.kind()
	w.cols, w.blocks, w.blank = cols, nil, slices.Repeat([]float32{padding}, g.cols.In+2*slack)
	for i := range cols.parts() {
		first, n := cols.part(i)
		if w.exact {
			w.blocks = append(w.blocks, kind.exactBlocksOf(g.cols, first, n, w.lanes))
		} else {
			w.blocks = append(w.blocks, kind.blocksOf(g.cols, first, n))
		}
	}
}

// parted is the groups that n rows of a block go by: those of one size, and behind them one
// for just as many rows as are left, if there is such a one; else rest.rows is 0. They are
// those that compute the fewest rows, some of them twice, a group counting as groupCost more.
// Rows that are narrow have no rest, which must not write more than its own.
func (w *windowing) parted(n int, narrow bool) (most, rest windowGroup) {
	least := 0
	try := func(g, r windowGroup) {
		groups := (n - r.rows + g.rows - 1) / g.rows
		if cost := groups*(g.rows+groupCost) + r.rows; least == 0 || cost < least {
			most, rest, least = g, r, cost
		}
	}
	for i, g := range w.groups {
		if g.rows > n && i < len(w.groups)-1 {
			continue
		}
		try(g, windowGroup{})
		for _, r := range w.rests {
			if n%g.rows == r.rows && !narrow {
				try(g, r)
			}
		}
	}
	return most, rest
}

// groupCost is what a group takes beside its rows, in rows.
const groupCost = 1

// straight reports whether a block goes by windows that write nothing behind its places.
func (w *windowing) straight(b *Block) bool {
	if !w.there() || w.narrow(b) {
		return false
	}
	most, rest := w.parted(b.rows, false)
	return b.rows >= most.rows || b.rows == rest.rows
}

// narrow reports whether the rows of a block are so short that more is written behind them.
func (w *windowing) narrow(b *Block) bool { return !w.exact && b.cols < w.lanes }

// ending sets what sums go through, from a channel on; nil leaves them as they are.
func (p *windows) ending(e *Ending, channel int) {
	if e == nil {
		e = noEnding
	}
	p.has, p.ld, p.lo, p.hi = e.has, floatBytes*e.ld, e.lo, e.hi
	if e.has != 0 {
		p.steps = address(&e.steps[channel])
	}
}

// Planes are what a unit's windows go through, from its first one on: planes of x, and where
// their sums go by way of an ending, planes of ld floats in rows of pitch.
type planes struct {
	x, filters []float32 // nil: there are no filters
	end        *Ending
	channel    int // of the ending
	to         []float32
	ld, pitch  int
}

// slide goes through a unit's windows by groups of rows, of which the last ones may be
// computed twice. Of fewer rows than a group has, what is written behind them is of no use.
func (w *windowing) slide(p *windows, b *Block, of *planes) {
	most, rest := w.parted(b.rows, w.narrow(b))
	if n := b.rows - rest.rows; n > 0 {
		w.see(p, b, 0, most.rows, of)
		p.groups = (n + most.rows - 1) / most.rows
		if back := most.rows*p.groups - n; n >= most.rows {
			p.back, p.backY = back*w.geo.rows.Step, back*p.pitch
		}
		most.run(p)
	}
	if rest.rows > 0 {
		w.see(p, b, b.rows-rest.rows, rest.rows, of)
		p.groups = 1
		rest.run(p)
	}
	runtime.KeepAlive(w)
	runtime.KeepAlive(of)
}

// see sets the argument of a kernel for rows at a time, from a row of a unit's places on.
func (w *windowing) see(p *windows, b *Block, row, rows int, of *planes) {
	g := w.geo
	blocks := w.blocks[b.col/w.cols.each]
	p.x, p.blank = address(&of.x[0]), address(&w.blank[slack])
	p.w, p.y = address(unsafe.SliceData(of.filters)), address(&of.to[row*of.pitch])
	p.xNext, p.yNext = floatBytes*g.inputs(), floatBytes*of.ld
	p.line, p.pitch = floatBytes*g.cols.In, floatBytes*of.pitch
	p.first, p.rows = (b.row+row)*g.rows.Step-g.rows.Before, g.rows.In
	p.blocks, p.wide, p.planes = address(&blocks[0]), len(blocks), b.last-b.first
	p.back, p.backY, p.ahead = 0, 0, p.line*rows*g.rows.Step
	p.ending(of.end, of.channel)
}
