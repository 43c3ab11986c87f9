package conv

// A Block is a rectangle of places of one plane of y, for some of its filters: what
// one unit of work computes.
type Block struct {
	image, group, slice int // slice: which plane of the channels
	row, rows           int // of places
	col, cols           int
	first, last         int // of the filters of the group, or what the kernel counts in their stead
}

// places is how many the block has; they are neighbours in y.
func (b *Block) places() int { return b.rows * b.cols }

// A grid cuts a convolution into blocks: rectangles of places outside, so that what
// one of them has staged serves all its filters.
type grid struct {
	images, groups, slices int
	rows, cols             cut // of places
	filters                cut
}

// A cut parts n things into runs of each, the last of which may be shorter.
type cut struct{ n, each int }

func (c cut) parts() int { return (c.n + c.each - 1) / c.each }

// part is the run number i.
func (c cut) part(i int) (first, n int) {
	first = i * c.each
	return first, min(c.each, c.n-first)
}

// evenly cuts n things into parts of about the same size, at least one.
func evenly(n, parts int) cut {
	parts = max(parts, 1)
	return cut{n, max(1, (n+parts-1)/parts)}
}

// units is the number of blocks.
func (g *grid) units() int {
	return g.images * g.groups * g.slices * g.rows.parts() * g.cols.parts() * g.filters.parts()
}

// block is number i.
func (g *grid) block(i int) (b Block) {
	next := func(n int) int {
		r := i % n
		i /= n
		return r
	}
	var n int
	b.first, n = g.filters.part(next(g.filters.parts()))
	b.last = b.first + n
	b.col, b.cols = g.cols.part(next(g.cols.parts()))
	b.row, b.rows = g.rows.part(next(g.rows.parts()))
	b.slice, b.group, b.image = next(g.slices), next(g.groups), i
	return b
}

// A Tile is the sums of a unit, one for each place and each channel from Channel on of
// image Image. They belong at y[Image][Channel][Place], but those of a turned tile may be
// several Lines.
type Tile struct {
	Image, Channel, Place int
	Channels, Places      int

	// Data has rows of places, Ld floats apart, one for each channel; but if the tile is
	// turned, which Upright mends, rows of channels, one for each place.
	Data []float32
	Ld   int

	turned  bool
	spare   []float32 // room for the tile upright
	spareLd int

	lines int // of places, one behind the other in Data; 0: one
	step  int // places from one line to the next, in y
}

// Lines is how many tiles the tile is, of places that are neighbours.
func (t *Tile) Lines() int { return max(1, t.lines) }

// Line is number i of them. One has to be stored before the next is made upright.
func (t *Tile) Line(i int) Tile {
	l := *t
	l.lines, l.Place = 0, t.Place+i*t.step
	if l.turned {
		l.Data = t.Data[i*t.Places*t.Ld:]
	}
	return l
}

// Copy copies the tile, which is upright, into y, whose channels have size places.
func (t *Tile) Copy(y []float32, channels, size int) {
	to := y[(t.Image*channels+t.Channel)*size+t.Place:]
	for c := range t.Channels {
		copy(to[c*size:c*size+t.Places], t.Data[c*t.Ld:])
	}
}
