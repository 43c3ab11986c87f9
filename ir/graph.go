package ir

import "iter"

// maxResults bounds the results of one value.
const maxResults = 1 << 16

// projection makes the value of result i of v, which has the type t.
func projection(v *Value, i int, t Type) *Value {
	return &Value{Op: Result, Args: []*Value{v}, Attrs: []Lit{IntLit(int64(i)), TypeLit(t)}, Type: t, Pos: v.Pos}
}

// projected returns the value of which v is a further result, and which one;
// nil if v is none.
func projected(v *Value) (owner *Value, index int) {
	if v.Op == nil || v.Op.Flags&Projection == 0 || len(v.Args) != 1 || len(v.Attrs) != 2 {
		return nil, 0
	}
	i := v.Attrs[0].Int
	if v.Args[0] == nil || i < 1 || i > maxResults {
		return nil, 0
	}
	return v.Args[0], int(i)
}

// All yields the parameters and values of f in order, each followed by those
// of its regions, at every depth.
func (f *Func) All() iter.Seq[*Value] {
	return func(yield func(*Value) bool) {
		f.Walk(func(_ *Func, v *Value) bool { return yield(v) })
	}
}

// Walk calls visit for every parameter and value of f and of the regions
// inside, with the function that holds it, a value before those of its regions.
// It stops when visit returns false, and reports whether it did not.
func (f *Func) Walk(visit func(*Func, *Value) bool) bool {
	for _, vs := range [][]*Value{f.Params, f.Body} {
		for _, v := range vs {
			if !visit(f, v) {
				return false
			}
			for _, b := range v.Bodies {
				if b != nil && !b.Walk(visit) {
					return false
				}
			}
		}
	}
	return true
}

// Funcs yields f and every body inside it, outer ones first.
func (f *Func) Funcs() iter.Seq[*Func] {
	return func(yield func(*Func) bool) {
		if !yield(f) {
			return
		}
		f.Walk(func(_ *Func, v *Value) bool {
			for _, b := range v.Bodies {
				if b != nil && !yield(b) {
					return false
				}
			}
			return true
		})
	}
}

// Readers counts how often each value of f is read: as an argument, a result of
// f, or the owner of a projection. What a region reads it reads as an argument.
func (f *Func) Readers() map[*Value]int {
	n := make(map[*Value]int, len(f.Params)+len(f.Body))
	for _, v := range f.Body {
		for _, a := range v.Args {
			if a != nil {
				n[a]++
			}
		}
	}
	for _, v := range f.Results {
		n[v]++
	}
	return n
}

// Users lists which values of f read each value, in order, one entry for each
// argument.
func (f *Func) Users() map[*Value][]*Value {
	users := make(map[*Value][]*Value, len(f.Params)+len(f.Body))
	for _, v := range f.Body {
		for _, a := range v.Args {
			if a != nil {
				users[a] = append(users[a], v)
			}
		}
	}
	return users
}

// Replace lets everything that reads a key of with read its value instead, in
// arguments and results. Chains are followed: a -> b, b -> c gives c for a; the
// map is left with their ends. It must have no cycle.
func (f *Func) Replace(with map[*Value]*Value) {
	if len(with) == 0 {
		return
	}
	for _, v := range f.Body {
		replaceIn(v.Args, with)
	}
	replaceIn(f.Results, with)
}

func replaceIn(vs []*Value, with map[*Value]*Value) {
	for i, v := range vs {
		if _, ok := with[v]; ok && v != nil {
			vs[i] = chainEnd(v, with)
		}
	}
}

// chainEnd follows v through the map and lets all that it passed lead straight
// to the end, so that long chains cost their length once.
func chainEnd(v *Value, with map[*Value]*Value) *Value {
	end := v
	for w, ok := with[end]; ok; w, ok = with[end] {
		end = w
	}
	for v != end {
		v, with[v] = with[v], end
	}
	return end
}

// Clone copies f, its values and its regions; tensors, types and rows are
// shared. The map leads from each value of f, regions included, to its copy.
func (f *Func) Clone() (*Func, map[*Value]*Value) {
	copies := map[*Value]*Value{}
	return f.cloneInto(copies), copies
}

func (f *Func) cloneInto(copies map[*Value]*Value) *Func {
	g := &Func{
		Name:        f.Name,
		ResultNames: append([]string(nil), f.ResultNames...),
		Asserts:     append([]Assert(nil), f.Asserts...),
	}
	copyAll := func(vs []*Value) []*Value {
		out := make([]*Value, len(vs))
		for i, v := range vs {
			out[i] = v.cloneInto(copies)
		}
		return out
	}
	g.Params, g.Body = copyAll(f.Params), copyAll(f.Body)
	g.Results = copied(f.Results, copies)
	if f.Weights != nil {
		g.Weights = f.Weights.cloneInto(copies)
	}
	return g
}

func (v *Value) cloneInto(copies map[*Value]*Value) *Value {
	c := *v
	copies[v] = &c
	c.Args = copied(v.Args, copies)
	c.Attrs = append([]Lit(nil), v.Attrs...)
	c.Annots = append([]Annot(nil), v.Annots...)
	c.Bodies = nil
	for _, b := range v.Bodies {
		c.Bodies = append(c.Bodies, b.cloneInto(copies))
	}
	return &c
}

// copied maps values to their copies. One without a copy stays: the function
// was not legal, and neither is the copy.
func copied(vs []*Value, copies map[*Value]*Value) []*Value {
	if vs == nil {
		return nil
	}
	out := make([]*Value, len(vs))
	for i, v := range vs {
		if out[i] = copies[v]; out[i] == nil {
			out[i] = v
		}
	}
	return out
}
