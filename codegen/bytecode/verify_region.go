package bytecode

import "slices"

// A region is, for the function around it, one instruction: it reads what its
// bodies read, and writes their frames and what they write. What they do
// inside is checked with each body.

// region checks the touches of an instruction with bodies, and returns which
// of the outer buffers were written before. A body that runs once may write over
// what it reads: each of its instructions is checked.
func (f *flow) region(pl place, bodies ...int) (before map[int]bool, err error) {
	reads, writes, frames := f.touched(bodies)
	before = map[int]bool{}
	for _, b := range writes {
		before[b] = f.holds(b)
	}
	for _, b := range reads {
		// What is carried is both read and written, on purpose.
		_, carried := slices.BinarySearch(writes, b)
		if err := f.readAs(pl, b, !carried); err != nil {
			return nil, err
		}
	}
	for _, b := range writes {
		if err := f.storeAs(pl, b, f.v.instr(pl).Op != Loop); err != nil {
			return nil, err
		}
	}
	for _, b := range frames {
		if err := f.store(pl, b); err != nil {
			return nil, err
		}
	}
	return before, nil
}

// touched unites what the bodies declare, each buffer once.
func (f *flow) touched(bodies []int) (reads, writes, frames []int) {
	for _, body := range bodies {
		if body == NoBody {
			continue
		}
		g := &f.v.p.Functions[body]
		reads = append(reads, g.Reads...)
		writes = append(writes, g.Writes...)
		if g.Frame >= 0 {
			frames = append(frames, g.Frame)
		}
	}
	return once(reads), once(writes), once(frames)
}

func once(list []int) []int {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

func (f *flow) branch(pl place, in *Instr) error {
	if err := f.read(pl, in.In[0]); err != nil {
		return err
	}
	if _, err := f.region(pl, in.Bodies...); err != nil {
		return err
	}
	for _, body := range in.Bodies {
		f.work = append(f.work, task{fn: body, enter: f.v.p.Functions[body].Reads})
	}
	return nil
}

func (f *flow) call(pl place, in *Instr) error {
	_, err := f.region(pl, in.Bodies...)
	body := in.Bodies[0]
	f.work = append(f.work, task{fn: body, enter: f.v.p.Functions[body].Reads})
	return err
}

// loops checks a loop. What its body writes outside must be there before the
// first round, since there may be none, or be stored row by row.
func (f *flow) loops(pl place, in *Instr) error {
	before, err := f.region(pl, in.Bodies...)
	if err != nil {
		return err
	}
	body := &f.v.p.Functions[in.Bodies[0]]
	rows := map[int]bool{}
	for _, x := range body.Streams[0].Code {
		if x.Op == Row {
			rows[x.Out[0]] = true
		}
	}
	enter := slices.Clone(body.Reads)
	for _, b := range body.Writes {
		switch {
		case before[b]:
			enter = append(enter, b)
		case !rows[b]:
			return f.v.fault(pl, "leaves %s unwritten when there is no round", f.v.label(b))
		}
	}
	if !f.inFrame(in.Out[0], in.Bodies[0]) {
		return f.v.fault(pl, "counts in %s, which lies outside of the body's frame", f.v.label(in.Out[0]))
	}
	enter = append(enter, in.Out[0])
	f.work = append(f.work, task{fn: in.Bodies[0], loop: in, enter: enter})
	if in.hasCond() {
		cond := &f.v.p.Functions[in.Bodies[1]]
		f.work = append(f.work, task{fn: in.Bodies[1], enter: cond.Reads, leave: in.In})
	}
	return nil
}

// inFrame reports whether b is a buffer of its own in the frame of a body.
func (f *flow) inFrame(b, body int) bool {
	frame := f.v.p.Functions[body].Frame
	if frame < 0 || f.v.p.Buffers[b].Base >= 0 || f.v.p.Buffers[b].Space != ArenaSpace {
		return false
	}
	x, g := &f.v.p.Buffers[b], &f.v.p.Buffers[frame]
	return x.Offset >= g.Offset && x.Offset+x.Size <= g.Offset+g.Size
}
