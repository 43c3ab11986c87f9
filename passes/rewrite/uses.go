package rewrite

import "github.com/npulang/npu/ir"

// Uses knows who reads the values of one function. It is taken once and stays
// right until the function changes.
type Uses struct {
	users   map[*ir.Value][]*ir.Value
	results map[*ir.Value]int
}

// NewUses counts the readers of f's values.
func NewUses(f *ir.Func) *Uses {
	u := &Uses{users: f.Users(), results: map[*ir.Value]int{}}
	for _, v := range f.Results {
		u.results[v]++
	}
	return u
}

// Count is how often v is read: as an argument, or as a result of the function.
func (u *Uses) Count(v *ir.Value) int { return len(u.users[v]) + u.results[v] }

// firstResults reports whether of each matched operator only the first result
// is used: a pattern has no word for the others.
func (m *Match) firstResults() bool {
	for _, v := range m.Inside {
		for _, u := range m.uses.users[v] {
			if u.Op.Flags&ir.Projection != 0 {
				return false
			}
		}
	}
	return true
}

// closed reports whether nothing outside of the match reads a value inside but
// the root. Then what is inside can become one kernel: had a value inside a way
// to another one that leads outside, the first step of it would be such a
// reader, so no cycle can arise.
func (m *Match) closed() bool {
	inside := map[*ir.Value]bool{}
	for _, v := range m.Inside {
		inside[v] = true
	}
	for _, v := range m.Inside {
		if v == m.Root {
			continue
		}
		if m.uses.results[v] > 0 {
			return false
		}
		for _, u := range m.uses.users[v] {
			if !inside[u] {
				return false
			}
		}
	}
	return true
}
