package rewrite

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// Uses counts who reads the values of one function. Whoever changes the
// function keeps it right with Add and Move.
type Uses struct {
	count       map[*ir.Value]int
	projections map[*ir.Value]int // how many further results are read

	of      *ir.Func
	added   []*ir.Value               // since NewUses
	readers map[*ir.Value][]*ir.Value // made for the first who asks; nil before

	spare []bound // of a search that is over
}

// NewUses counts the readers of f's values. A value that nobody reads is no
// reader: what merging and folding leave behind must not keep anything alive.
func NewUses(f *ir.Func) *Uses {
	u := &Uses{count: f.Readers(), projections: map[*ir.Value]int{}, of: f}
	for _, v := range f.Body {
		if v.Op.Flags&ir.Projection != 0 {
			u.projections[v.Args[0]]++
		}
	}
	for i := len(f.Body) - 1; i >= 0; i-- {
		if u.count[f.Body[i]] == 0 {
			u.forget(f.Body[i])
		}
	}
	return u
}

// forget takes back what a value that nobody reads has read.
func (u *Uses) forget(v *ir.Value) {
	for _, a := range v.Args {
		if a != nil {
			u.count[a]--
		}
	}
}

// lend gives a search room for what it binds. Nearly every search ends without a
// match, and a large graph is searched millions of times. A guard may search
// while another search is under way: it gets room of its own.
func (u *Uses) lend(n int) []bound {
	if u == nil || cap(u.spare) < n {
		return make([]bound, n)
	}
	b := u.spare[:n]
	u.spare = nil
	clear(b)
	return b
}

func (u *Uses) giveBack(b []bound) {
	if u != nil && cap(b) > cap(u.spare) {
		u.spare = b
	}
}

// Count is how often v is read: as an argument, or as a result of the function.
func (u *Uses) Count(v *ir.Value) int { return u.count[v] }

// Add counts what a new value reads.
func (u *Uses) Add(v *ir.Value) {
	u.added = append(u.added, v)
	for _, a := range v.Args {
		if a == nil {
			continue
		}
		u.count[a]++
		if u.readers != nil {
			u.readers[a] = append(u.readers[a], v)
		}
	}
	if v.Op.Flags&ir.Projection != 0 {
		u.projections[v.Args[0]]++
	}
}

// manyReaders bounds the list that Readers gives: who asks wants to know what a
// few would gain.
const manyReaders = 16

// Readers lists values that read v, each once and not more than manyReaders.
// Values that nobody reads any more are left out.
func (u *Uses) Readers(v *ir.Value) []*ir.Value {
	if u.readers == nil {
		u.readers = u.of.Users()
		for _, n := range u.added {
			for _, a := range n.Args {
				u.readers[a] = append(u.readers[a], n)
			}
		}
	}
	var out []*ir.Value
	for i, r := range u.readers[v] {
		if i == 4*manyReaders || len(out) == manyReaders {
			break
		}
		if u.count[r] > 0 && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// Move lets the readers of from read to.
func (u *Uses) Move(from, to *ir.Value) {
	u.count[to] += u.count[from]
	u.count[from] = 0
	if u.readers != nil {
		moved := u.readers[from]
		u.readers[to] = append(u.readers[to], moved[:min(len(moved), manyReaders)]...)
	}
	u.drop(from)
}

// drop takes back what a value that nobody reads any more has read, and so on
// upwards.
func (u *Uses) drop(v *ir.Value) {
	for dead := []*ir.Value{v}; len(dead) > 0; {
		v, dead = dead[len(dead)-1], dead[:len(dead)-1]
		if v.Op.Flags&ir.Projection != 0 {
			u.projections[v.Args[0]]--
		}
		for _, a := range v.Args {
			if a == nil {
				continue
			}
			if u.count[a]--; u.count[a] == 0 {
				dead = append(dead, a)
			}
		}
	}
}

// firstResults reports whether of each matched operator only the first result
// is used: a pattern has no word for the others.
func (m *Match) firstResults() bool {
	for _, v := range m.Inside {
		if m.uses.projections[v] > 0 {
			return false
		}
	}
	return true
}

// Closed reports whether nothing outside of the match reads a value inside but
// the root. Then what is inside can become one kernel: had a value inside a way
// to another one that leads outside, the first step of it would be such a
// reader, so no cycle can arise.
func (m *Match) Closed() bool {
	inner := make(map[*ir.Value]int, len(m.Inside))
	for _, v := range m.Inside {
		for _, a := range v.Args {
			inner[a]++
		}
	}
	for _, v := range m.Inside {
		if v != m.Root && inner[v] != m.uses.count[v] {
			return false
		}
	}
	return true
}
