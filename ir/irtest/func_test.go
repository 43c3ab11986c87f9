package irtest

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// TestFunc: random functions are legal, keep their text over a round trip, and
// what is read back computes the same bits; so does a copy.
func TestFunc(t *testing.T) {
	failed, values := 0, 0
	used := map[string]bool{}
	const n = 300
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 1))
		f, inputs := Func(r, 30)
		if err := ir.Verify(f); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		for v := range f.All() {
			used[v.Op.Name] = true
		}
		values += len(f.Body)
		text := f.String()
		back, errs := ir.ParseFuncs(diag.NewSource("random.ir", text))
		if err := errs.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if got := back[0].String(); got != text {
			t.Fatalf("seed %d: the text changes:\n%s\n%s", seed, text, got)
		}
		clone, _ := f.Clone()
		out, err := (&ir.Interp{}).Run(f, inputs...)
		if err != nil {
			failed++
		}
		for _, g := range []*ir.Func{back[0], clone} {
			same(t, seed, g, inputs, out, err)
		}
	}
	if failed > n/10 {
		t.Errorf("%d of %d functions fail", failed, n)
	}
	if values < 20*n {
		t.Errorf("%d values in %d functions", values, n)
	}
	for _, op := range ir.Ops() {
		if op.Sample != nil && !used[op.Name] {
			t.Errorf("no function has %s", op.Name)
		}
	}
}

// same runs g and compares with what the first function gave.
func same(t *testing.T, seed uint64, g *ir.Func, inputs, want []*tensor.T, wantErr error) {
	t.Helper()
	got, err := (&ir.Interp{}).Run(g, inputs...)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("seed %d: %v, then %v", seed, wantErr, err)
	}
	for i := range got {
		if !tensor.BitEqual(got[i], want[i]) {
			t.Fatalf("seed %d: result %d differs", seed, i)
		}
	}
}
