package passes

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/npulang/npu/golden/expect"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
)

// A file of testdata has sections "in", whose header names the passes to run and
// perhaps fuel=N, each with the expected "out" and "rewrites".
func TestPasses(t *testing.T) {
	fired := map[string]bool{}
	expect.Archives(t, []string{"in"}, func(t *testing.T, in txtar.File) []txtar.File {
		out, rewrites := runCase(t, in, fired)
		return []txtar.File{expect.Section("out", out), expect.Section("rewrites", rewrites)}
	})
	for _, name := range own {
		if !fired[name] {
			t.Errorf("no case of testdata makes %s rewrite anything", name)
		}
	}
}

// own are the passes with code of their own; the rules of the others each have a
// golden file.
var own = []string{"fold-const", "merge-equal", "drop-dead"}

// runCase runs the passes that the section's header names on its function:
// -- in fold-const merge-equal fuel=1 --
func runCase(t *testing.T, in txtar.File, fired map[string]bool) (out, rewrites string) {
	t.Helper()
	o := Options{Verify: true, Passes: []string{}}
	for _, word := range strings.Fields(in.Name)[1:] {
		if n, ok := strings.CutPrefix(word, "fuel="); ok {
			o.Fuel, _ = strconv.Atoi(n)
		} else {
			o.Passes = append(o.Passes, word)
		}
	}
	f := irtest.Parse(t, string(in.Data))
	report, err := Run(f, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range report.Rewrites {
		fired[r.Pass] = true
		fmt.Fprintf(&b, "%s %s %s\n", r.Pass, r.Rule, r.Value)
	}
	return f.String(), b.String()
}

func TestPipeline(t *testing.T) {
	place := map[string]int{}
	for i, p := range Pipeline {
		if _, twice := place[p.Name]; twice || p.Doc == "" || (p.Rules == nil) == (p.Code == nil) || p.Level < O0 {
			t.Errorf("pass %q: row is not complete, or the name not unique", p.Name)
		}
		place[p.Name] = i
	}
	for _, o := range order {
		before, ok := place[o.Before]
		after, ok2 := place[o.After]
		if !ok || !ok2 || before >= after {
			t.Errorf("%s must stand before %s: %s", o.Before, o.After, o.Why)
		}
	}
}

func TestLevels(t *testing.T) {
	counts := map[Level]int{}
	for _, l := range []Level{Default, O0, O1, O2} {
		f := ir.NewFrame("f")
		a, _ := f.Add(ir.Const, nil, []ir.Lit{ir.TensorLit(tensor.Scalar(float32(4)))})
		b, err := f.Add(ir.Lookup("sqrt"), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Return(b...)
		report, err := Run(f.Func, Options{Level: l, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		counts[l] = len(report.Rewrites)
	}
	if counts[O0] != 0 || counts[O1] != 2 || counts[O2] != 2 || counts[Default] != 2 {
		t.Errorf("rewrites by level: %v", counts)
	}
	for _, l := range []Level{O0, O1, O2} {
		if got, ok := ParseLevel(l.String()); !ok || got != l {
			t.Errorf("level %s does not parse back", l)
		}
	}
	if _, ok := ParseLevel("O3"); ok {
		t.Error("O3 is a level")
	}
}

func TestUnknownPass(t *testing.T) {
	_, err := Run(&ir.Func{}, Options{Passes: []string{"fold-cost"}})
	if err == nil || !strings.Contains(err.Error(), `no pass named "fold-cost"`) {
		t.Fatalf("err = %v", err)
	}
	if d := err.(*diag.Diagnostic); len(d.Helps) != 1 || d.Helps[0] != "did you mean fold-const?" {
		t.Errorf("helps = %q", d.Helps)
	}
}
