package lower

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
)

// towers are chains of one operator on inputs of so many elements, which are added up.
func towers(t *testing.T, chains, length int, elements int64) *ir.Func {
	t.Helper()
	f := &ir.Func{Name: "towers"}
	add := func(op string, args ...*ir.Value) *ir.Value {
		out, err := f.Add(ir.Lookup(op), args, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	x := f.NewInput("x", ir.T(tensor.F32, ir.N(8), ir.N(elements/8)))
	var sum *ir.Value
	for range chains {
		v := x
		for range length {
			v = add("softmax", v)
		}
		if sum != nil {
			v = add("add", sum, v)
		}
		sum = v
	}
	f.Results = []*ir.Value{sum}
	return f
}

func lowered(t *testing.T, f *ir.Func, o Options) *Plan {
	t.Helper()
	p, err := Lower(f, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestThrift: large tasks stay on one stream unless streams are asked for, small ones
// have as many as before, since they are not shared out.
func TestThrift(t *testing.T) {
	large := towers(t, 4, 6, 1<<20)
	one := lowered(t, large, Options{Streams: 1})
	if p := lowered(t, large, Options{}); len(p.Streams) != 1 || p.Arena != one.Arena {
		t.Errorf("large tasks: %d streams and %d bytes, one stream has %d", len(p.Streams), p.Arena, one.Arena)
	}
	if p := lowered(t, large, Options{Streams: 4}); len(p.Streams) < 2 || p.Arena <= one.Arena {
		t.Errorf("four streams are asked for: there are %d, with %d bytes", len(p.Streams), p.Arena)
	}
	small := towers(t, 2, 40, 4000)
	asked := lowered(t, small, Options{Streams: 4})
	if p := lowered(t, small, Options{}); len(p.Streams) != len(asked.Streams) || len(p.Streams) < 2 {
		t.Errorf("small tasks: %d streams, and %d where they are asked for", len(p.Streams), len(asked.Streams))
	}
}

// TestThriftHolds: whatever the graph, streams that nobody asks for take no more memory
// than their time is worth, and there are some.
func TestThriftHolds(t *testing.T) {
	several := 0
	for seed := range uint64(400) {
		f, _ := irtest.Func(rand.New(rand.NewPCG(seed, 5)), 40)
		p, one := lowered(t, f, Options{}), lowered(t, f, Options{Streams: 1})
		before, after := float64(one.shared()), float64(p.shared())
		if float64(p.Arena) > float64(one.Arena)*(1+2*(before/after-1)+1e-9) {
			t.Errorf("seed %d: %d streams take %d bytes for %v ns, one %d for %v", seed, len(p.Streams), p.Arena, after, one.Arena, before)
		}
		if len(p.Streams) > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no graph had several streams")
	}
}
