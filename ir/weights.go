package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Weights that are made of others. A graph reads them as weights like all; how they
// are made stands in a function behind it, Func.Weights, without parameters:
//
//	func @main(%x: f32[B,64]) -> f32[B,10] {
//	  %w.bf16 = param : bf16[64,10]
//	  ...
//	} weights {
//	  %w = param : f32[64,10]
//	  %w.bf16 = cast %w {dtype=bf16} : bf16[64,10]
//	  yield %w.bf16
//	}
//
// Its results are named like the weights of the graph that they are. So each is
// computed once, when the program gets its weights, and not in each run.

const madeInvariant = "weights that are made of others are weights of the graph, made without inputs, each once and of its type"

// verifyMade proves that f.Weights makes weights of f.
func verifyMade(f *Func) error {
	w := f.Weights
	if err := Verify(w); err != nil {
		return err
	}
	// A pass may have found that the graph needs one no more.
	wrong := func(v *Value, detail string) error { return &Violation{f.Name, v, madeInvariant, detail} }
	if len(w.Params) > 0 || w.Weights != nil || len(w.Asserts) > 0 {
		return wrong(nil, "there are inputs, asserts, or weights within weights")
	}
	own := map[string]*Value{}
	for _, v := range f.Body {
		if v.Op == Param {
			own[v.Key()] = v
		}
	}
	seen := map[string]bool{}
	for _, v := range w.Results {
		switch p := own[v.Name]; {
		case seen[v.Name]:
			return wrong(v, "it is made twice")
		case p != nil && !p.Type.Equal(v.Type):
			return wrong(v, "the graph has it as "+p.Type.String())
		}
		seen[v.Name] = true
	}
	return nil
}

// MadeWeights maps the weights of f that are made of others, by their keys, to the
// values of f.Weights that make them.
func (f *Func) MadeWeights() map[string]*Value {
	made := map[string]*Value{}
	if f.Weights != nil {
		for _, v := range f.Weights.Results {
			made[v.Name] = v
		}
	}
	return made
}

// SourceWeights lists the weights that f needs and that are not made of others, each
// key once: those of f, then those that only f.Weights reads.
func (f *Func) SourceWeights() []*Value {
	made, seen := f.MadeWeights(), map[string]bool{}
	var out []*Value
	for _, g := range []*Func{f, f.Weights} {
		if g == nil {
			continue
		}
		for _, v := range g.Body {
			if v.Op != Param || seen[v.Key()] || g == f && made[v.Key()] != nil {
				continue
			}
			seen[v.Key()] = true
			out = append(out, v)
		}
	}
	return out
}

// WeightParams lists the weights that f reads, made ones too.
func (f *Func) WeightParams() []*Value {
	var out []*Value
	for _, v := range f.Body {
		if v.Op == Param {
			out = append(out, v)
		}
	}
	return out
}

// withMade is the interpreter with the weights of f that are made of others.
func (in *Interp) withMade(f *Func) (*Interp, error) {
	if f.Weights == nil {
		return in, nil
	}
	b, err := bind(f.Weights, Env{}, in.Budget)
	if err != nil {
		return nil, err
	}
	out, err := b.run(&Interp{Param: in.Param, Budget: in.Budget}, nil)
	if err != nil {
		return nil, err
	}
	full := *in
	full.Param = func(v *Value) (*tensor.T, error) {
		i := slices.IndexFunc(f.Weights.Results, func(r *Value) bool { return r.Name == v.Key() })
		switch {
		case i >= 0:
			return out[i], nil
		case in.Param == nil:
			return nil, Errorf("missing-weight", "the weight %s has no values", v.Key())
		}
		return in.Param(v)
	}
	return &full, nil
}
