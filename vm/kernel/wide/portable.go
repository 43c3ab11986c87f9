package wide

import "unsafe"

// portable are the kernels in Go. A product of floats is rounded before it is added, on every
// machine.
var portable = [kinds]*kernels{f64: inGo[float64](), i32: inGo[int32](), i64: inGo[int64]()}

// goWidth is how many columns they have: as many sums for two rows as the registers of amd64
// hold beside a row of B.
const goWidth = 4

func inGo[E Element]() *kernels {
	return &kernels{width: goWidth, dots: dots[E], tiles: []func(*tile){
		func(t *tile) { row[E](t, 1, 0) },
		func(t *tile) { rows[E](t, 2, 0) },
		func(t *tile) { rows[E](t, 3, 0); row[E](t, 3, 2) },
		func(t *tile) { rows[E](t, 4, 0); rows[E](t, 4, 2) },
	}}
}

// element is what lies some bytes behind a place.
func element[E Element](p unsafe.Pointer, off int) E { return *(*E)(unsafe.Add(p, off)) }

// four are the elements of a row of B or C.
func four[E Element](p unsafe.Pointer, off int) *[goWidth]E {
	return (*[goWidth]E)(unsafe.Add(p, off))
}

// row computes row i of a tile of some height. The conversions keep Go from fusing product
// and sum.
func row[E Element](t *tile, height, i int) {
	var e E
	size := int(unsafe.Sizeof(e))
	c := four[E](t.c, i*t.ldc)
	var s [goWidth]E
	if t.add != 0 {
		s = *c
	}
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for k := range t.k {
		x, b := element[E](t.a, (k*height+i)*size), four[E](t.b, k*t.line)
		s0 += E(x * b[0])
		s1 += E(x * b[1])
		s2 += E(x * b[2])
		s3 += E(x * b[3])
	}
	*c = [goWidth]E{s0, s1, s2, s3}
}

// rows computes rows i and i+1.
func rows[E Element](t *tile, height, i int) {
	var e E
	size := int(unsafe.Sizeof(e))
	c, d := four[E](t.c, i*t.ldc), four[E](t.c, (i+1)*t.ldc)
	var s, r [goWidth]E
	if t.add != 0 {
		s, r = *c, *d
	}
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	r0, r1, r2, r3 := r[0], r[1], r[2], r[3]
	for k := range t.k {
		at, b := (k*height+i)*size, four[E](t.b, k*t.line)
		x, y := element[E](t.a, at), element[E](t.a, at+size)
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		s0 += E(x * b0)
		s1 += E(x * b1)
		s2 += E(x * b2)
		s3 += E(x * b3)
		r0 += E(y * b0)
		r1 += E(y * b1)
		r2 += E(y * b2)
		r3 += E(y * b3)
	}
	*c, *d = [goWidth]E{s0, s1, s2, s3}, [goWidth]E{r0, r1, r2, r3}
}
