package gemm

// widenedSteps is how many columns of a tile's rows of halves are widened at a time: they stay
// in the first cache until they are turned.
const widenedSteps = 512

// toTiles copies rows of A to the order in which tiles read them. Halves become floats on the
// way, in small pieces, so that nothing but they and the copy passes through the caches.
func (m *mul) toTiles(to, a Matrix, rows, deep int) {
	if m.words > 1 {
		a.Col = 1
	}
	if a.halves == nil {
		m.set.packTiles(to.Data, a, rows, deep)
		return
	}
	s, row := m.set.stack(rows), 0
	for i := range s.tiles {
		h := s.height(i)
		for from := 0; from < deep; from += widenedSteps {
			n := min(widenedSteps, deep-from)
			some := Matrix{Data: floats(&m.x.wide, h*n), Row: n, Col: 1}
			m.toRows(some, a.From(row, from), h, n)
			m.set.packTile(to.Data[row*deep+from*h:][:h*n], some, h, n)
		}
		row += h
	}
}

// toRows makes floats of rows of n halves.
func (m *mul) toRows(to, a Matrix, rows, n int) {
	widen := m.p.format.widener()
	for i := range rows {
		widen(m.level, to.Data[i*to.Row:][:n], a.halves[i*a.Row:][:n])
	}
}
