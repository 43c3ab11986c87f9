package npu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
)

// TestBoundArena plans every size below a bound, and runs some: all have the arena
// of the largest, and compute what a program without bounds does.
func TestBoundArena(t *testing.T) {
	for _, opts := range []Options{{}, {Fusion: FuseNone}, {MemoryMode: MemoryAggressive, Streams: 4}, {Level: O0, Align: 32}} {
		free := fiftyProgram(t, opts)
		opts.MaxDims = map[string]int64{"B": 24}
		p := fiftyProgram(t, opts)
		most, err := p.code(ir.Env{"B": 24})
		if err != nil {
			t.Fatal(err)
		}
		for n := int64(1); n <= 24; n++ {
			code, err := p.code(ir.Env{"B": n})
			if err != nil {
				t.Fatal(err)
			}
			if code.Arena != most.Arena {
				t.Errorf("B=%d has an arena of %d bytes, and B=24 one of %d", n, code.Arena, most.Arena)
			}
			inputs := map[string]*Tensor{"x": RandomTensor(F32, []int{int(n), 16}, 1, "x")}
			got, err := p.Run(t.Context(), inputs)
			if err != nil {
				t.Fatal(err)
			}
			want, err := free.Run(t.Context(), inputs)
			if err != nil || string(got["out"].Data) != string(want["out"].Data) {
				t.Errorf("B=%d: results differ, error %v", n, err)
			}
		}
		if info := p.MemoryInfo(); info.Kept != most.Arena {
			t.Errorf("%d bytes are kept after runs of 24 sizes, of which one arena of %d is enough", info.Kept, most.Arena)
		}
	}
}

// TestBoundRefused gives bounds that the graph cannot have as sizes.
func TestBoundRefused(t *testing.T) {
	const halves = `graph main(x: f32[B]) -> f32[2, B / 2] { return reshape(x, [2, B / 2]) }`
	_, err := Compile(Script("halves.npu", halves), Options{MaxDims: map[string]int64{"B": 7}})
	if err == nil || !strings.Contains(fmt.Sprint(AsDiagnostic(err).Notes), "upper bounds B=7") {
		t.Errorf("an odd bound of an even size: %v", err)
	}
	p, err := Compile(Script("halves.npu", halves), Options{MaxDims: map[string]int64{"B": 8}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for n, fine := range map[int]bool{2: true, 5: false, 8: true, 10: false} {
		if _, err := p.Run(t.Context(), map[string]*Tensor{"x": NewTensor(F32, n)}); (err == nil) != fine {
			t.Errorf("B=%d under a bound of 8: %v", n, err)
		}
	}
}

// TestBindingKeepsItsPlan: runs of a binding are uses of its plan, which stays while
// others come and go.
func TestBindingKeepsItsPlan(t *testing.T) {
	p := fiftyProgram(t, Options{})
	b, err := p.Bind(map[string]*Tensor{"x": RandomTensor(F32, []int{3, 16}, 1, "x")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := b.plan
	for n := range 2 * maxPlans {
		if _, err := p.Run(t.Context(), map[string]*Tensor{"x": NewTensor(F32, 10+n, 16)}); err != nil {
			t.Fatal(err)
		}
		if err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if b.plan != plan || plan.evicted {
		t.Errorf("the plan of a binding in use was made again")
	}
}
