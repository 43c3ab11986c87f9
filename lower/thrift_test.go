package lower

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
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

// TestEventsLimit: a plan has no more events than the device has at a time, and more
// than one stream as long as that is so.
func TestEventsLimit(t *testing.T) {
	dev := *device.Lookup("cpu")
	ladder := rungs(t, 40)
	free := lowered(t, ladder, Options{Device: &dev, Streams: 8})
	if len(free.Streams) < 3 || len(free.Events) < 40 {
		t.Fatalf("%d streams with %d events: this graph does not ask for enough", len(free.Streams), len(free.Events))
	}
	some := false
	for _, events := range []int{len(free.Events), len(free.Events) - 1, len(free.Events) / 2, 10, 1} {
		dev.Events = events
		p := lowered(t, ladder, Options{Device: &dev, Streams: 8})
		if len(p.Events) > events || p.Tasks[0].Stream != 0 {
			t.Errorf("%d events where the device has %d", len(p.Events), events)
		}
		some = some || len(p.Streams) > 1 && len(p.Streams) < len(free.Streams)
		if events == len(free.Events) && len(p.Streams) != len(free.Streams) {
			t.Errorf("%d streams instead of %d, though the events are enough", len(p.Streams), len(free.Streams))
		}
	}
	if !some {
		t.Errorf("streams are all or one")
	}
}

// TestEventsLimitOfPins: streams that @stream names give way to the limit.
func TestEventsLimitOfPins(t *testing.T) {
	dev := *device.Lookup("ascend910b3")
	ladder := rungs(t, 10)
	for i, v := range ladder.Body {
		v.Annots = append(v.Annots, ir.Annot{Name: "stream", Arg: string(rune('a' + i%4))})
	}
	dev.Events = 3
	if p := lowered(t, ladder, Options{Device: &dev}); len(p.Events) > 3 || len(p.Streams) != 1 {
		t.Errorf("%d streams with %d events, the device has 3", len(p.Streams), len(p.Events))
	}
}

// rungs are four chains of products and sums, each of which reads at every step what
// its neighbour has made.
func rungs(t *testing.T, steps int) *ir.Func {
	t.Helper()
	f := &ir.Func{Name: "rungs"}
	add := func(op string, args ...*ir.Value) *ir.Value {
		out, err := f.Add(ir.Lookup(op), args, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	x := f.NewInput("x", ir.T(tensor.F32, ir.N(256), ir.N(256)))
	at := []*ir.Value{x, x, x, x}
	for i := range steps {
		next := make([]*ir.Value, len(at))
		for k, v := range at {
			op := "matmul"
			if (i+k)%2 == 0 {
				op = "add"
			}
			next[k] = add(op, v, at[(k+1)%len(at)])
		}
		at = next
	}
	f.Results = at
	return f
}
