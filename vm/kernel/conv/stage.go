package conv

import "slices"

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
	pitch      int       // floats of a row
	plane      int       // floats of all rows of one pair of remainders
	channel    int       // floats of all that is staged of one plane of x
	blank      []float32 // a plane of padding
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
func newStage(sides [2]side, rows, cols int, fast *kernels) stage {
	s := stage{rows: sides[0], cols: sides[1], fast: fast}
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

// pad sets what padding is.
func (s *stage) pad(v float32) { s.blank = slices.Repeat([]float32{v}, s.plane) }

// put stages what the places of a block see of one plane of x; nil is a plane of
// padding. What lies behind the plane, up to slack, may be written too.
func (s *stage) put(dst, x []float32, b *Block) {
	rows, cols := b.rows+s.rows.reach, b.cols+s.cols.reach
	for _, r := range s.rows.rests {
		y, up, down := s.rows.inside(b.row, r, rows)
		for _, c := range s.cols.rests {
			q, left, right := s.cols.inside(b.col, c, cols)
			if up >= down || left >= right || x == nil {
				copy(dst[:s.plane], s.blank)
				dst = dst[s.plane:]
				continue
			}
			copy(dst[:up*s.pitch], s.blank)
			s.fast.rows(&dst[up*s.pitch], &x[y*s.cols.In+q], down-up, right-left,
				4*s.pitch, 4*s.rows.Step*s.cols.In, s.cols.Step, left, s.pitch-right, &s.blank[0])
			copy(dst[down*s.pitch:s.plane], s.blank)
			dst = dst[s.plane:]
		}
	}
}

// inside finds which of n staged elements, from a place on, of a remainder, are
// elements of x, and which is the first of them.
func (s *side) inside(place, rest, n int) (at, first, end int) {
	at = place*s.Step + rest - s.Before
	if at < 0 {
		first = (-at + s.Step - 1) / s.Step
		at += first * s.Step
	}
	if at < s.In {
		end = first + (s.In-at+s.Step-1)/s.Step
	}
	return at, first, min(end, n)
}
