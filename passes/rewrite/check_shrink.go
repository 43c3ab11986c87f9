package rewrite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A Counterexample is a graph on which a rule changes the results.
type Counterexample struct {
	Before, After *ir.Func
	Inputs        []*tensor.T // of both
	Want, Got     []*tensor.T // the results; Got is nil if the graph does not run after
	Err           error       // how they differ
}

// String shows the values, and the graphs with what they give.
func (c *Counterexample) String() string {
	var b strings.Builder
	names := c.Before.Names()
	for i, v := range c.Before.Params {
		fmt.Fprintf(&b, "%s = %s\n", names[v], whole(c.Inputs[i]))
	}
	side := func(f *ir.Func, results []*tensor.T) {
		b.WriteString(f.String())
		for i, t := range results {
			fmt.Fprintf(&b, "%s = %s\n", f.ResultName(i), whole(t))
		}
	}
	side(c.Before, c.Want)
	side(c.After, c.Got)
	fmt.Fprintf(&b, "%v\n", c.Err)
	return b.String()
}

// whole is a tensor as a literal that can be read back.
func whole(t *tensor.T) string {
	return t.Type() + " " + t.Format(tensor.Style{Threshold: 1 << 30, OneLine: true})
}

// maxShrinks bounds the runs that making a counterexample small may take.
const maxShrinks = 2000

// shrink looks for a smaller trial that fails too, and goes on from it until none
// does: one result, numbers instead of symbols, inputs instead of constants, sizes
// of 1, fewer axes, simple values.
func shrink(t *trial) *Counterexample {
	s := &shrinker{best: t, left: maxShrinks}
	for s.left > 0 && (s.results() || s.unread() || s.bindSymbols() || s.constants() || s.sizes() || s.axes() || s.values()) {
	}
	t = s.best
	return &Counterexample{t.before, t.after, t.inputs, t.want, t.got, t.err}
}

type shrinker struct {
	best *trial
	left int
}

// try takes the graph with other sizes if the rule fails on it as well, with the
// values cut to its sizes.
func (s *shrinker) try(size func(ir.Dim) ir.Dim, leaf func(ir.Type) ir.Type) bool {
	for _, last := range []bool{false, true} {
		m := &remapping{size: size, leaf: leaf, last: last}
		f := m.remap(s.best.before)
		if f == nil {
			return false
		}
		var inputs []*tensor.T
		for i, v := range f.Params {
			inputs = append(inputs, m.cut(s.best.inputs[i], v.Type))
		}
		if s.take(f, inputs) {
			return true
		}
	}
	return false
}

// take takes another graph and its inputs if the rule fails on them as well.
func (s *shrinker) take(f *ir.Func, inputs []*tensor.T) bool {
	if s.left <= 0 || slices.Contains(inputs, nil) {
		return false
	}
	s.left--
	t := s.best.rule.apply(f)
	if t == nil {
		return false
	}
	t.inputs = inputs
	if t.run(); t.err == nil {
		return false
	}
	s.best = t
	return true
}

// results leaves the first result alone.
func (s *shrinker) results() bool {
	if len(s.best.before.Results) == 1 {
		return false
	}
	f, _ := s.best.before.Clone()
	f.Results = f.Results[:1]
	prune(f)
	return s.take(f, s.best.inputs)
}

// unread takes out an input that nothing reads.
func (s *shrinker) unread() bool {
	read := s.best.before.Readers()
	i := slices.IndexFunc(s.best.before.Params, func(v *ir.Value) bool { return read[v] == 0 })
	if i < 0 {
		return false
	}
	f, _ := s.best.before.Clone()
	f.Params = slices.Delete(f.Params, i, i+1)
	return s.take(f, slices.Delete(slices.Clone(s.best.inputs), i, i+1))
}

// constants makes one constant an input of the same value.
func (s *shrinker) constants() bool {
	for i, v := range s.best.before.Body {
		if v.Op != ir.Const {
			continue
		}
		f, _ := s.best.before.Clone()
		old := f.Body[i]
		in := f.NewInput(cmp.Or(old.Name, fmt.Sprintf("c%d", i)), old.Type)
		f.Body = slices.Delete(f.Body, i, i+1)
		f.Replace(map[*ir.Value]*ir.Value{old: in})
		if s.take(f, append(slices.Clone(s.best.inputs), old.Attrs[0].Tensor)) {
			return true
		}
	}
	return false
}

// bindSymbols puts numbers for the symbols.
func (s *shrinker) bindSymbols() bool {
	f := s.best.before
	types := make([]ir.Type, len(s.best.inputs))
	symbolic := false
	for i, t := range s.best.inputs {
		types[i] = ir.TypeOf(t)
		symbolic = symbolic || !f.Params[i].Type.IsConst()
	}
	env, err := ir.BindSymbols(f, types)
	if !symbolic || err != nil {
		return false
	}
	return s.try(func(d ir.Dim) ir.Dim {
		if n, err := d.Eval(env); err == nil {
			return ir.N(n)
		}
		return d
	}, nil)
}

// sizes makes one of the sizes 1, or else 2.
func (s *shrinker) sizes() bool {
	seen := map[int64]bool{}
	for _, v := range s.leaves() {
		for _, d := range v.Type.Shape {
			n, ok := d.Const()
			if !ok || n < 2 || seen[n] {
				continue
			}
			seen[n] = true
			for small := int64(1); small <= 2 && small < n; small++ {
				smaller := func(d ir.Dim) ir.Dim {
					if d.Is(n) {
						return ir.N(small)
					}
					return d
				}
				if s.try(smaller, nil) {
					return true
				}
			}
		}
	}
	return false
}

// leaves lists what the graph computes from: inputs and constants.
func (s *shrinker) leaves() []*ir.Value {
	out := slices.Clone(s.best.before.Params)
	for _, v := range s.best.before.Body {
		if v.Op == ir.Const {
			out = append(out, v)
		}
	}
	return out
}

// axes takes the first axis off the tensors of the highest rank.
func (s *shrinker) axes() bool {
	most := 0
	for _, v := range s.leaves() {
		most = max(most, v.Type.Rank())
	}
	if most == 0 {
		return false
	}
	for _, all := range []bool{false, true} {
		drop := func(t ir.Type) ir.Type {
			if t.Rank() == most || all && t.Rank() > 0 {
				t.Shape = t.Shape[1:]
			}
			return t
		}
		if s.try(func(d ir.Dim) ir.Dim { return d }, drop) {
			return true
		}
	}
	return false
}

// simple are the values that a counterexample has where any will do, the simplest
// first.
var simple = []float64{0, 1, 2, -1, 0.5}

// values makes one element simpler.
func (s *shrinker) values() bool {
	for i, t := range s.best.inputs {
		for at := range t.Len() {
			for _, x := range simple {
				simpler := t.Clone()
				simpler.SetFloat(at, x)
				if tensor.BitEqual(simpler, t) {
					break // as simple as it gets
				}
				if s.value(i, simpler) {
					return true
				}
			}
		}
	}
	return false
}

func (s *shrinker) value(input int, simpler *tensor.T) bool {
	inputs := slices.Clone(s.best.inputs)
	inputs[input] = simpler
	return s.take(s.best.before, inputs)
}

// weight tells how much there is to look at in a trial.
func (t *trial) weight() int {
	n := 0
	for _, v := range t.inputs {
		n += 1 + v.Len() + 4*len(v.Shape)
	}
	for _, v := range t.before.Body {
		n += 2
		if v.Op == ir.Const {
			n += v.Attrs[0].Tensor.Len()
		}
	}
	return n
}
