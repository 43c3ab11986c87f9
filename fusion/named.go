package fusion

import (
	"cmp"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// match makes regions of what the named rules match, the rules in their order and
// the matches of each from the end of the body, so that of a chain the end is
// seen first. What an earlier rule has taken a later one leaves.
func (w *fusing) match() {
	uses := rewrite.NewUses(w.f)
	byOp := w.byOp()
	for i, r := range w.set.rules {
		s := &seeker{fusing: w, rule: r, status: w.Fuser.named[i]}
		s.on, s.off = w.options.enabled(r.Rule)
		for _, v := range s.places(byOp) {
			if m := s.find(v, uses); m != nil {
				s.consider(m)
			}
		}
		s.bundles()
	}
	w.placeBans()
}

// byOp lists the operators of each kind in the body.
func (w *fusing) byOp() map[*ir.Op][]int32 {
	out := map[*ir.Op][]int32{}
	for id := range w.vals {
		if w.vals[id].owner == int32(id) {
			op := w.vals[id].v.Op
			out[op] = append(out[op], int32(id))
		}
	}
	return out
}

// A seeker looks for the matches of one rule.
type seeker struct {
	*fusing
	rule   *Rule
	status *tracker
	on     bool
	off    string // the code by which it is turned down

	bundle map[*ir.Value][]found // of a rule that takes matches together
	keys   []*ir.Value           // in order
}

// A found is a match with the numbers of its operators.
type found struct {
	*rewrite.Match
	ops    []int32
	closed bool
}

// places lists where the rule may match, the last one first.
func (s *seeker) places(byOp map[*ir.Op][]int32) []*ir.Value {
	var ids []int32
	for _, op := range s.rule.Roots() {
		ids = append(ids, byOp[op]...)
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Compare(b, a) })
	out := make([]*ir.Value, len(ids))
	for i, id := range ids {
		out[i] = s.vals[id].v
	}
	return out
}

// find matches the rule at v, also where something keeps it from being fused. A
// single operator is no match, but beside others: it has its kernel.
func (s *seeker) find(v *ir.Value, uses *rewrite.Uses) *found {
	m := s.rule.FindOpen(v, uses) // which finds none nearly everywhere
	if m == nil || uses.Count(v) == 0 {
		return nil
	}
	f := &found{Match: m}
	if closed := s.rule.Find(v, uses); closed != nil {
		f.Match, f.closed = closed, true
	}
	work := 0
	for _, x := range f.Inside {
		if leaf(x) {
			continue
		}
		id := s.vals[s.number[x]].owner
		f.ops = append(f.ops, id)
		if s.vals[id].kind != view {
			work++
		}
	}
	if work < 2 && s.rule.Together == "" {
		return nil
	}
	slices.Sort(f.ops)
	f.ops = slices.Compact(f.ops)
	return f
}

// consider makes a region of a match, or turns it down.
func (s *seeker) consider(f *found) {
	if s.rule.Together == "" {
		s.status.Matches++
	}
	if on, set := s.options.Switches[s.rule.Name]; set && !on {
		s.fusing.bans = append(s.fusing.bans, ban{s.rule, f.ops})
	}
	if s.rule.Together != "" {
		if key := f.Value(s.rule.Together); key != nil {
			if s.bundle[key] == nil {
				s.keys = append(s.keys, key)
			}
			if s.bundle == nil {
				s.bundle = map[*ir.Value][]found{}
			}
			s.bundle[key] = append(s.bundle[key], *f)
		}
		return
	}
	if r := s.refusal(f); r != nil {
		s.refuse(r, f.Root)
		return
	}
	s.make(f.ops, f.Root)
}

func (s *seeker) refuse(r *reason, at *ir.Value) { s.status.refuse(r, s.fusing.name(at), at) }

// bundles makes the regions of matches that are taken together: two at least.
func (s *seeker) bundles() {
	for _, key := range s.keys {
		b := s.gather(s.bundle[key])
		if b.count < 2 {
			continue
		}
		s.status.Matches++
		if b.kept < 2 {
			s.refuse(b.why, s.bundle[key][0].Root)
			continue
		}
		slices.Sort(b.ops)
		s.make(b.ops, b.last)
	}
}

// A gathering is what becomes of the matches that read one value.
type gathering struct {
	count int     // the matches beside each other, those turned down too
	kept  int     // those that may be fused
	ops   []int32 // theirs
	last  *ir.Value
	why   *reason // one was turned down
}

// gather picks matches that can run side by side. Of one that lies inside
// another the larger is picked, if it may be fused; one that feeds another has to
// run before it.
func (s *seeker) gather(matches []found) *gathering {
	b := &gathering{}
	seen, picked := map[int32]bool{}, map[int32]bool{}
	for i := range matches {
		f := &matches[i]
		if s.meets(f.ops, picked) {
			continue
		}
		if !seen[f.ops[0]] {
			b.count++
		}
		for _, id := range f.ops {
			seen[id] = true
		}
		if r := s.refusal(f); r != nil {
			b.why = r
			continue
		}
		if b.kept++; b.last == nil {
			b.last = f.Root
		}
		b.ops = append(b.ops, f.ops...)
		for _, id := range f.ops {
			picked[id] = true
		}
	}
	return b
}

// meets reports whether an operator is among others, or read by one of them.
func (s *seeker) meets(ops []int32, others map[int32]bool) bool {
	for _, id := range ops {
		if others[id] || slices.ContainsFunc(s.vals[id].readers, func(r int32) bool { return others[r] }) {
			return true
		}
	}
	return false
}

// refusal says what keeps a match from being fused, before the device is asked.
func (s *seeker) refusal(f *found) *reason {
	if !s.on {
		return &reason{s.off, ""}
	}
	groups := make([]int32, len(f.ops))
	for i, id := range f.ops {
		groups[i] = s.group(id)
		if t := &s.groups[groups[i]].traits; t.rule != nil {
			return &reason{"taken", t.rule.Name}
		}
	}
	if r := s.apart(groups); r != nil {
		return r
	}
	if !f.closed && !s.rule.Shares {
		return s.shared(f)
	}
	return nil
}

// shared names a value of a match that is read outside.
func (s *seeker) shared(f *found) *reason {
	for _, id := range f.ops {
		x := &s.vals[id]
		if x.v == f.Root {
			continue
		}
		if x.result {
			return &reason{"shared-value", s.name(x.v) + " is a result"}
		}
		for _, r := range x.readers {
			if _, inside := slices.BinarySearch(f.ops, r); !inside {
				return &reason{"shared-value", s.vals[r].v.Op.Name + " reads " + s.name(x.v)}
			}
		}
	}
	return &reason{"shared-value", ""}
}

// make fuses operators, if the device can run them as one kernel.
func (s *seeker) make(ops []int32, root *ir.Value) {
	m, ok := s.merging(ops...)
	if !ok {
		s.refuse(s.cycle(m), root)
		return
	}
	t := s.joint(m.parts)
	t.shape, t.rule = root.Type.Shape, s.rule
	// What would be joined to a region of several results would take its kernel from it.
	t.sealed = t.sealed || s.rule.Shares
	if t.rows && t.cubes == 0 {
		t.shape = s.rowsOf(ops, root)
	}
	heads := s.heads(ops)
	if r := s.paths(ops, heads, &t); r != nil {
		s.refuse(r, root)
		return
	}
	if r := s.legal(m, &t); r != nil {
		s.refuse(r, root)
		return
	}
	m.do(t)
	for _, id := range heads {
		s.vals[id].head = true
	}
}

// rowsOf is what a region with reductions walks: the rows of the last of them.
func (s *seeker) rowsOf(ops []int32, root *ir.Value) []ir.Dim {
	shape := root.Type.Shape
	for _, id := range ops {
		if t := &s.groups[id].traits; t.rows {
			shape = t.shape
		}
	}
	return shape
}

// heads lists the operators that stand in front of every product, in their order.
func (s *seeker) heads(ops []int32) []int32 {
	var heads []int32
	behind := map[int32]bool{}
	for _, id := range ops {
		behind[id] = s.vals[id].kind == product
		for _, a := range s.vals[id].v.Args {
			if a != nil && s.vals[s.number[a]].owner != none && behind[s.vals[s.number[a]].owner] {
				behind[id] = true
			}
		}
		if !behind[id] {
			heads = append(heads, id)
		}
	}
	return heads
}

// paths asks whether the device can hand the values of a cube kernel on.
func (s *seeker) paths(ops, heads []int32, t *traits) *reason {
	if t.cubes == 0 || s.rule.Through {
		return nil
	}
	var tail []int32
	for _, id := range ops {
		if _, ahead := slices.BinarySearch(heads, id); s.vals[id].kind != product && !ahead {
			tail = append(tail, id)
		}
	}
	if r := s.behind(tail); r != nil {
		return r
	}
	return s.ahead(heads)
}

// A ban is a match of a rule that is switched off by its name: no region that
// grows may come to hold all of it.
type ban struct {
	rule *Rule
	ops  []int32
}

// placeBans gives each group the bans that it holds in part.
func (w *fusing) placeBans() {
	for i, b := range w.bans {
		groups := map[int32]bool{}
		for _, id := range b.ops {
			groups[w.group(id)] = true
		}
		if len(groups) < 2 {
			continue
		}
		for _, id := range b.ops {
			if root := w.group(id); groups[root] {
				delete(groups, root)
				w.groups[root].bans = append(w.groups[root].bans, int32(i))
			}
		}
	}
}

// banned turns down parts that together would hold a match of a rule that is
// switched off.
func (w *fusing) banned(parts []int32) *reason {
	for _, p := range parts {
		for _, i := range w.groups[p].bans {
			if b := &w.bans[i]; w.whole(b, parts) {
				return &reason{"disabled", "the region would hold a " + b.rule.Name}
			}
		}
	}
	return nil
}

// whole reports whether all of a ban lies in parts.
func (w *fusing) whole(b *ban, parts []int32) bool {
	for _, id := range b.ops {
		if !slices.Contains(parts, w.group(id)) {
			return false
		}
	}
	return true
}
