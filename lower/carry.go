package lower

import "slices"

// A value that a loop carries has one place, that of the loop's result: a round finds
// it there, and leaves there what the next round is to find. Where nothing looks at
// the old value any more when the new one is made, or where the operator that makes it
// can compute in place, it is made there at once:
//
//	for t in 0..S carry h {        t0  %1 <- %h %w    reads the place
//	    h = tanh(h @ w)            t1  %h.1 <- %1     writes it, %1 too if it may
//	}
//
// Else the body makes it in its frame, and a copy ends the round.

// carryInPlace gives the results of a loop's body the places of the carried values.
func (p *Plan) carryInPlace(u *users) {
	for i := range p.carry {
		r := p.Root(p.Outputs[i].Buffer)
		b := &p.Buffers[r]
		if b.Space == Arena && b.First >= 0 && !b.Kept && p.isWhole(p.Outputs[i].Buffer) && p.isOver(i, r, u) {
			b.Space, b.Slot = Output, i
		}
	}
}

// isOver reports whether all who read carried value i are done when a buffer is first
// written, or the task that writes it can do so in the place of the value.
func (p *Plan) isOver(i, buffer int, u *users) bool {
	in := p.Inputs[1+i].Buffer // behind the counter
	first, readers := p.Buffers[buffer].First, u.of(in)
	switch {
	case p.Buffers[in].Last == forever || p.Buffers[in].Size != p.Buffers[buffer].Size:
		return false
	case len(readers) == 0 || int(readers[len(readers)-1]) < first:
		return true
	case int(readers[len(readers)-1]) > first || len(readers) > 1 && int(readers[len(readers)-2]) == first:
		return false
	}
	t := &p.Tasks[first]
	made := slices.Index(t.Out, buffer)
	return made >= 0 && p.canReplaceParameter(t, in, made)
}

// mayLieThere reports whether buffer a may have the place of out, as far as it is one
// of a carried value.
func (p *Plan) mayLieThere(a int, out *Buffer, u *users) bool {
	return p.carry == 0 || out.Space != Output || p.isOver(out.Slot, a, u)
}
