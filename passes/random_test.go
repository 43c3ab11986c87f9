package passes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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
