package lower

import (
	"cmp"
	"slices"
)

// A write is a task's access to a part of a buffer that has no base.
type write struct {
	lo, hi int64 // bytes from its start
	task   int
}

// writes lists, by buffer without a base, who writes which part of it, by
// offset. Every byte has one writer.
func (p *Plan) writes() [][]write {
	list := make([][]write, len(p.Buffers))
	for i := range p.Tasks {
		for _, out := range p.Tasks[i].made() {
			b := &p.Buffers[out]
			r := p.Root(out)
			list[r] = append(list[r], write{b.At, b.At + b.Size, i})
		}
	}
	for _, ws := range list {
		if len(ws) > 1 {
			slices.SortFunc(ws, func(a, b write) int { return cmp.Compare(a.lo, b.lo) })
		}
	}
	return list
}

// needs notes in each task which earlier tasks write what it reads; of a value
// without elements nothing is read.
func (p *Plan) needs() {
	writes := p.writes()
	for i := range p.Tasks {
		t := &p.Tasks[i]
		for _, in := range t.In {
			if in < 0 || p.Buffers[in].Size == 0 {
				continue
			}
			b := &p.Buffers[in]
			for _, w := range overlapping(writes[p.Root(in)], b.At, b.At+b.Size) {
				t.After = append(t.After, w.task)
			}
		}
		slices.Sort(t.After)
		t.After = slices.Compact(t.After)
	}
}

// overlapping finds the writes that share a byte with [lo, hi).
func overlapping(ws []write, lo, hi int64) []write {
	if len(ws) == 1 {
		return ws // all of it is one task's
	}
	first, _ := slices.BinarySearchFunc(ws, lo, func(w write, lo int64) int { return cmp.Compare(w.hi, lo+1) })
	last := first
	for last < len(ws) && ws[last].lo < hi {
		last++
	}
	return ws[first:last]
}

// made lists the buffers that a task writes, its frame included.
func (t *Task) made() []int {
	if t.Region == nil || t.Region.Frame < 0 {
		return t.Out
	}
	return append(slices.Clone(t.Out), t.Region.Frame)
}
