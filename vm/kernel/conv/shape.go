package conv

// A Shape is what a convolution computes: y [Images, Groups*Filters, out...] of
// x [Images, Groups*Channels, in...] and w [Groups*Filters, Channels, size...].
type Shape struct {
	Images   int
	Groups   int
	Channels int    // of x, in each group
	Filters  int    // in each group
	Axes     []Axis // the spatial ones, outermost first; at least one
}

// An Axis is the way of a window along one axis.
type Axis struct {
	In, Out int // elements of x, places
	Size    int // of the window, in elements
	Step    int // from one place to the next
	Spread  int // from one element of the window to the next
	Before  int // elements of padding before x
	Behind  int // and behind it; only means over padding ask for it
}

// still reports whether the window does not move against its place, so that the
// axis could as well be a part of its neighbour.
func (a Axis) still() bool {
	return a.Size == 1 && a.Step == 1 && a.Before == 0 && a.In == a.Out
}

// inside reports whether each place sees its element of the input and no padding,
// and places are as far from each other as elements.
func (a Axis) inside() bool {
	return a.Step == 1 && a.Before == 0 && a.Out+(a.Size-1)*a.Spread <= a.In
}

// A Geometry is a shape's axes in the form that kernels use: rows and columns, and
// any number of axes outside of them.
type geometry struct {
	outer      []Axis
	rows, cols Axis
	planes     int // of x in a channel: the product of In of outer
	slices     int // of y in a channel: the product of Out of outer
	outerTaps  int // the product of Size of outer
}

func geometryOf(axes []Axis) geometry {
	axes = joined(axes)
	if len(axes) == 1 {
		axes = append([]Axis{{1, 1, 1, 1, 1, 0, 0}}, axes...)
	}
	n := len(axes)
	g := geometry{axes[:n-2], axes[n-2], axes[n-1], 1, 1, 1}
	for _, a := range g.outer {
		g.planes *= a.In
		g.slices *= a.Out
		g.outerTaps *= a.Size
	}
	return g
}

// joined makes one axis of still neighbours: a convolution by windows of one
// element has a single axis.
func joined(axes []Axis) []Axis {
	var out []Axis
	for _, a := range axes {
		if n := len(out); n > 0 && a.still() && out[n-1].still() {
			out[n-1].In *= a.In
			out[n-1].Out = out[n-1].In
			continue
		}
		out = append(out, a)
	}
	return out
}

// taps is how many elements the window has in rows and columns.
func (g *geometry) taps() int { return g.rows.Size * g.cols.Size }

// inputs is the elements of a plane of x, places those of a plane of y.
func (g *geometry) inputs() int { return g.rows.In * g.cols.In }
func (g *geometry) places() int { return g.rows.Out * g.cols.Out }

// plane finds which plane of a channel of x the outer tap t sees at the outer place
// p: -1 if it is padding.
func (g *geometry) plane(p, t int) int {
	plane, stride := 0, 1
	for i := len(g.outer) - 1; i >= 0; i-- {
		a := g.outer[i]
		q := a.sees(p%a.Out, t%a.Size)
		if q < 0 || q >= a.In {
			return -1
		}
		plane += q * stride
		stride *= a.In
		p, t = p/a.Out, t/a.Size
	}
	return plane
}

// empty reports whether y has no element.
func (s *Shape) empty() bool {
	n := s.Images * s.Groups * s.Filters
	for _, a := range s.Axes {
		n *= a.Out
	}
	return n == 0
}

// sources lists, by slice and outer tap, which plane of a channel of x is seen.
func (g *geometry) sources() []int {
	list := make([]int, 0, g.slices*g.outerTaps)
	for p := range g.slices {
		for t := range g.outerTaps {
			list = append(list, g.plane(p, t))
		}
	}
	return list
}

// element is where in its plane lies what a place sees by a tap of rows and columns;
// ok is false if it is padding.
func (g *geometry) element(row, col, r, c int) (at int, ok bool) {
	y, x := g.rows.sees(row, r), g.cols.sees(col, c)
	return y*g.cols.In + x, y >= 0 && y < g.rows.In && x >= 0 && x < g.cols.In
}

// sees is which element of the axis a place sees by a tap; outside of it is padding.
func (a Axis) sees(place, tap int) int { return place*a.Step + tap*a.Spread - a.Before }
