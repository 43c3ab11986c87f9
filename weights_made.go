package npu

import (
	"maps"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
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

// computeWeights makes the weights of the program that are made of others. A source
// that has been read for the last time, and that no run reads, need not stay in
// memory.
func (p *Program) computeWeights() (map[string]*Tensor, error) {
	m := &weightMaking{p: p, budget: &ir.Budget{Bytes: p.opts.MaxMemory}, values: map[*ir.Value]*Tensor{}, further: map[*ir.Value][]*Tensor{}}
	m.left = p.fn.Weights.Readers()
	for _, v := range p.fn.Weights.Body {
		if err := m.value(v); err != nil {
			return nil, &ir.RunError{What: v.Op.Name, Value: v, Pos: v.Pos, Err: err}
		}
	}
	made := map[string]*Tensor{}
	for _, v := range p.fn.Weights.Results {
		made[v.Name] = m.values[v]
	}
	return made, nil
}

// A weightMaking is the state of computeWeights.
type weightMaking struct {
	p       *Program
	budget  *ir.Budget
	values  map[*ir.Value]*Tensor
	further map[*ir.Value][]*Tensor // of values with several results: all of them
	left    map[*ir.Value]int       // readers that a value still has
}

// value computes one value, by the evaluation that defines its operator.
func (m *weightMaking) value(v *ir.Value) (err error) {
	switch {
	case v.Op == ir.Param:
		m.values[v], err = m.p.weight(v.Key())
		return err
	case v.Op.Flags&ir.Projection != 0:
		m.values[v] = m.further[v.Args[0]][v.Index()]
		return nil
	case v.Op.Flags&ir.View != 0 && v.Op.Class == ir.Move:
		m.values[v] = &Tensor{DType: v.Type.DType, Shape: v.Type.Ints(), Data: m.values[v.Args[0]].Data}
		return nil
	}
	c := v.Call()
	args := make([]*tensor.T, len(v.Args))
	for i, a := range v.Args {
		args[i] = m.values[a]
	}
	c.Known = args
	if err := ir.InferCall(c); err != nil {
		return err
	}
	bound, err := c.Bind(ir.Env{})
	if err != nil {
		return err
	}
	bound.Budget = m.budget
	out, err := ir.Evaluate(bound, args...)
	if err != nil {
		return err
	}
	m.values[v], m.further[v] = out[0], out
	return m.done(v, out)
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
		if a.Op == ir.Param {
			m.release(a)
			continue
		}
		m.budget.Give(int64(len(m.values[a].Data)))
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
