package move

// A List is several copies that are shared among parts by their bytes.
type List struct {
	steps []step
	total int // bytes
	room  int // of the copy that needs most
}

type step struct {
	*Copy
	start int // bytes of those before
}

// Add appends a copy.
func (l *List) Add(c *Copy) {
	if c.bytes > 0 {
		l.steps = append(l.steps, step{c, l.total})
		l.total += c.bytes
		l.room = max(l.room, c.Room())
	}
}

// Len is how many copies there are, without those of nothing.
func (l *List) Len() int { return len(l.steps) }

// Bytes is how many are written.
func (l *List) Bytes() int { return l.total }

// Room is the bytes of memory that a part needs on its way.
func (l *List) Room() int { return l.room }

// Parts is into how many parts the list can be cut where want are wanted.
func (l *List) Parts(want int) int {
	items := 0
	for _, s := range l.steps {
		items += s.items
	}
	return max(1, min(want, items))
}

// Share is a part's share of copy i, as Items has it.
func (l *List) Share(i, part, parts int) (c *Copy, first, end int) {
	s := &l.steps[i]
	return s.Copy, s.after(l.bound(part, parts)), s.after(l.bound(part+1, parts))
}

// bound is where a part begins, in bytes.
func (l *List) bound(part, parts int) int {
	return int(int64(l.total) * int64(part) / int64(parts))
}

// after counts the items that begin before a byte of the list.
func (s *step) after(at int) int {
	if at <= s.start {
		return 0
	}
	// Item i begins at bytes*i/items, rounded down.
	n := (int64(at-s.start)*int64(s.items) + int64(s.bytes) - 1) / int64(s.bytes)
	return int(min(n, int64(s.items)))
}
