package fusion

// A tally counts what stands for small numbers, in the order in which it first
// came: a map whose order is the same each time. Taking one out puts the last in
// its place.
type tally struct {
	list []entry
	at   map[int32]int // where each stands; nil while the list is short
}

type entry struct {
	key   int32
	count int
}

// short is the length up to which a list is searched through.
const short = 8

func (t *tally) find(key int32) int {
	if t.at != nil {
		if i, ok := t.at[key]; ok {
			return i
		}
		return -1
	}
	for i := range t.list {
		if t.list[i].key == key {
			return i
		}
	}
	return -1
}

// count is how often key is there.
func (t *tally) count(key int32) int {
	if i := t.find(key); i >= 0 {
		return t.list[i].count
	}
	return 0
}

// change counts key n times more, or less; at 0 it is gone. The result is how
// many different ones there are more: -1, 0 or 1.
func (t *tally) change(key int32, n int) int {
	if n == 0 {
		return 0
	}
	i := t.find(key)
	if i < 0 {
		t.add(key, n)
		return 1
	}
	if t.list[i].count += n; t.list[i].count > 0 {
		return 0
	}
	t.drop(i)
	return -1
}

// add enters a key that is not there.
func (t *tally) add(key int32, n int) {
	t.list = append(t.list, entry{key, n})
	switch {
	case t.at != nil:
		t.at[key] = len(t.list) - 1
	case len(t.list) > short:
		t.at = make(map[int32]int, 2*short)
		for i, e := range t.list {
			t.at[e.key] = i
		}
	}
}

func (t *tally) drop(i int) {
	last := len(t.list) - 1
	if t.at != nil {
		delete(t.at, t.list[i].key)
		if i != last {
			t.at[t.list[last].key] = i
		}
	}
	t.list[i] = t.list[last]
	t.list = t.list[:last]
}

// size is how many different ones there are.
func (t *tally) size() int { return len(t.list) }
