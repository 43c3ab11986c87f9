package fusion

import "fmt"

// raises turns down a merge after which more bytes would be live at once, where
// memory has priority. One kernel holds what all its parts read until the last of
// them is done; in exchange, what goes between the parts takes no memory.
//
//	a   reads x, makes u         {a b} reads x, y until both are done
//	... y is made           =>   adds x, which was dead behind a, if nothing later
//	b   reads u, y               reads it, and saves u
func (w *fusing) raises(m *merge) *reason {
	last := m.parts[len(m.parts)-1]
	adds, saves := int64(0), int64(0)
	for _, p := range m.parts[:len(m.parts)-1] {
		for _, e := range w.groups[p].ins.list {
			if made := w.groupOf(e.key); made != none && !contains(m.parts, made) && !w.readFrom(e.key, last) {
				adds += w.size.bytes(w.vals[e.key].v.Type)
			}
		}
		for _, e := range w.groups[p].outs.list {
			if w.within(e.key, m.parts) {
				saves += w.size.bytes(w.vals[e.key].v.Type)
			}
		}
	}
	if adds <= saves {
		return nil
	}
	return &reason{"raises-peak", fmt.Sprintf("adds %d, saves %d", adds, saves)}
}

// readFrom reports whether a value is read by a group or behind it.
func (w *fusing) readFrom(value, group int32) bool {
	x := &w.vals[value]
	if x.result {
		return true
	}
	for _, r := range x.readers {
		if w.order.label[w.group(r)] >= w.order.label[group] {
			return true
		}
	}
	return false
}

// within reports whether only parts read a value.
func (w *fusing) within(value int32, parts []int32) bool {
	x := &w.vals[value]
	if x.result {
		return false
	}
	for _, r := range x.readers {
		if !contains(parts, w.group(r)) {
			return false
		}
	}
	return true
}
