package npu

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A history tells which value of a function after a pass is which one of those
// before. Passes work in place, so that most values are the very ones; a new one
// takes the number of the one whose place it takes, as its readers, its name and
// its place in the source show.
//
//	1  %0 = mul %x, %c           1 is gone: 2 took its work, and %y reads
//	2  %1 = add %0, %d       =>  the new value instead, which has number 2
//	3  %y = relu %1
type history struct {
	steps  []Snapshot
	before []int // for each pass, the step that it found

	numbers map[*ir.Value]int       // of the function as it was seen last
	places  map[int]Location        // of the values, by number
	alias   map[*ir.Value]*ir.Value // of a parameter: the argument that it stands for
	further map[*ir.Value][]int     // which further results there are
	owners  map[*ir.Func]int        // number of the operator that holds a body; 0: the graph
	tensors map[*tensor.T]int
	last    int // number given out last

	order   []*ir.Value               // the values when they were seen last
	args    map[*ir.Value][]*ir.Value // what they read then
	results map[*ir.Func][]*ir.Value  // what the functions returned
}

func newHistory() *history {
	return &history{places: map[int]Location{}, tensors: map[*tensor.T]int{}}
}

// A matching is one comparison of the function with what it was.
type matching struct {
	h     *history
	known map[*ir.Value]int  // numbers of the values that there are
	gone  map[*ir.Value]bool // values from before that nothing stands for yet
}

// identify numbers the values of the function.
func (h *history) identify(f *ir.Func) {
	values := h.values(f)
	m := &matching{h, make(map[*ir.Value]int, len(values)), map[*ir.Value]bool{}}
	for _, v := range values {
		if n := h.numbers[v]; n > 0 {
			m.known[v] = n
		}
	}
	for _, v := range h.order {
		if m.known[v] == 0 {
			m.gone[v] = true
		}
	}
	m.byKey(values, exactly)
	m.byReaders(values, f)
	for _, key := range looser {
		m.byKey(values, key)
	}
	for _, v := range values {
		m.number(v)
	}
	h.keep(f, m.known, values)
}

// values lists what has a number of its own: all but parameters that stand for
// an argument, further results, which go by the first one, and fused regions,
// which go by what they yield.
func (h *history) values(f *ir.Func) []*ir.Value {
	var list []*ir.Value
	h.alias = map[*ir.Value]*ir.Value{}
	f.Walk(func(_ *ir.Func, v *ir.Value) bool {
		for i, b := range v.Bodies {
			if b != nil && i < len(v.Op.Regions) && v.Op.Regions[i].First >= 0 {
				for k, p := range b.Params {
					h.alias[p] = v.Args[v.Op.Regions[i].First+k]
				}
			}
		}
		if h.alias[v] == nil && unwrap(v) == v {
			list = append(list, v)
		}
		return true
	})
	return list
}

// yielded is the value inside a fused region that v is outside; nil: v is none.
func yielded(v *ir.Value) *ir.Value {
	owner := v
	if v.Op == ir.Result {
		owner = v.Args[0]
	}
	if owner.Op != ir.Fused || len(owner.Bodies) != 1 || v.Index() >= len(owner.Bodies[0].Results) {
		return nil
	}
	r := owner.Bodies[0].Results[v.Index()]
	if i := slices.Index(owner.Bodies[0].Params, r); i >= 0 && i < len(owner.Args) {
		return owner.Args[i]
	}
	return r
}

// unwrap goes through fused regions, and from further results to the first one,
// to the value that has the number.
func unwrap(v *ir.Value) *ir.Value {
	for v != nil {
		inner := yielded(v)
		if inner == nil && v.Op == ir.Result {
			inner = v.Args[0]
		}
		if inner == nil {
			break
		}
		v = inner
	}
	return v
}

// number gives a value that nothing was found for a number of its own.
func (m *matching) number(v *ir.Value) {
	if m.known[v] == 0 {
		m.h.last++
		m.known[v] = m.h.last
		m.h.places[m.h.last] = v.Pos
	}
}

// take lets a new value have the number of one that is gone.
func (m *matching) take(v, old *ir.Value) bool {
	if v == nil || m.known[v] != 0 || !m.gone[old] {
		return false
	}
	m.known[v] = m.h.numbers[old]
	delete(m.gone, old)
	return true
}

// byReaders compares what values read with what they read before, and goes up
// from what it finds as long as the operators are the same.
func (m *matching) byReaders(values []*ir.Value, f *ir.Func) {
	type pair struct{ now, before []*ir.Value }
	var todo []pair
	for g := range f.Funcs() {
		todo = append(todo, pair{g.Results, m.h.results[g]})
	}
	for _, v := range values {
		if before, ok := m.h.args[v]; ok {
			todo = append(todo, pair{v.Args, before})
		}
	}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		for i := range min(len(p.now), len(p.before)) {
			now, before := unwrap(p.now[i]), p.before[i]
			if m.take(now, before) && now.Op == before.Op {
				todo = append(todo, pair{now.Args, m.h.args[before]})
			}
		}
	}
}

// A likeness is what two values have in common, as a key.
type likeness struct {
	name string
	at   Location
	op   *ir.Op
}

// exactly is what a copy of a value has in common with it.
func exactly(v *ir.Value) likeness { return likeness{v.Name, v.Pos, v.Op} }

// looser are further likenesses, the closest first.
var looser = []func(*ir.Value) likeness{
	func(v *ir.Value) likeness { return likeness{name: v.Name, at: v.Pos} },
	func(v *ir.Value) likeness { return likeness{at: v.Pos, op: v.Op} },
	func(v *ir.Value) likeness { return likeness{at: v.Pos} },
	func(v *ir.Value) likeness { return likeness{name: v.Name} },
}

// byKey pairs new values with values that are gone and alike. Where there are
// several they are paired in their order, if there are as many on both sides; a
// single new value takes the number of the last, which the others led to.
func (m *matching) byKey(values []*ir.Value, key func(*ir.Value) likeness) {
	fresh, gone := map[likeness][]*ir.Value{}, map[likeness][]*ir.Value{}
	var order []likeness
	for _, v := range values {
		if k := key(v); m.known[v] == 0 && k != (likeness{}) {
			if fresh[k] == nil {
				order = append(order, k)
			}
			fresh[k] = append(fresh[k], v)
		}
	}
	if len(order) == 0 {
		return
	}
	for _, v := range m.h.order {
		if m.gone[v] {
			gone[key(v)] = append(gone[key(v)], v)
		}
	}
	for _, k := range order {
		now, before := fresh[k], gone[k]
		if len(now) == 1 && len(before) > 1 {
			before = before[len(before)-1:]
		}
		if len(now) == len(before) {
			for i := range now {
				m.take(now[i], before[i])
			}
		}
	}
}

// keep remembers the function for the next comparison, and numbers what goes by
// another value.
func (h *history) keep(f *ir.Func, known map[*ir.Value]int, values []*ir.Value) {
	h.numbers, h.order = known, values
	h.args, h.results, h.owners = map[*ir.Value][]*ir.Value{}, map[*ir.Func][]*ir.Value{}, map[*ir.Func]int{}
	h.further = map[*ir.Value][]int{}
	f.Walk(func(_ *ir.Func, v *ir.Value) bool {
		if inner := unwrap(v); inner != v {
			known[v] = known[inner]
		}
		if arg := h.alias[v]; arg != nil {
			known[v] = known[arg]
		}
		if v.Op == ir.Result {
			h.further[v.Args[0]] = append(h.further[v.Args[0]], v.Index())
		}
		for i, b := range v.Bodies {
			if b != nil {
				h.owners[b] = known[v]*len(v.Bodies) + i
			}
		}
		return true
	})
	for _, v := range values {
		h.args[v] = outside(v.Args)
	}
	for g := range f.Funcs() {
		h.results[g] = outside(g.Results)
	}
}

// outside copies a list of values, which passes change in place, without the
// regions around them.
func outside(vs []*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(vs))
	for i, v := range vs {
		out[i] = unwrap(v)
	}
	return out
}
