package conv

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/gemm"
)

// A Work is what one part keeps between units.
type Work struct {
	Room []float32     // scratch memory: as much as the kernel's Room says
	Gemm *gemm.Scratch // of products
	// Plain are the filters as the operator has them, which Winograd takes besides packed
	// ones.
	Plain []float32
	// Factors are those of a Dense that multiplies by them.
	Factors []float32

	staged   Block // whose planes lie in the stage
	holds    bool  // whether any do
	bunches  bunches
	flats    flats
	ender    ender
	spreader spreader
	joiner   joiner
	windows  windows
	factor   Ending // of a factor for each channel
	seen     uint32 // of what near has read
	direct   *Work  // of what Winograd leaves to a direct convolution
}

// Begin makes it the work of a task that has not computed anything yet.
func (w *Work) Begin(room []float32, g *gemm.Scratch, plain []float32) {
	*w = Work{Room: room, Gemm: g, Plain: plain, direct: w.direct}
}

// Has reports whether the work has some memory, so that what it holds there is good
// still if nobody else has had it.
func (w *Work) Has(room []float32) bool {
	return len(room) == len(w.Room) && unsafe.SliceData(room) == unsafe.SliceData(w.Room)
}

// Compute computes unit number u. packed is what Pack has made, or w where Layout is
// empty. The tile is good until the next unit.
func (d *Dense) Compute(w *Work, u int, x, packed []float32) Tile {
	b := d.grid.block(u)
	room := w.Room
	stage, room := room[:d.room.stage], room[d.room.stage:]
	panel, room := room[:d.room.panel], room[d.room.panel:]
	tile, sums := room[:d.room.tile], room[d.room.tile:]
	octets, bunching := d.whole, &d.bunches[0]
	if b.places() != d.grid.rows.each*d.grid.cols.each {
		octets, bunching = d.rest, &d.bunches[1]
	}
	p := pass{d, w, b, octets, bunching, d.source(w, &b, stage, x), panel, tile, packed}
	t := Tile{
		Image: b.image, Channel: b.group*d.Filters + b.first, Channels: b.last - b.first,
		Place: (b.slice*d.geo.rows.Out+b.row)*d.geo.cols.Out + b.col, Places: b.places(),
		Data: tile, Ld: d.ld,
	}
	switch {
	case d.depth == 0:
		clear(tile)
	case d.single():
		p.single(sums)
		t.Data, t.Ld = sums, 1
	case d.turned:
		if d.bunched(b.places()) {
			p.inBunches(sums)
		} else {
			p.turned(sums)
		}
		t.spare, t.spareLd = tile, d.ld
		t.Data, t.Ld, t.turned = sums, d.turnedLd(), true
	default:
		p.upright()
	}
	return t
}

// source is what the places of a block see: x from the first one on, or what is
// staged of it.
func (d *Dense) source(w *Work, b *Block, stage, x []float32) *float32 {
	if d.depth == 0 {
		return nil
	}
	channel := d.geo.planes * d.geo.inputs()
	x = x[(b.image*d.Groups+b.group)*d.Channels*channel:]
	if d.direct {
		x = x[b.row*d.geo.cols.In+b.col:]
	}
	if !w.holds || !sameInput(&w.staged, b) {
		switch {
		case d.direct && d.shared && !d.single():
			w.near(x, d.Channels, d.geo.inputs(), d.geo.sees(b))
		case d.direct:
		case d.scaled:
			d.scale(w, b, stage, x)
		default:
			d.fill(b, stage, x)
		}
		w.staged, w.holds = *b, true
	}
	if d.direct {
		return &x[0]
	}
	return &stage[0]
}

// sameInput reports whether two blocks differ in filters only.
func sameInput(a, b *Block) bool {
	c := *a
	c.first, c.last = b.first, b.last
	return c == *b
}

// fill stages all planes of a block's group.
func (d *Dense) fill(b *Block, stage, x []float32) {
	size, channel := d.geo.inputs(), d.geo.planes*d.geo.inputs()
	for c := range d.Channels {
		for t, plane := range d.sources[b.slice*d.geo.outerTaps:][:d.geo.outerTaps] {
			var from []float32
			if plane >= 0 {
				from = x[c*channel+plane*size:][:size]
			}
			d.stage.put(stage[(c*d.geo.outerTaps+t)*d.stage.channel:], from, b)
		}
	}
}

// A pass is the computation of a block.
type pass struct {
	*Dense
	w                   *Work
	b                   Block
	octets              []octet
	bunching            *bunching
	src                 *float32
	panel, tile, packed []float32
}

// upright goes through k in steps that a panel holds, and in each through the places
// panel by panel.
func (p *pass) upright() {
	places, width := p.b.places(), p.wide()
	first := (p.b.group*p.Filters + p.b.first) * p.depth
	block := gemm.Block{
		M: p.b.last - p.b.first, Ldc: p.ld,
		B: gemm.Panels{Data: p.panel, Panel: gemm.Width(p.level), Line: width},
	}
	for k := 0; k < p.depth; k += p.deep {
		block.K, block.Add = min(p.deep, p.depth-k), k > 0
		block.A = gemm.Matrix{Data: p.packed[first+k:], Row: p.depth, Col: 1}
		for at := 0; at < places; at += width {
			block.N = min(width, places-at)
			p.layOut(p.panel, at, block.N, width, k, block.K)
			block.C = p.tile[at:]
			p.w.Gemm.Run(p.level, &block)
		}
	}
}

// layOut lays out n steps of k, line floats apart, for some places of the block.
// What belongs to no place keeps what is there.
func (p *pass) layOut(panel []float32, at, places, line, k, n int) {
	putAll(p.octets[at/8:(at+places+7)/8], p.fast, panel, 4*line, p.offsets[k:k+n], p.src)
}
