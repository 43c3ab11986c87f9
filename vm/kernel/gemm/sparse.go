package gemm

import (
	"math"
	"unsafe"
)

// Where A is one row, a product takes as long as reading B. A zero of A makes nothing of its
// row of B but zeros, if that has neither infinities nor NaN, so that the row need not be
// read. Half of what comes from a relu is zeros.

// A term is an element of A that is not zero.
type term struct {
	at    uint32 // bytes from the first row of a panel to the one that it meets
	value float32
}

// A listing is the terms of a piece of a row of A, for the columns that follow to find.
type listing struct {
	row   int
	ks    Range // none: there is no listing
	terms []term
	pays  bool // there are few enough terms
}

// leastZeros is the part of A that has to be zeros: one in so many. To list the terms of 512
// elements takes 0.4 us on an Emerald Rapids, as long as their products with 40 columns. From
// there on what is left out is gained, whichever cache has B.
const leastZeros = 8

// sparse are the terms of a block of one row, if it is worth it to leave the zeros out.
func (m *mul) sparse(rows, ks Range) []term {
	if m.p.Finite == nil || rows.len() != 1 || m.set.sparse[1] == nil || m.wide() < 4*m.set.width {
		return nil
	}
	line := m.set.width * floatBytes
	if m.b != given || m.p.Panels.Line*floatBytes != line || ks.len() > math.MaxUint32/line {
		return nil
	}
	l := &m.x.listed
	if l.ks != ks || l.row != rows.Lo {
		l.list(m.p.A.From(rows.Lo, ks.Lo), ks.len(), line)
		l.row, l.ks = rows.Lo, ks
	}
	if !l.pays || !m.p.Finite() {
		return nil
	}
	return l.terms
}

// list lists the terms of n elements, unless a few of them say that there are too many.
func (l *listing) list(a Matrix, n, line int) {
	l.pays = a.someZeros(n)
	if !l.pays {
		return
	}
	if cap(l.terms) < n {
		l.terms = make([]term, n)
	}
	l.terms = l.terms[:n]
	count := 0
	for i := range n {
		value := a.Data[i*a.Col]
		l.terms[count] = term{uint32(i * line), value}
		count += notZero(value)
	}
	l.terms = l.terms[:count]
	l.pays = n-count >= n/leastZeros
}

// glances is how many elements of a row are looked at before its terms are listed.
const glances = 64

// someZeros reports whether of some of a row's n elements, in equal steps, half as many are
// zeros as sparse asks for.
func (m Matrix) someZeros(n int) bool {
	step := max(n/glances, 1)
	zeros, seen := 0, 0
	for i := 0; i < n; i += step {
		zeros += 1 - notZero(m.Data[i*m.Col])
		seen++
	}
	return zeros >= max(seen/leastZeros/2, 1)
}

// notZero is 1 if a float is not 0 or -0, and else 0, without a branch: where zeros are, no
// processor foresees.
func notZero(f float32) int {
	b := math.Float32bits(f) << 1
	return int((b | -b) >> 31)
}

// Finite reports whether there are neither infinities nor NaN among floats.
func Finite(data []float32) bool {
	most := uint32(0)
	for _, f := range data {
		most = max(most, math.Float32bits(f)<<1)
	}
	return most < math.Float32bits(float32(math.Inf(1)))<<1
}

// skip computes a tile without the zeros, or reports that it must be computed with them: a sum
// has become -0, to which a zero may add +0.
func (t *tile) skip(run func(*tile)) bool {
	terms := t.of.terms
	a, k := t.a, t.k
	t.a, t.k = uintptr(unsafe.Pointer(unsafe.SliceData(terms))), len(terms)
	run(t)
	t.a, t.k = a, k
	return t.lost == 0
}
