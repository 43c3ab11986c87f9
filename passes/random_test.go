package passes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// Random functions compute the same bits before and after all passes. One that
// fails may succeed afterwards, since nobody may need what failed; one that
// succeeds may not fail.
func TestRandomFunctions(t *testing.T) {
	rewrites := map[string]int{}
	for seed := range uint64(150) {
		f, inputs := irtest.Func(rand.New(rand.NewPCG(seed, 1)), 40)
		want, wantErr := (&ir.Interp{}).Run(f, inputs...)
		before := f.String()
		report, err := Run(f, Options{Verify: true})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, before)
		}
		for _, r := range report.Rewrites {
			rewrites[r.Pass]++
		}
		got, err := (&ir.Interp{}).Run(f, inputs...)
		if wantErr != nil {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: fails after the passes: %v\n%s", seed, err, before)
		}
		for i := range want {
			if d := rewrite.Differ(got[i], want[i], report.Within()); d != nil {
				t.Fatalf("seed %d: result %d differs: %v\n%s\n%s", seed, i, d, before, f)
			}
		}
	}
	for _, name := range own {
		if rewrites[name] < 20 {
			t.Errorf("%s rewrote %d values of 150 functions", name, rewrites[name])
		}
	}
}

// With any amount of fuel the function is legal and means the same.
func TestFuel(t *testing.T) {
	for seed := range uint64(10) {
		f, inputs := irtest.Func(rand.New(rand.NewPCG(seed, 2)), 25)
		want, wantErr := (&ir.Interp{}).Run(f, inputs...)
		if wantErr != nil {
			continue
		}
		for fuel := 1; ; fuel++ {
			g, _ := f.Clone()
			report, err := Run(g, Options{Fuel: fuel, Verify: true})
			if err != nil {
				t.Fatalf("seed %d, fuel %d: %v", seed, fuel, err)
			}
			got, err := (&ir.Interp{}).Run(g, inputs...)
			if err != nil {
				t.Fatalf("seed %d, fuel %d: %v", seed, fuel, err)
			}
			for i := range want {
				if !tensor.BitEqual(got[i], want[i]) {
					t.Fatalf("seed %d, fuel %d: result %d differs", seed, fuel, i)
				}
			}
			if len(report.Rewrites) > fuel {
				t.Fatalf("%d rewrites with fuel for %d", len(report.Rewrites), fuel)
			}
			if len(report.Rewrites) < fuel {
				break
			}
		}
	}
}

// What folding makes in one run is bounded, however many operators ask for it.
func TestFoldingIsBounded(t *testing.T) {
	f := ir.NewFrame("f")
	for range 3000 {
		z, err := f.Add(ir.Lookup("zeros"), nil, []ir.Lit{ir.TypeLit(ir.T(tensor.U8, ir.N(maxFoldBytes)))})
		if err != nil {
			t.Fatal(err)
		}
		f.Return(z...)
	}
	report, err := Run(f.Func, Options{Passes: []string{"fold-const"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(report.Rewrites), allFoldBytes/maxFoldBytes; got != want {
		t.Errorf("%d folds of %d bytes, want %d", got, maxFoldBytes, want)
	}
}

// chain makes n operators in a row, all needed; wide makes n that are equal in
// pairs, all results.
func chain(tb testing.TB, n int) *ir.Func {
	f := ir.NewFrame("chain")
	v := f.Input("x", ir.T(tensor.F32, ir.Sym("B")))
	for i := range n {
		op := []string{"exp", "neg", "abs"}[i%3]
		r, err := f.Add(ir.Lookup(op), []*ir.Value{v}, nil)
		if err != nil {
			tb.Fatal(err)
		}
		v = r[0]
	}
	f.Return(v)
	return f.Func
}

func wide(tb testing.TB, n int) *ir.Func {
	f := ir.NewFrame("wide")
	x := f.Input("x", ir.T(tensor.F32, ir.Sym("B")))
	for i := range n {
		c, err := f.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(tensor.Scalar(float32(i / 2)))})
		if err != nil {
			tb.Fatal(err)
		}
		r, err := f.Add(ir.Lookup("add"), []*ir.Value{x, c[0]}, nil)
		if err != nil {
			tb.Fatal(err)
		}
		f.Return(r...)
	}
	return f.Func
}

// Large graphs take moments. The bound is generous for a busy machine; a pass
// that is quadratic, or recurses over the graph, does not come near it.
func TestLargeGraphs(t *testing.T) {
	for name, build := range map[string]func(testing.TB, int) *ir.Func{"chain": chain, "wide": wide} {
		f := build(t, 100_000)
		start := time.Now()
		if _, err := Run(f, Options{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s of 100,000 operators: %v", name, took)
		}
	}
}

func BenchmarkPasses(b *testing.B) {
	for _, n := range []int{10_000, 30_000, 100_000} {
		for _, shape := range []struct {
			name  string
			build func(testing.TB, int) *ir.Func
		}{{"chain", chain}, {"wide", wide}} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					f := shape.build(b, n)
					b.StartTimer()
					if _, err := Run(f, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestReport(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[2]) -> f32[2] {
  %a = exp %x : f32[2] @3:7
  %b = exp %x : f32[2] @4:7
  %c = add %a, %b : f32[2]
  return %c
}
`)
	var after []string
	report, err := Run(f, Options{Passes: own, After: func(pass string, f *ir.Func) {
		after = append(after, fmt.Sprintf("%s %d", pass, len(f.Body)))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(after, ", "); got != "fold-const 3, merge-equal 3, drop-dead 2" {
		t.Errorf("after the passes: %s", got)
	}
	r := report.Rewrites[0]
	if r.Pass != "merge-equal" || r.Value != "%b" || r.Pos.Line != 4 || r.Pos.Col != 7 {
		t.Errorf("first rewrite: %+v", r)
	}
	s := report.Stats[2]
	if s.Pass != "drop-dead" || s.Rewrites != 1 || s.Before != 3 || s.After != 2 {
		t.Errorf("last statistics: %+v", s)
	}
}
