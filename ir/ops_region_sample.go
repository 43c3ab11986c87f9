package ir

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

// Samples of region operators: small bodies of arithmetic on one type. The
// operators inside are looked up by name, since rows must not refer to rows.

var (
	sampleUnaries  = []string{"neg", "abs", "square", "sign"}
	sampleBinaries = []string{"add", "sub", "mul", "maximum", "minimum"}
	sampleDTypes   = []tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.I32, tensor.I64}
)

// sampleBodyType is the type of all values of a sampled body.
func sampleBodyType(r *rand.Rand) Type {
	t := Type{DType: sampleDTypes[r.IntN(len(sampleDTypes))]}
	for range r.IntN(3) {
		t.Shape = append(t.Shape, N(int64(r.IntN(4))))
	}
	return t
}

// repeatType lists t n times.
func repeatType(t Type, n int) []Type {
	ts := make([]Type, n)
	for i := range ts {
		ts[i] = t
	}
	return ts
}

// sampleBody makes a body with the given parameters whose results, so many, are
// all of type t.
func sampleBody(r *rand.Rand, params []Type, t Type, results int) *Func {
	f := &Func{}
	var pool []*Value
	for _, p := range params {
		v := f.NewInput("", p)
		if p.Equal(t) {
			pool = append(pool, v)
		}
	}
	for range 1 + r.IntN(4) {
		pool = append(pool, growBody(r, f, pool))
	}
	for range results {
		f.Results = append(f.Results, pool[r.IntN(len(pool))])
	}
	return f
}

// growBody appends one operator on values of the pool.
func growBody(r *rand.Rand, f *Func, pool []*Value) *Value {
	pick := func() *Value { return pool[r.IntN(len(pool))] }
	name, args := sampleUnaries[r.IntN(len(sampleUnaries))], []*Value{pick()}
	if r.IntN(3) > 0 {
		name, args = sampleBinaries[r.IntN(len(sampleBinaries))], []*Value{pick(), pick()}
	}
	out, err := f.Add(Lookup(name), args, nil)
	if err != nil {
		panic("ir: sample of " + name + ": " + err.Error())
	}
	return out[0]
}

func sampleFused(r *rand.Rand) Call {
	t := sampleBodyType(r)
	in := repeatType(t, 1+r.IntN(3))
	body := sampleBody(r, in, t, 1+r.IntN(2))
	return Call{Op: Lookup("fused"), In: in, Attrs: []Lit{StrLit("sample"), StrLit("vector")}, Bodies: []*Func{body}}
}

func sampleIf(r *rand.Rand) Call {
	t := sampleBodyType(r)
	in := repeatType(t, 1+r.IntN(3))
	results := 1 + r.IntN(2)
	bodies := []*Func{sampleBody(r, in, t, results), sampleBody(r, in, t, results)}
	return Call{Op: Lookup("if"), In: append([]Type{T(tensor.Bool)}, in...), Bodies: bodies}
}

// sampleLoop makes loops of at most three rounds, some with a condition, which
// is the last argument.
func sampleLoop(r *rand.Rand) Call {
	t := sampleBodyType(r)
	carry, collect := 1+r.IntN(2), r.IntN(2)
	from := int64(r.IntN(3))
	to := from + int64(r.IntN(4))
	in := append(repeatType(t, carry+r.IntN(2)), T(tensor.Bool))
	withCond := r.IntN(3) == 0
	if withCond {
		collect = 0
	}
	bodies := []*Func{sampleBody(r, append([]Type{counterType}, in...), t, carry+collect)}
	if withCond {
		bodies = append(bodies, sampleCond(in))
	}
	attrs := []Lit{DimLit(N(from)), DimLit(N(to)), IntLit(int64(carry)), IntLit(int64(collect))}
	return Call{Op: Lookup("loop"), In: in, Attrs: attrs, Bodies: bodies}
}

// sampleCond yields its last parameter, a bool.
func sampleCond(params []Type) *Func {
	f := &Func{}
	for _, p := range params {
		f.NewInput("", p)
	}
	f.Results = f.Params[len(params)-1:]
	return f
}
