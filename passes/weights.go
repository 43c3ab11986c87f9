package passes

import (
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
)

// makeWeights takes out of the runs what depends on weights alone.
//
//	%w = param : f32[64,64]                    %w.t = param : f32[64,64]
//	%t = transpose %w : f32[64,64]         =>  %y = add %x, %w.t : f32[64,64]
//	%y = add %x, %t : f32[64,64]             weights
//	                                           %w = param : f32[64,64]
//	                                           %w.t = transpose %w : f32[64,64]
//	                                           yield %w.t
//
// A value is static if its operator is pure, its type has no symbols, and all that
// it reads are weights, constants and other static values. Where something else
// reads a static value, the graph gets a weight in its place. It is computed by the
// operators' own evaluation when the program is given its weights, so that not a
// bit differs; what no run reads any more is then neither kept nor stored.
//
// Left in the runs are: what would be more than twice as large as what it is made
// of (a mask that is spread out); what moves no data; what would take too long for
// the evaluation; what belongs to a named fusion; an operator one of whose further
// results is left.
func makeWeights(f *ir.Func, t *Trace) {
	if f != t.top {
		return // weights stand outside of regions
	}
	m := newWeightMaker(f, t)
	m.choose()
	if len(m.made) > 0 {
		m.takeOut()
	}
}

const (
	// maxMadeBy is how many times larger a made weight may be than what it is made of.
	maxMadeBy = 2
	// maxMadeWork bounds the flops of one operator that makes a weight: a few seconds
	// of the evaluation.
	maxMadeWork = 8 << 30
	// maxMadeParts bounds how many values a made weight is made of, and with it the
	// time of the pass.
	maxMadeParts = 256
)

type weightMaker struct {
	f      *ir.Func
	t      *Trace
	static map[*ir.Value]bool
	first  map[*ir.Value]string // of static values: the first weight that they are made of
	needed map[*ir.Value]bool   // what the runs read
	made   map[*ir.Value]string // what becomes a weight, with its name
	held   map[*ir.Value]bool   // operators of several results, one of which stays in the runs
	taken  map[string]int       // by name: how many values have it
}

// newWeightMaker finds the static values of a function, some of which are known.
func newWeightMaker(f *ir.Func, t *Trace, known ...knownStatic) *weightMaker {
	m := &weightMaker{f: f, t: t, static: map[*ir.Value]bool{}, first: map[*ir.Value]string{}, needed: map[*ir.Value]bool{}, made: map[*ir.Value]string{}, held: map[*ir.Value]bool{}, taken: map[string]int{}}
	for _, k := range known {
		m.static[k.v], m.first[k.v] = true, k.first
	}
	for _, v := range f.Body {
		if leaf(v) || m.computable(v) {
			m.add(v)
		}
	}
	return m
}

// A knownStatic is a value of a body that is static outside of it.
type knownStatic struct {
	v     *ir.Value
	first string
}

// leaf reports whether v is there before any run.
func leaf(v *ir.Value) bool { return v.Op == ir.Param || v.Op == ir.Const }

// add counts v among the static values.
func (m *weightMaker) add(v *ir.Value) {
	m.static[v] = true
	if v.Op == ir.Param {
		m.first[v] = v.Key()
	}
	for _, a := range v.Args {
		if a != nil && m.first[v] == "" {
			m.first[v] = m.first[a]
		}
	}
}

// computable reports whether v can be computed before any run.
func (m *weightMaker) computable(v *ir.Value) bool {
	fused := slices.ContainsFunc(v.Annots, func(a ir.Annot) bool { return a.Name == "fuse" && a.Arg != "off" })
	switch {
	case fused || v.Op.Class == ir.Region || v.Op.Flags&(ir.Impure|ir.Unbound) != 0 || !v.Type.IsConst():
		return false
	case slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return a != nil && !m.static[a] }):
		return false
	case projection(v):
		return true
	}
	c := v.Call()
	if v.Op.Eval == nil || ir.InferCall(c) != nil {
		return false
	}
	bound, err := c.Bind(nil)
	return err == nil && bound.Cost().Flops <= maxMadeWork
}

// choose walks up from the results and finds what the runs read: a static value
// that they read becomes a weight, or they read what it is made of.
func (m *weightMaker) choose() {
	m.takenNames()
	for _, v := range m.f.Results {
		m.needed[v] = true
	}
	for i := len(m.f.Body) - 1; i >= 0; i-- {
		v := m.f.Body[i]
		if m.static[v] && (!m.needed[v] || m.make(v)) {
			continue
		}
		if projection(v) {
			m.held[v.Args[0]] = true
		}
		for _, a := range v.Args {
			if a != nil {
				m.needed[a] = true
			}
		}
	}
}

// make decides whether a static value that the runs read becomes a weight.
func (m *weightMaker) make(v *ir.Value) bool {
	if leaf(v) || m.first[v] == "" || m.held[v] || m.view(v) {
		return false
	}
	parts := m.parts(v)
	if parts == nil || byteSize(v) > maxMadeBy*leafBytes(parts) || !m.t.Rewrite("make-weights", v) {
		return false
	}
	m.made[v] = m.name(v)
	return true
}

// view reports whether v is a weight or a constant under another shape, or whole rows
// of one, which no run computes.
func (m *weightMaker) view(v *ir.Value) bool {
	for v.Op.Flags&ir.View != 0 && !projection(v) || wholeRows(v) {
		v = v.Args[0]
	}
	return leaf(v)
}

// wholeRows reports whether v is a slice that takes neighbours along the first axis.
func wholeRows(v *ir.Value) bool {
	if v.Op != ir.Slice {
		return false
	}
	spans := sliceSpans(v)
	if len(spans) == 0 || spans[0].step != 1 {
		return false
	}
	for i, s := range spans[1:] {
		if !s.takesAll(v.Args[0].Type.Shape[i+1]) {
			return false
		}
	}
	return true
}

// parts lists what a static value is made of, itself included; nil: too much.
func (m *weightMaker) parts(v *ir.Value) []*ir.Value {
	parts, seen := []*ir.Value{v}, map[*ir.Value]bool{v: true}
	for i := 0; i < len(parts); i++ {
		for _, a := range parts[i].Args {
			if a != nil && !seen[a] {
				seen[a] = true
				parts = append(parts, a)
			}
		}
		if len(parts) > maxMadeParts {
			return nil
		}
	}
	return parts
}

func leafBytes(parts []*ir.Value) int64 {
	sum := int64(0)
	for _, v := range parts {
		if leaf(v) {
			sum += byteSize(v)
		}
	}
	return sum
}

// byteSize is the size of a value without symbols.
func byteSize(v *ir.Value) int64 { n, _ := v.Type.Bytes().Const(); return n }

// takenNames gathers the names that a made weight must not have.
func (m *weightMaker) takenNames() {
	for _, f := range []*ir.Func{m.f, m.f.Weights} {
		if f == nil {
			continue
		}
		for _, v := range f.Body {
			m.taken[v.Key()]++
		}
	}
}

// name calls a made weight by what it is made of and how: w.bf16 for a cast, w.t for
// what the source calls t, else w.transpose.
func (m *weightMaker) name(v *ir.Value) string {
	from, how := m.first[v], v.Op.Name
	if strings.HasPrefix(v.Name, from+".") && m.taken[v.Name] == 1 {
		return v.Name
	}
	switch {
	case v.Op == ir.Cast:
		how = v.Type.DType.String()
	case v.Name != "":
		how = strings.TrimPrefix(v.Name, from+".")
	}
	name := from + "." + how
	for i := 1; m.taken[name] > 0; i++ {
		name = from + "." + how + "." + strconv.Itoa(i)
	}
	m.taken[name]++
	return name
}

// takeOut moves what makes weights into a function of its own.
func (m *weightMaker) takeOut() {
	w := m.weights()
	stands := map[*ir.Value]*ir.Value{}
	body := make([]*ir.Value, 0, len(m.f.Body))
	for _, v := range m.f.Body {
		name, made := m.made[v]
		switch {
		case made:
			stands[v] = madeWeight(v, name)
			body = append(body, stands[v])
		case !m.static[v] || m.needed[v]:
			body = append(body, v)
		}
	}
	m.f.Body = body
	m.f.Replace(stands)
	m.f.Weights = w
}

// weights is the function that makes the weights: those that were made before and
// are still read, and the new ones.
func (m *weightMaker) weights() *ir.Func {
	w, old := &ir.Func{Name: m.f.Name}, m.f.MadeWeights()
	if m.f.Weights != nil {
		w.Body = m.f.Weights.Body
	}
	parts := map[*ir.Value]bool{}
	for v := range m.made {
		for _, p := range m.parts(v) {
			parts[p] = true
		}
	}
	copies := map[*ir.Value]*ir.Value{}
	for _, v := range m.f.Body {
		before := old[v.Key()]
		if v.Op == ir.Param && before != nil && m.needed[v] {
			w.Results = append(w.Results, before)
		}
		switch {
		case !parts[v]:
		case v.Op == ir.Param && before != nil:
			copies[v] = before
		default:
			copies[v] = copyOf(v, copies)
			w.Body = append(w.Body, copies[v])
		}
		if name, made := m.made[v]; made {
			copies[v].Name = name
			w.Results = append(w.Results, copies[v])
		}
	}
	return w
}

// copyOf is a value that reads the copies of its arguments.
func copyOf(v *ir.Value, copies map[*ir.Value]*ir.Value) *ir.Value {
	c := *v
	c.Args = make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		c.Args[i] = copies[a]
	}
	return &c
}

// madeWeight is the weight that stands for v.
func madeWeight(v *ir.Value, name string) *ir.Value {
	attrs := ir.Param.Defaults()
	attrs[0] = ir.TypeLit(v.Type)
	return &ir.Value{Op: ir.Param, Attrs: attrs, Type: v.Type, Name: name, Pos: v.Pos}
}
