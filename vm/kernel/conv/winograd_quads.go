package conv

// How the quads of a block lie once they are transformed. A row of quads has lanes, some
// of which may be of no quad: registers of eight quads, and of four at the end. Lanes lie
// in bands, all channels of a band one behind the other, so that those which a product
// reads for one bunch lie close together.

// A quadRow is a row of quads, or a part of one.
type quadRow struct {
	quads int // for which products are computed: those that there are, or all lanes
	runs  []laneRun
	at    []int // by quad: its lane
}

// A laneRun is groups of quads that are transformed by one call, in one band.
type laneRun struct {
	wide       bool
	lane       int // of the first
	lanes      int
	col        int // of x that the first sees first; it may lie in the padding
	first, end int // of what they see, from col on, what lies in x

	// masks choose elements of x among those that four registers of each group begin with:
	// from its first on, from its middle on, and from two behind both.
	masks []int32
}

// order8 is how the lanes of a wide group follow each other: pairs of the lower half and
// of the upper half in turns, as registers shuffle them.
var order8 = [8]int{0, 1, 4, 5, 2, 3, 6, 7}

// wideLanes is how many lanes of n quads are those of wide groups; a narrow one has four
// quads or less that are left.
func wideLanes(n int, fast *kernels) int {
	if fast.spreadWide == nil {
		return 0
	}
	return (n + 3) / 8 * 8
}

// lanesOf is how many lanes n quads have.
func lanesOf(n int, fast *kernels) int {
	wide := wideLanes(n, fast)
	return wide + roundUp(max(0, n-wide), 4)
}

// rowOf lays out n quads from the first on. Without kernels for bunches products are of all
// lanes of a row.
func (b banding) rowOf(cols Axis, first, n int, fast *kernels) quadRow {
	r, lanes, wide := quadRow{quads: n}, lanesOf(n, fast), wideLanes(n, fast)
	if fast.places == nil {
		lanes, r.quads = b.lanes, b.lanes
	}
	for at := 0; at < lanes; {
		end := min(lanes, (at/b.pitch+1)*b.pitch)
		if at < wide {
			end = min(end, wide)
		}
		r.runs = append(r.runs, runOf(cols, first, at, end-at, at < wide))
		at = end
	}
	for i := range r.quads {
		lane := i
		if i < wide {
			lane = i/8*8 + order8[i%8]
		}
		r.at = append(r.at, lane)
	}
	return r
}

// runOf is the run of some lanes of a row that begins with a quad.
func runOf(cols Axis, quad, lane, lanes int, wide bool) laneRun {
	r := laneRun{wide: wide, lane: lane, lanes: lanes, col: 2*(quad+lane) - cols.Before}
	r.first = min(max(0, -r.col), 2*lanes+2)
	r.end = max(r.first, min(2*lanes+2, cols.In-r.col))
	group := 4
	if wide {
		group = 8
	}
	for at := 0; at < lanes; at += group {
		for _, first := range [4]int{0, group, 2, group + 2} {
			for l := range group {
				mask := int32(0)
				if i := 2*at + first + l; i >= r.first && i < r.end {
					mask = -1
				}
				r.masks = append(r.masks, mask)
			}
		}
	}
	return r
}

// A banding says how rows of lanes are parted into bands: several rows each, or several
// bands a row.
type banding struct {
	pitch int // lanes
	rows  int // rows of one band
	per   int // bands of one row
	lanes int // of a row
}

// bandLanes is how many lanes a band has at most: so few that the elements of a bunch for
// one channel are close to those for the next, and what is read for one bunch serves the
// others from the first-level cache.
const bandLanes = 32

func bandingOf(lanes int) banding {
	if lanes <= bandLanes {
		rows := max(1, bandLanes/max(lanes, 1))
		return banding{roundUp(rows*lanes, 8), rows, 1, lanes}
	}
	per := (lanes + bandLanes - 1) / bandLanes
	return banding{roundUp((lanes+per-1)/per, 8), 1, per, lanes}
}

// count is how many bands some rows have.
func (b banding) count(rows int) int { return (rows + b.rows - 1) / b.rows * b.per }

// lane is the band of a lane of a row, and its place there.
func (b banding) lane(row, lane int) (band, at int) {
	if b.per > 1 {
		return row*b.per + lane/b.pitch, lane % b.pitch
	}
	return row / b.rows, row%b.rows*b.lanes + lane
}

// A quadBand is some quads of a block, in order.
type quadBand struct {
	first    int // of the block's
	bunching     // bytes are those from the band's first lane
}

// list makes the bands of a block of some rows.
func (b banding) list(r *quadRow, rows int, fast *kernels) []quadBand {
	all := make([]quadBand, b.count(rows))
	n := 0
	for row := range rows {
		for _, lane := range r.at {
			i, at := b.lane(row, lane)
			if len(all[i].lies) == 0 {
				all[i].first = n
			}
			all[i].lies = append(all[i].lies, floatBytes*at)
			n++
		}
	}
	for i := range all {
		all[i].bunching = bunchingOf(all[i].lies, fast)
	}
	return all
}
