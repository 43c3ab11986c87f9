package conv

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// Steps are what the sums of a channel go through: plus, minus, times, times, plus, in
// this order, each rounded. That is a bias and a norm by running statistics:
// ((sum + bias) - mean) * 1/root * weight + shift.
type Steps [5]float32

// NoSteps change nothing, not even the sign of a zero.
var NoSteps = Steps{float32(math.Copysign(0, -1)), 0, 1, 1, float32(math.Copysign(0, -1))}

// An Ending is what sums go through when they leave a tile: the steps of their
// channel, then a residual is added, then what is below Lo becomes Lo and what is above
// Hi becomes Hi. NaN and the sign of a zero stay.
type Ending struct {
	steps []float32 // one run of ld floats for each step; nil: there are none
	ld    int
	has   int // which steps change anything: hasBias, hasNorm
	lo    [8]float32
	hi    [8]float32
}

// Which steps an ending has.
const (
	hasBias = 1 << iota // the first
	hasNorm             // the others
)

// noEnding leaves sums as they are.
var noEnding = NewEnding(nil, float32(math.Inf(-1)), float32(math.Inf(1)))

// changes reports which steps change anything.
func (s *Steps) changes() (has int) {
	for i, v := range s {
		switch same := math.Float32bits(v) == math.Float32bits(NoSteps[i]); {
		case !same && i == 0:
			has |= hasBias
		case !same:
			has |= hasNorm
		}
	}
	return has
}

// NewEnding makes an ending of the steps of all channels, or of none.
func NewEnding(steps []Steps, lo, hi float32) *Ending {
	e := &Ending{}
	for i := range e.lo {
		e.lo[i], e.hi[i] = lo, hi
	}
	if steps == nil {
		return e
	}
	e.ld = roundUp(len(steps), 8) + 8
	e.steps = make([]float32, len(NoSteps)*e.ld)
	for i := range steps {
		e.has |= steps[i].changes()
	}
	for i := range NoSteps {
		for c, s := range steps {
			e.steps[i*e.ld+c] = s[i]
		}
	}
	return e
}

// Plain is whether sums stay as they are but for the residual.
func (e *Ending) plain() bool {
	return e.steps == nil && math.IsInf(float64(e.lo[0]), -1) && math.IsInf(float64(e.hi[0]), 1)
}

// An ender is the argument of a kernel that stores channels: eight of them, of which
// src has places one after another, or any number that lie as in dst. Distances are in
// bytes. The generator of the kernels knows the offsets of the fields.
type ender struct {
	src, dst, rest unsafe.Pointer // rest is nil if there is none
	from           int            // in src from one place to the next, or from one channel
	to             int            // from one channel of dst to the next, and of rest
	count          int            // blocks of eight places, or places
	rows           int            // channels
	steps          unsafe.Pointer // nil: there are none
	ld             int            // from one step to the next
	lo, hi         [8]float32

	edge [64]float32 // what is left of channels and places
}

// Store takes the tile to y, whose channels have size places. rest, if not nil, has a
// residual for each element of y, and may be y.
func (t *Tile) Store(w *Work, level isa.Level, e *Ending, y, rest []float32, channels, size int) {
	for i := range t.Lines() {
		l, from := t.Line(i), rest
		at := (l.Image*channels+l.Channel)*size + l.Place
		if from != nil {
			from = from[at:]
		}
		l.end(w, level, e, y[at:], size, from)
	}
}

// Upright makes the rows of a tile of one line channels, which go through the steps of the ending
// alone.
func (t *Tile) Upright(w *Work, level isa.Level, e *Ending) {
	switch {
	case t.turned:
		t.end(w, level, e, t.spare, t.spareLd, nil)
		t.Data, t.Ld, t.turned = t.spare, t.spareLd, false
	case !e.plain():
		t.end(w, level, e, t.Data, t.Ld, nil)
	}
}

// end takes the tile to dst, whose channels are ld floats apart.
func (t *Tile) end(w *Work, level isa.Level, e *Ending, dst []float32, ld int, rest []float32) {
	if t.Channels == 0 || t.Places == 0 {
		return
	}
	d := &w.ender
	d.src, d.dst, d.rest, d.steps = ptr(t.Data), ptr(dst), ptr(rest), nil
	d.from, d.to, d.ld, d.lo, d.hi = 4*t.Ld, 4*ld, 4*e.ld, e.lo, e.hi
	if e.steps != nil {
		d.steps = ptr(e.steps[t.Channel:])
	}
	k := of(level)
	switch {
	case t.turned:
		d.turned(k, t.Channels, t.Places)
	case t.Places >= 8:
		d.rows, d.count = t.Channels, t.Places
		k.endRows(d)
	case t.Places == 1 && t.Ld == 1 && ld == 1:
		for c := range t.Channels {
			d.put(c, 0, *at((*float32)(d.src), c))
		}
	default:
		for c := range t.Channels {
			d.shortRow(k, c, t.Places)
		}
	}
}

func ptr(s []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// past is what lies some bytes behind p, nil behind nil.
func past(p unsafe.Pointer, bytes int) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, bytes)
}

// turnedRoom is how many floats of places are turned at a time, all of their channels
// before the next places.
const turnedRoom = 4 << 10

// turned ends places that lie one after another.
func (d *ender) turned(k *kernels, channels, places int) {
	all := *d
	each := max(1, turnedRoom/(2*d.from)) * 8
	for at := 0; at < places; at += each {
		n := min(each, places-at)
		for c := 0; c < channels; c += 8 {
			high, whole := min(8, channels-c), n/8
			if high < 8 {
				whole = 0
			}
			if d.move(&all, c, at); whole > 0 {
				d.count = whole
				k.endTurned(d)
			}
			for p := 8 * whole; p < n; p += 8 {
				d.move(&all, c, at+p)
				d.corner(k, high, min(8, n-p))
			}
		}
	}
}

// move goes to a channel and a place of the whole.
func (d *ender) move(all *ender, channel, place int) {
	d.src = past(all.src, place*all.from+4*channel)
	d.dst, d.rest = past(all.dst, channel*all.to+4*place), past(all.rest, channel*all.to+4*place)
	d.steps = past(all.steps, 4*channel)
}

// corner ends a block that is not whole, by way of one that is.
func (d *ender) corner(k *kernels, channels, places int) {
	dst, to := d.dst, d.to
	if d.rest != nil {
		copyBlock(ptr(d.edge[:]), 32, d.rest, to, channels, places)
		d.rest = ptr(d.edge[:])
	}
	d.dst, d.to, d.count = ptr(d.edge[:]), 32, 1
	k.endTurned(d)
	copyBlock(dst, to, ptr(d.edge[:]), 32, channels, places)
	d.to = to
}

func copyBlock(dst unsafe.Pointer, to int, src unsafe.Pointer, from, rows, n int) {
	for r := range rows {
		copy(unsafe.Slice((*float32)(past(dst, r*to)), n), unsafe.Slice((*float32)(past(src, r*from)), n))
	}
}

// shortRow ends a channel of less than eight places that lie as in dst.
func (d *ender) shortRow(k *kernels, channel, places int) {
	all := *d
	row, rest := d.edge[:8], d.edge[8:16]
	d.src, d.dst, d.rows, d.count = ptr(row), ptr(row), 1, 8
	copyBlock(d.src, 0, past(all.src, channel*all.from), 0, 1, places)
	if d.rest != nil {
		d.rest = ptr(rest)
		copyBlock(d.rest, 0, past(all.rest, channel*all.to), 0, 1, places)
	}
	d.steps = past(all.steps, 4*channel)
	k.endRows(d)
	copyBlock(past(all.dst, channel*all.to), 0, ptr(row), 0, 1, places)
	d.src, d.dst, d.rest, d.steps = all.src, all.dst, all.rest, all.steps
}
