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
	if _, declared := f.may[root]; f.fn > 0 && !declared && !f.inside(b) {
		return f.v.fault(pl, "reads %s, which its body neither declares nor holds", f.v.label(b))
	}
	if f.rows[root] {
		return f.v.fault(pl, "reads %s, whose rows are still being stored", f.v.label(b))
	}
	lo, hi := f.mem.segments(f.v.span(b))
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
		return f.stale(pl, b, root, q.id)
	}
	if !f.ordered(pl, c.writer) {
		return f.v.fault(pl, "reads %s, and nothing orders it behind %s, which writes it", f.v.label(b), f.at(c.writer))
	}
	return nil
}

// stale says why a read of b does not find b.
func (f *flow) stale(pl place, b, root int, id int32) error {
	writer, ok := f.write[root]
	intended := ""
	if ok && !f.ordered(pl, writer) {
		intended = ", and nothing orders it behind " + f.at(writer) + ", which writes it"
	}
	if id == 0 {
		if intended == "" {
			intended = " before anything is written there"
		}
		return f.v.fault(pl, "reads %s%s", f.v.label(b), intended)
	}
	c := &f.mem.cells[id]
	if intended == "" && !f.ordered(pl, c.writer) {
		return f.v.fault(pl, "reads %s, which %s overwrites with %s, and nothing orders the two", f.v.label(b), f.at(c.writer), f.v.label(c.root))
	}
	return f.v.fault(pl, "reads %s where %s was written over it by %s%s", f.v.label(b), f.v.label(c.root), f.at(c.writer), intended)
}

// store checks that all that was done to the memory of b is over, and gives it
// to b.
func (f *flow) store(pl place, b int) error {
	root := f.v.p.root(b)
	if f.fn == 0 && !f.inside(b) {
		return f.v.fault(pl, "writes %s, which is only for reading", f.v.label(b))
	}
	if f.fn > 0 && !f.may[root] && !f.inside(b) {
		return f.v.fault(pl, "writes %s, which its body neither declares nor holds", f.v.label(b))
	}
	return f.storeOver(pl, b, root)
}

func (f *flow) storeOver(pl place, b, root int) error {
	lo, hi := f.mem.segments(f.v.span(b))
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
		if err := f.overwrite(pl, b, &f.mem.cells[q.id], self); err != nil {
			return err
		}
	}
	f.mem.put(lo, hi, cell{root: root, writer: self})
	return nil
}

func (f *flow) overwrite(pl place, b int, c *cell, self access) error {
	if c.writer == self {
		return f.v.fault(pl, "writes %s and %s, which overlap", f.v.label(c.root), f.v.label(b))
	}
	for _, r := range c.reads {
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
