package bytecode

// inside reports whether b lies in the frame of the function; the program's
// own frame is the arena and the outputs.
func (f *flow) inside(b int) bool {
	x := &f.v.p.Buffers[b]
	if f.fn == 0 {
		return x.Space == ArenaSpace || x.Space == OutputSpace
	}
	frame := f.v.p.Functions[f.fn].Frame
	if frame < 0 {
		return x.Space == ArenaSpace && x.Size == 0
	}
	g := &f.v.p.Buffers[frame]
	return x.Space == ArenaSpace && x.Offset >= g.Offset && x.Offset+x.Size <= g.Offset+g.Size
}

// read checks that b holds what was written as b, and notes the read.
func (f *flow) read(pl place, b int) error { return f.readAs(pl, b, true) }

func (f *flow) readAs(pl place, b int, note bool) error {
	root := f.v.p.root(b)
	if f.fn > 0 && !f.reads.hold(f.v.span(b)) && !f.inside(b) {
		return f.v.fault(pl, "reads %s, which its body neither declares nor holds", f.v.label(b))
	}
	if f.rows[root] {
		return f.v.fault(pl, "reads %s, whose rows are still being stored", f.v.label(b))
	}
	lo, hi := f.segments(b)
	pieces, ok := f.mem.pieces(lo, hi, f.buf[:0])
	f.buf = pieces
	if !ok {
		return f.tangled(pl)
	}
	for _, q := range pieces {
		if err := f.readPiece(pl, b, root, q); err != nil {
			return err
		}
	}
	if note {
		for _, q := range pieces {
			f.mem.mark(q, lo, hi, access{pl.stream, pl.at})
		}
	}
	return nil
}

func (f *flow) readPiece(pl place, b, root int, q piece) error {
	c := &f.mem.cells[q.id]
	if q.id == 0 || c.root != root {
		return f.stale(pl, b, root, q)
	}
	if !f.ordered(pl, c.writer) {
		return f.v.fault(pl, "reads %s, and nothing orders it behind %s, which writes it", f.v.label(b), f.at(c.writer))
	}
	return nil
}

// stale says why a read of b does not find b.
func (f *flow) stale(pl place, b, root int, q piece) error {
	intended := ""
	if w, ok := f.late(pl, root, q); ok {
		intended = ", and nothing orders it behind " + f.at(w) + ", which writes it"
	}
	if q.id == 0 {
		if intended == "" {
			intended = " before anything is written there"
		}
		return f.v.fault(pl, "reads %s%s", f.v.label(b), intended)
	}
	c := &f.mem.cells[q.id]
	if intended == "" && !f.ordered(pl, c.writer) {
		return f.v.fault(pl, "reads %s, which %s overwrites with %s, and nothing orders the two", f.v.label(b), f.at(c.writer), f.v.label(c.root))
	}
	return f.v.fault(pl, "reads %s where %s was written over it by %s%s", f.v.label(b), f.v.label(c.root), f.at(c.writer), intended)
}

// late finds an instruction that writes a piece of a buffer and that nothing
// orders before the current one.
func (f *flow) late(pl place, root int, q piece) (access, bool) {
	for s, stream := range f.v.p.Functions[f.fn].Streams {
		for at := range stream.Code {
			for _, b := range f.v.written(&stream.Code[at]) {
				lo, hi := f.segments(b)
				if f.v.p.root(b) == root && lo < q.hi && q.lo < hi && !f.ordered(pl, access{s, at}) {
					return access{s, at}, true
				}
			}
		}
	}
	return access{}, false
}

// written lists what an instruction writes, its bodies' frames left out.
func (v *verifier) written(in *Instr) []int {
	if len(in.Bodies) > 0 {
		return v.p.Functions[in.Bodies[0]].Writes
	}
	return in.Out
}

// store checks that all that was done to the memory of b is over, and gives it
// to b.
func (f *flow) store(pl place, b int) error { return f.storeAs(pl, b, false) }

// storeAs is store; mine says that reads of the instruction itself are not in the
// way, since they are followed one by one elsewhere.
func (f *flow) storeAs(pl place, b int, mine bool) error {
	root := f.v.p.root(b)
	if f.fn == 0 && !f.inside(b) {
		return f.v.fault(pl, "writes %s, which is only for reading", f.v.label(b))
	}
	if f.fn > 0 && !f.writes.hold(f.v.span(b)) && !f.inside(b) {
		return f.v.fault(pl, "writes %s, which its body neither declares nor holds", f.v.label(b))
	}
	return f.storeOver(pl, b, root, mine)
}

func (f *flow) storeOver(pl place, b, root int, mine bool) error {
	lo, hi := f.segments(b)
	pieces, ok := f.mem.pieces(lo, hi, f.buf[:0])
	f.buf = pieces
	if !ok {
		return f.tangled(pl)
	}
	self := access{pl.stream, pl.at}
	for _, q := range pieces {
		if q.id == 0 {
			continue
		}
		if err := f.overwrite(pl, b, &f.mem.cells[q.id], self, mine); err != nil {
			return err
		}
	}
	f.mem.put(lo, hi, cell{root: root, writer: self})
	return nil
}

func (f *flow) overwrite(pl place, b int, c *cell, self access, mine bool) error {
	if c.writer == self {
		return f.v.fault(pl, "writes %s and %s, which overlap", f.v.label(c.root), f.v.label(b))
	}
	for _, r := range c.reads {
		if r == self && mine {
			continue
		}
		if r == self {
			return f.v.fault(pl, "writes %s over its own argument %s", f.v.label(b), f.v.label(c.root))
		}
		if !f.ordered(pl, r) {
			return f.v.fault(pl, "writes %s over %s, and nothing orders it behind %s, which reads that", f.v.label(b), f.v.label(c.root), f.at(r))
		}
	}
	if !f.ordered(pl, c.writer) {
		return f.v.fault(pl, "writes %s over %s, and nothing orders it behind %s, which writes that", f.v.label(b), f.v.label(c.root), f.at(c.writer))
	}
	return nil
}

func (f *flow) ordered(pl place, a access) bool {
	return a.stream < 0 || f.clocks[pl.stream][a.stream] > int32(a.at)
}

// at names the instruction of an access.
func (f *flow) at(a access) string {
	if a.stream < 0 {
		return "what comes before"
	}
	return f.v.where(place{f.fn, a.stream, a.at})
}

func (f *flow) tangled(pl place) error {
	return f.v.fault(pl, "touches memory in so many pieces that checking it would take too long")
}
