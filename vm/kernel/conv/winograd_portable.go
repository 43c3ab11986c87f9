package conv

import "unsafe"

// spreadGo transforms groups of four quads; see spreader.
func spreadGo(s *spreader) {
	for c := range s.count {
		for lane := 0; lane < s.groups/floatBytes; lane += 4 {
			var d [4][10]float32
			first, end := max(0, s.first-2*lane), min(10, s.end-2*lane)
			for r := range d {
				if first < end {
					row := (*float32)(past(s.src[r], c*s.step[r]+s.from[r]+floatBytes*(2*lane+first)))
					copy(d[r][first:end], unsafe.Slice(row, end-first))
				}
			}
			for q := range 4 {
				spreadQuad(&d, 2*q, past(s.dst, c*s.to+floatBytes*(lane+q)), s.apart)
			}
		}
	}
}

// spreadQuad is Bᵗ·d·B of the elements from a column on, which it writes some bytes apart.
func spreadQuad(d *[4][10]float32, col int, to unsafe.Pointer, apart int) {
	var rows [4][4]float32
	for j := range 4 {
		rows[0][j], rows[1][j], rows[2][j], rows[3][j] = spreadFour(d[0][col+j], d[1][col+j], d[2][col+j], d[3][col+j])
	}
	for i := range rows {
		r := &rows[i]
		a, b, c, e := spreadFour(r[0], r[1], r[2], r[3])
		*(*float32)(past(to, (4*i+0)*apart)) = a
		*(*float32)(past(to, (4*i+1)*apart)) = b
		*(*float32)(past(to, (4*i+2)*apart)) = c
		*(*float32)(past(to, (4*i+3)*apart)) = e
	}
}

// spreadFour is Bᵗ times four elements.
func spreadFour(a, b, c, d float32) (float32, float32, float32, float32) {
	return a - c, b + c, c - b, b - d
}

// joinGo makes places of quads; see joiner.
func joinGo(j *joiner) {
	for n := range j.count {
		m := past(j.src, -n*points*j.width*floatBytes)
		to := past(j.dst, -2*n*j.ld)
		for f := range j.width {
			m, to := past(m, floatBytes*f), past(to, floatBytes*f)
			var rows [2][4]float32
			for i := range 4 {
				at := func(r int) float32 { return *(*float32)(past(m, (4*r+i)*j.width*floatBytes)) }
				rows[0][i], rows[1][i] = joinFour(at(0), at(1), at(2), at(3))
			}
			for r := range rows {
				a, b := joinFour(rows[r][0], rows[r][1], rows[r][2], rows[r][3])
				*(*float32)(past(to, r*j.line)) = a
				*(*float32)(past(to, r*j.line+j.ld)) = b
				if s := a + b; s-s != 0 {
					j.bad[0] = s - s
				}
			}
		}
	}
}

// joinFour is Aᵗ times four elements.
func joinFour(a, b, c, d float32) (float32, float32) { return a + b + c, b - c - d }
