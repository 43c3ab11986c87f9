package conv

import "math"

// ScaledAt reports whether a convolution can multiply each channel of what it reads by a
// factor first, as squeezes and excitations have it: one by windows of one element, which
// then are not read where they lie, but staged as products.
func ScaledAt(s Shape) bool {
	for _, a := range s.Axes {
		if !a.still() {
			return false
		}
	}
	return s.Groups == 1 && s.Channels > 0 && !ThinAt(s)
}

// Scale lets the convolution, of which ScaledAt holds, multiply by Work.Factors, which has
// one for each image and channel. It has to be divided anew.
func (d *Dense) Scale() { d.scaled, d.direct = true, false }

// factorsRoom is how many floats the steps of an ending take that multiplies.
func (d *Dense) factorsRoom() int {
	if !d.scaled {
		return 0
	}
	return len(NoSteps) * d.factorsLd()
}

func (d *Dense) factorsLd() int { return roundUp(d.Channels, 8) + 8 }

// factorStep is the step of an ending that multiplies by one number a channel.
const factorStep = 2

// scale stages the products of a block, and room behind them for the steps: an ending of
// channels is all that a factor is.
func (d *Dense) scale(w *Work, b *Block, stage, x []float32) {
	steps, ld := stage[d.room.stage-d.factorsRoom():], d.factorsLd()
	for i, v := range NoSteps {
		fillWith(steps[i*ld:][:d.Channels], v)
	}
	copy(steps[factorStep*ld:], w.Factors[b.image*d.Channels:][:d.Channels])
	e := &w.factor
	e.steps, e.ld = steps, ld
	for i := range e.lo {
		e.lo[i], e.hi[i] = float32(math.Inf(-1)), float32(math.Inf(1))
	}
	t := Tile{Channels: d.Channels, Places: b.places(), Data: x[b.col:], Ld: d.geo.inputs()}
	t.end(w, d.level, e, stage, d.stage.channel, nil)
}
