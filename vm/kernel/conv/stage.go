package conv

import "unsafe"

// A stage is how planes of the input lie in scratch memory: with the padding around
// them, and parted by the remainders of the strides.
//
//	stride 2, padding 1, a row a b c d e f      =>   0 b d f
//	                                                 a c e 0
//
// Place p sees tap t in the row of the remainder of t*spread by the stride, at
// p + t*spread/stride.
type stage struct {
	rows, cols side
	most       int // rows of places in a block, at most
	wide       int // columns of places in a block, at most
	pitch      int // floats of a row
	plane      int // floats of all rows of one pair of remainders
	channel    int // floats of all that is staged of one plane of x
	fill       float32
	fast       *kernels
}

// A side is one axis of a stage.
type side struct {
	Axis
	rests []int // the remainders that taps have, ascending
	part  []int // by tap: the index of its remainder
	shift []int // by tap: how many places on it lies
	reach int   // the largest shift
}

func sideOf(a Axis) side {
	s := side{Axis: a, part: make([]int, a.Size), shift: make([]int, a.Size)}
	index := map[int]int{}
	for rest := range a.Step {
		for t := range a.Size {
			if t*a.Spread%a.Step == rest {
				index[rest] = len(s.rests)
				s.rests = append(s.rests, rest)
				break
			}
		}
	}
	for t := range a.Size {
		s.part[t] = index[t*a.Spread%a.Step]
		s.shift[t] = t * a.Spread / a.Step
		s.reach = max(s.reach, s.shift[t])
	}
	return s
}

// newStage lays out blocks of at most rows times cols places.
func newStage(sides [2]side, rows, cols int, fill float32, fast *kernels) stage {
	s := stage{rows: sides[0], cols: sides[1], most: rows, wide: cols, fill: fill, fast: fast}
	s.pitch = cols + s.cols.reach
	s.plane = (rows + s.rows.reach) * s.pitch
	s.channel = len(s.rows.rests) * len(s.cols.rests) * s.plane
	return s
}

// tap is how far behind the first place of a channel the tap of a row and column
// of the window lies, in floats.
func (s *stage) tap(row, col int) int {
	part := s.rows.part[row]*len(s.cols.rests) + s.cols.part[col]
	return part*s.plane + s.rows.shift[row]*s.pitch + s.cols.shift[col]
}

// put stages what the places of a block see of one plane of x; nil is a plane of
// padding.
func (s *stage) put(dst, x []float32, b *Block) {
	rows, cols := b.rows+s.rows.reach, b.cols+s.cols.reach
	for _, r := range s.rows.rests {
		for _, c := range s.cols.rests {
			at := dst[:s.plane]
			dst = dst[s.plane:]
			y := b.row*s.rows.Step + r - s.rows.Before
			for range rows {
				line := at[:cols]
				if at = at[min(s.pitch, len(at)):]; y < 0 || y >= s.rows.In || x == nil {
					s.blank(line)
				} else {
					s.line(line, x[y*s.cols.In:(y+1)*s.cols.In], b.col*s.cols.Step+c-s.cols.Before)
				}
				y += s.rows.Step
			}
		}
	}
}

func (s *stage) blank(line []float32) {
	for i := range line {
		line[i] = s.fill
	}
}

// line copies every Step-th element of x from q on, padding outside.
func (s *stage) line(dst, x []float32, q int) {
	step := s.cols.Step
	before := 0
	if q < 0 {
		before = min((-q+step-1)/step, len(dst))
		s.blank(dst[:before])
		q += before * step
	}
	n := 0
	if q < len(x) {
		n = min((len(x)-q+step-1)/step, len(dst)-before)
		strided(s.fast, dst[before:before+n], x[q:], step)
	}
	s.blank(dst[before+n:])
}

// strided copies every step-th element of x.
func strided(fast *kernels, dst, x []float32, step int) {
	switch {
	case step == 1:
		copy(dst, x)
		return
	case step == 2 && fast.evens != nil:
		if n := min(len(x)/16, len(dst)/8); n > 0 {
			fast.evens(unsafe.SliceData(dst), unsafe.SliceData(x), n)
			dst, x = dst[8*n:], x[min(16*n, len(x)):]
		}
	}
	for i := range dst {
		dst[i] = x[i*step]
	}
}
