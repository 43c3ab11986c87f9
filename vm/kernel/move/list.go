package move

// A List is several copies that are shared among parts by their bytes, one after another;
// or, where they are large and have short rows, in turns, a part of each:
//
//	concat of [N,4] and [N,4] along the second axis   =>   2048 rows of both, the next ones
//
// so that a line which two of them write a piece of is written while it is in a cache.
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

// Share is a part's share of copy i, as Items has it, in one of its turns.
func (l *List) Share(i, part, parts, turn, turns int) (c *Copy, first, end int) {
	s := &l.steps[i]
	if turns > 1 {
		at, of := part*turns+turn, parts*turns
		return s.Copy, s.items * at / of, s.items * (at + 1) / of
	}
	return s.Copy, s.after(l.bound(part, parts)), s.after(l.bound(part+1, parts))
}

// turnsFrom is the bytes from which copies take turns: they do not stay in a second-level
// cache.
const turnsFrom = 2 << 20

// Turns is in how many turns a part of so many does its copies: 1 is one after another.
func (l *List) Turns(parts int) int {
	if len(l.steps) == 1 || l.total < turnsFrom {
		return 1
	}
	turns := l.total
	for _, s := range l.steps {
		if s.leaf.around != nil || s.leaf.piece() > line {
			return 1
		}
		turns = min(turns, s.items/parts)
	}
	return max(1, turns)
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
