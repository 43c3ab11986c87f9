package ir

import (
	"math/rand/v2"
	"testing"
)

// What Infer asks of numbers, a call with symbols asserts: when the sizes of a
// call are bound and no assert is violated, the call with these numbers is legal.
// Otherwise an error that the interpreter does not see, since there are no
// elements, would end the compilation, or a run.
func TestAssertsSuffice(t *testing.T) {
	bound := map[string]int{}
	for _, op := range Ops() {
		if op.Sample == nil || len(op.Regions) > 0 {
			continue
		}
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 3))
			if f := symbolicSample(r, op); f != nil && bindSample(t, r, f) {
				bound[op.Name]++
			}
		}
	}
	for _, name := range []string{"rope", "split", "reshape", "conv", "attention", "topk", "max_pool", "add", "matmul"} {
		if bound[name] < 10 {
			t.Errorf("%s was bound %d times", name, bound[name])
		}
	}
}

// symbolicSample is a function of one call, with a symbol for each size of its
// arguments, or most of them; nil: it is not legal.
func symbolicSample(r *rand.Rand, op *Op) *Func {
	c := op.Sample(r)
	if c.Attrs == nil {
		c.Attrs = op.Defaults()
	}
	sizes := map[int64]Dim{}
	size := func(d Dim) Dim {
		n, ok := d.Const()
		if !ok || n < 1 {
			return d
		}
		if _, seen := sizes[n]; !seen {
			if sizes[n] = d; r.IntN(3) > 0 {
				sizes[n] = Sym("N" + d.String())
			}
		}
		return sizes[n]
	}
	f := &Func{Name: "sample"}
	var args []*Value
	for _, in := range c.In {
		var v *Value
		if !in.Absent() {
			shape := make([]Dim, len(in.Shape))
			for i, d := range in.Shape {
				shape[i] = size(d)
			}
			v = f.NewInput("", Type{in.DType, shape})
		}
		args = append(args, v)
	}
	for i, l := range c.Attrs {
		if k := op.Attrs[i].Kind; k == KDim || k == KDims || k == KType {
			c.Attrs[i].Dims = make([]Dim, len(l.Dims))
			for j, d := range l.Dims {
				c.Attrs[i].Dims[j] = size(d)
			}
		}
	}
	out, err := f.Add(op, args, c.Attrs)
	if err != nil || Verify(f) != nil {
		return nil
	}
	f.Results = out[:1]
	return f
}

// bindSample binds a sample to sizes that its asserts let pass, if such are found.
func bindSample(t *testing.T, r *rand.Rand, f *Func) bool {
	t.Helper()
	for range 6 {
		env := Env{}
		var in []Type
		for _, p := range f.Params {
			for _, d := range p.Type.Shape {
				d.Symbols(func(s string) {
					if _, ok := env[s]; !ok {
						env[s] = int64(r.IntN(7))
					}
				})
			}
			b, err := p.Type.Bind(env)
			if err != nil {
				return false
			}
			in = append(in, b)
		}
		if _, err := BindSymbols(f, in); err != nil {
			continue
		}
		c, err := f.Results[0].Call().Bind(env)
		if err != nil {
			continue
		}
		// A -1 beside a size that is now 0 has been solved before.
		err = InferCall(&Call{Op: c.Op, In: c.In, Attrs: c.Attrs})
		if err != nil && !hasCode(err, "wrong-arguments") {
			t.Errorf("with %v: %v\n%s", env, err, f)
		}
		return true
	}
	return false
}
