package attn

import "unsafe"

// Rows of heads that lie side by side are far apart, so that no processor brings them by
// itself, and each is read once. So tiles of weights, which have all they need in the
// caches, ask for the rows of what follows: queries and results of the next unit, and
// this unit's share of the keys and values of the next head. It may be another goroutine's
// to compute; then nothing is lost but the asking.

// askedBytes is how much of a row is asked for at a time. Fewer than fewKeys are there
// sooner than they would be asked for.
const askedBytes, fewKeys = 256, 64

// A region is rows of an operand that will be wanted, askedBytes of each.
type region struct {
	at        uintptr // the operand's first row
	row       int     // bytes from one to the next
	rows      int     // of the operand
	next, end int     // those that are wanted
}

// An outlook is the regions that will be wanted after a unit.
type outlook struct {
	regions []region
	first   int // that is not through
}

// after says what is wanted after unit u.
func (o *outlook) after(p *Plan, a *Args, u int) {
	o.regions, o.first = o.regions[:0], 0
	if p.T < fewKeys {
		return
	}
	if next := u + 1; next < p.Units() {
		head, first := next/p.blocks, next%p.blocks*p.queries
		end := min(first+p.queries, p.S)
		o.add(p, &a.Q, head/p.Heads, head%p.Heads, region{rows: p.S, next: first, end: end}, p.D)
		o.add(p, &a.Out, head/p.Heads, head%p.Heads, region{rows: p.S, next: first, end: end}, p.E)
	}
	each := p.blocks * (p.Heads / p.Groups) // units with the same keys and values
	if next := u/each + 1; next < p.Batch*p.Groups {
		first, end := p.T*(u%each)/each, p.T*(u%each+1)/each
		o.add(p, &a.K, next/p.Groups, next%p.Groups, region{rows: p.T, next: first, end: end}, p.D)
		o.add(p, &a.V, next/p.Groups, next%p.Groups, region{rows: p.T, next: first, end: end}, p.E)
	}
}

// add adds rows of an operand, if their floats lie side by side.
func (o *outlook) add(p *Plan, x *Operand, batch, head int, r region, cols int) {
	if x.Col != 1 {
		return
	}
	at, size := x.start(p)
	at += uintptr(size * x.at(batch, head, 0))
	r.row = size * x.Row
	for from := 0; from < size*cols; from += askedBytes {
		r.at = at + uintptr(from)
		o.regions = append(o.regions, r)
	}
}

// start is where an operand lies, and the bytes of one of its elements.
func (o *Operand) start(p *Plan) (at uintptr, size int) {
	if p.half != nil {
		return uintptr(unsafe.Pointer(unsafe.SliceData(o.Halves))), 2
	}
	return place(o.Data), 4
}

// take gives the place of n rows that are wanted, and their distance in bytes. Where a
// region has fewer left, its neighbours are asked for as well. If nothing is wanted it
// gives cached, a place that is in the caches.
func (o *outlook) take(n int, cached uintptr) (at uintptr, row int) {
	for ; o.first < len(o.regions); o.first++ {
		r := &o.regions[o.first]
		if r.next >= r.end || r.rows < n {
			continue
		}
		from := max(min(r.next, r.end-n), 0)
		r.next = from + n
		return r.at + uintptr(from*r.row), r.row
	}
	return cached, 0
}
