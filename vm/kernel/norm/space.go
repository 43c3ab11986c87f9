package norm

import "github.com/npulang/npu/vm/kernel/isa"

// A Space is rows of N elements: element i of row (o, c) is at (o*N + i)*Inner + c.
type Space struct{ Outer, N, Inner int }

// Size is the number of elements.
func (s Space) Size() int { return s.Outer * s.N * s.Inner }

// Rows is the number of rows.
func (s Space) Rows() int { return s.Outer * s.Inner }

const (
	// short is the length from which on a row in one piece is computed as such.
	// Shorter ones are turned into columns, turned of them at a time.
	short  = 24
	turned = 64
	// piece is how many floats of columns are computed at a time, so that several
	// passes find them in the second cache, but no fewer columns than wide, or a quarter of
	// all if they are few: less of each row at a time is brought by none of the means that
	// foresee what is read, and costs more than further passes do.
	piece = 1 << 16
	wide  = 256
	// few is the number of columns below which long ones are computed as rows, one by
	// one: there is nothing to share among them. Those longer than lengthy are not, for
	// the memory that they would take on the way.
	few     = 8
	lengthy = 1 << 22
)

// columns reports whether rows are computed as columns.
func (s Space) columns() bool { return s.Inner != 1 || s.N < short }

// apart reports whether columns are gathered, and computed as rows.
func (s Space) apart() bool { return s.Inner > 1 && s.Inner < few && s.N >= turned && s.N <= lengthy }

// width is how many columns are computed at a time: whole lines of the cache.
func (s Space) width() int {
	if s.Inner == 1 {
		return turned
	}
	least := min(wide, max(s.Inner/4/16*16, 16))
	return min(max(piece/max(s.N, 1)/16*16, least), 1024)
}

// Units is how many pieces of work the space has, which are computed by themselves;
// see Map and Fold.
func (s Space) Units() int {
	switch {
	case s.Size() == 0 && s.N > 0:
		return 0
	case !s.columns():
		return s.Outer
	case s.Inner == 1:
		return (s.Outer + turned - 1) / turned
	}
	w := s.width()
	return s.Outer * ((s.Inner + w - 1) / w)
}

// A strip is some columns: element i of column c is x[at+i*step+c]. The first is the
// row with the number row.
type strip struct{ at, step, width, row int }

// strip is a unit of columns that lie side by side.
func (s Space) strip(unit int) strip {
	w := s.width()
	chunks := (s.Inner + w - 1) / w
	o, c := unit/chunks, unit%chunks*w
	return strip{at: o*s.N*s.Inner + c, step: s.Inner, width: min(w, s.Inner-c), row: o*s.Inner + c}
}

// Scratch is memory on the way, for one goroutine at a time. Its zero value is ready;
// it grows.
type Scratch struct {
	// Halt, if not nil, is asked between the pieces of long rows and columns whether to
	// leave them.
	Halt func() bool

	long    chopper
	turned  []float32
	floats  [4][]float32
	doubles [2][]float64
	places  []int32
	layout  Layout // of short rows that have been turned

	softmax    softmax
	logSoftmax logSoftmax
	length     length
	layer      layerNorm
	root       rootNorm
}

// float is buffer i with n floats of any values, double one of float64.
func (x *Scratch) float(i, n int) []float32 { return room(&x.floats[i], n) }

func (x *Scratch) double(i, n int) []float64 { return room(&x.doubles[i], n) }

func room[E any](buffer *[]E, n int) []E {
	if len(*buffer) < n {
		*buffer = make([]E, n)
	}
	return (*buffer)[:n]
}

// A mapping computes a row for a row.
type mapping interface {
	// row computes one in one piece. dst may be x.
	row(l *loops, x *Scratch, dst, src []float32)
	// columns computes columns of n elements, step apart.
	columns(l *loops, x *Scratch, dst, src []float32, n int, s strip)
}

// run computes units lo to before hi.
func (x *Scratch) run(level isa.Level, s Space, lo, hi int, dst, src []float32, f mapping) {
	l := at(level)
	if x.begin(); s.N == 0 {
		return
	}
	whole := x.rows(l, s.N)
	for u := lo; u < hi; u++ {
		switch {
		case !s.columns():
			at := u * s.N
			f.row(whole, x, dst[at:at+s.N], src[at:at+s.N])
		case s.Inner == 1:
			x.short(l, s, u, dst, src, f)
		case s.apart():
			x.apart(whole, s, u, dst, src, f)
		default:
			f.columns(l, x, dst, src, s.N, s.strip(u))
		}
	}
}

// short computes a unit of rows in one piece as columns.
func (x *Scratch) short(l *loops, s Space, unit int, dst, src []float32, f mapping) {
	rows := min(turned, s.Outer-unit*turned)
	t := room(&x.turned, turned*s.N)
	at := unit * turned * s.N
	l.turn(t, turned, src[at:], s.N, rows, s.N)
	f.columns(l, x, t, t, s.N, strip{step: turned, width: rows})
	l.turn(dst[at:at+rows*s.N], s.N, t, turned, s.N, rows)
}

// apart computes a unit of few long columns one by one.
func (x *Scratch) apart(l *loops, s Space, unit int, dst, src []float32, f mapping) {
	row := room(&x.turned, s.N)
	for c := range s.Inner {
		at := unit*s.N*s.Inner + c
		for first, end := range x.spans(s.N, 1) {
			for i := first; i < end; i++ {
				row[i] = src[at+i*s.Inner]
			}
		}
		f.row(l, x, row, row)
		for first, end := range x.spans(s.N, 1) {
			for i := first; i < end; i++ {
				dst[at+i*s.Inner] = row[i]
			}
		}
	}
}
