package npu

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// makeWeights computes the weights of the program that are made of others, unless a
// compiled file holds them, and lets go of those that no run reads.
func (p *Program) makeWeights() error {
	if p.hasMade(p.fn) {
		return nil
	}
	made, err := p.computeWeights()
	if err != nil {
		return excerpt(p.script, runError(err))
	}
	kept := maps.Clone(p.weights)
	maps.Copy(kept, made)
	if !p.keepSources {
		p.holdMade(made)
		read := map[string]bool{}
		for _, v := range p.fn.WeightParams() {
			read[v.Key()] = true
		}
		for _, v := range p.fn.Weights.WeightParams() {
			if !read[v.Key()] {
				delete(kept, v.Key())
			}
		}
	}
	p.weights = kept
	return nil
}

// hasMade reports whether the program holds all weights of f that are made of others.
func (p *Program) hasMade(f *ir.Func) bool {
	made := f.MadeWeights()
	for _, v := range f.WeightParams() {
		if made[v.Key()] != nil && p.weights[v.Key()] == nil {
			return false
		}
	}
	return true
}

// withoutMade is f for an interpreter that asks the program for weights: what the
// program holds is not made again.
func (p *Program) withoutMade(f *ir.Func) *ir.Func {
	if f.Weights == nil || !p.hasMade(f) {
		return f
	}
	plain := *f
	plain.Weights = nil
	return &plain
}

// computeWeights makes the weights of the program that are made of others, on as many
// processors as its runs may use. A source that has been read for the last time, and
// that no run reads, need not stay in memory.
func (p *Program) computeWeights() (map[string]*Tensor, error) {
	groups := weightGroups(p.fn.Weights)
	made, err := p.computeGroups(groups, threadsOf(p.opts.Threads))
	if err != nil {
		// One after the other they need the least memory, and the first error is found.
		made, err = p.computeGroups(groups, 1)
	}
	return made, err
}

// weightGroups parts the values of a function into groups that share nothing but
// weights and constants, in order.
func weightGroups(f *ir.Func) [][]*ir.Value {
	group := map[*ir.Value]int{} // of values: an index of body, the least of its group
	into := make([]int, len(f.Body))
	first := func(i int) int {
		for into[i] != i {
			into[i] = into[into[i]]
			i = into[i]
		}
		return i
	}
	for i, v := range f.Body {
		group[v], into[i] = i, i
		for _, a := range v.Args {
			if a == nil || a.Op == ir.Param || a.Op == ir.Const {
				continue
			}
			x, y := first(i), first(group[a])
			into[max(x, y)] = min(x, y)
		}
	}
	var groups [][]*ir.Value
	place := map[int]int{}
	for i, v := range f.Body {
		root := first(i)
		at, known := place[root]
		if !known {
			at, place[root] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], v)
	}
	return groups
}

// computeGroups computes groups of values, so many at a time.
func (p *Program) computeGroups(groups [][]*ir.Value, threads int) (map[string]*Tensor, error) {
	budget := &ir.Budget{Bytes: p.opts.MaxMemory}
	results := p.fn.MadeWeights()
	made, errs := map[string]*Tensor{}, make([]error, len(groups))
	var mu sync.Mutex
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(threads, len(groups)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(groups); i = int(next.Add(1)) - 1 {
				m := newWeightMaking(p, budget, groups[i], results)
				m.threads = max(1, threads/len(groups))
				if errs[i] = m.run(groups[i]); errs[i] != nil {
					next.Store(int64(len(groups)))
					return
				}
				mu.Lock()
				for _, v := range groups[i] {
					if results[v.Name] == v {
						made[v.Name] = m.values[v]
					}
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// A weightMaking computes one group of values. Unlike ir.Interp it copies no views, and
// lets go of the memory of sources.
type weightMaking struct {
	p       *Program
	budget  *ir.Budget
	values  map[*ir.Value]*Tensor
	further map[*ir.Value][]*Tensor // of values with several results: all of them
	views   map[*ir.Value]bool      // values in the memory of others
	left    map[*ir.Value]int       // readers that a value still has in the group
	kernels kernel.Options
	exec    kernel.Exec
	results map[string]*ir.Value
	threads int                                // that the group may use
	find    func(name string) (*Tensor, error) // of a source
}

// newWeightMaking begins a group; results are those of all groups, by name.
func newWeightMaking(p *Program, budget *ir.Budget, group []*ir.Value, results map[string]*ir.Value) *weightMaking {
	m := &weightMaking{p: p, budget: budget, values: map[*ir.Value]*Tensor{}, further: map[*ir.Value][]*Tensor{}, views: map[*ir.Value]bool{}, left: map[*ir.Value]int{}, kernels: p.opts.kernelOptions(), results: results, threads: 1, find: p.weight}
	for _, v := range group {
		for _, a := range v.Args {
			m.left[a]++
		}
		if results[v.Name] == v {
			m.left[v]++
		}
	}
	return m
}

func (m *weightMaking) run(group []*ir.Value) error {
	if done, err := m.whole(group); done || err != nil {
		return err
	}
	for _, v := range group {
		if err := m.value(v); err != nil {
			return &ir.RunError{What: v.Op.Name, Value: v, Pos: v.Pos, Err: err}
		}
	}
	return nil
}

// source finds the tensor of a weight or a constant.
func (m *weightMaking) source(v *ir.Value) (err error) {
	switch {
	case v == nil || m.values[v] != nil:
	case v.Op == ir.Const:
		m.values[v] = v.Attrs[0].Tensor
	case v.Op == ir.Param:
		m.values[v], err = m.find(v.Key())
	}
	return err
}

// value computes one value.
func (m *weightMaking) value(v *ir.Value) (err error) {
	for _, a := range v.Args {
		if err := m.source(a); err != nil {
			return err
		}
	}
	switch {
	case v.Op == ir.Param || v.Op == ir.Const:
		return m.source(v)
	case v.Op.Flags&ir.Projection != 0:
		m.values[v] = m.further[v.Args[0]][v.Index()]
		return nil
	case v.Op.Flags&ir.View != 0 && v.Op.Class == ir.Move:
		m.values[v] = &Tensor{DType: v.Type.DType, Shape: v.Type.Ints(), Data: m.values[v.Args[0]].Data}
		m.views[v] = true
		return nil
	}
	args := make([]*tensor.T, len(v.Args))
	for i, a := range v.Args {
		args[i] = m.values[a]
	}
	bound, err := boundCall(v, args)
	if err != nil {
		return err
	}
	bound.Budget = m.budget
	out, err := m.compute(bound, args)
	if err != nil {
		return err
	}
	m.values[v], m.further[v] = out[0], out
	return m.done(v, out)
}

// boundCall is the call of a value, of which some arguments are known.
func boundCall(v *ir.Value, args []*tensor.T) (*ir.Call, error) {
	c := v.Call()
	c.Known = args
	if err := ir.InferCall(c); err != nil {
		return nil, err
	}
	return c.Bind(ir.Env{})
}

// compute runs a call: by a kernel that gives the bits of the evaluation, as moves and
// conversions do, if the results are not larger than the arguments, else by that.
func (m *weightMaking) compute(c *ir.Call, args []*Tensor) ([]*Tensor, error) {
	k := kernel.Prepare(kernel.Single(c, nil, kernel.Absent), &m.kernels)
	cost := ir.DefaultCost(c, 0)
	if k == nil || k.Kind == kernel.Reference || k.Within > 0 || cost.Out > cost.In {
		return ir.Evaluate(c, args...)
	}
	out := make([]*Tensor, len(c.Out))
	for i, t := range c.Out {
		out[i] = tensor.New(t.DType, t.Ints()...)
	}
	m.exec.Budget = m.budget
	defer m.exec.Clear()
	return out, k.Do(&m.exec, 0, 1, out, slices.DeleteFunc(slices.Clone(args), func(t *Tensor) bool { return t == nil }))
}

// done counts what v has made, and forgets what it was the last to read.
func (m *weightMaking) done(v *ir.Value, out []*Tensor) error {
	for _, t := range out {
		if err := m.budget.Take(int64(len(t.Data))); err != nil {
			return err
		}
	}
	for _, a := range v.Args {
		if a == nil {
			continue
		}
		if m.left[a]--; m.left[a] > 0 {
			continue
		}
		switch a.Op {
		case ir.Param:
			m.release(a)
			continue
		case ir.Const:
			continue
		}
		if !m.views[a] {
			m.budget.Give(int64(len(m.values[a].Data)))
		}
		delete(m.values, a)
		delete(m.further, a)
	}
	return nil
}

// release says that a source is not read any more; the system may have the pages of
// a file back.
func (m *weightMaking) release(v *ir.Value) {
	if m.p.plans.seldom != nil {
		m.p.plans.seldom(m.values[v])
	}
}
