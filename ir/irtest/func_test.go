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

// TestNear: what is nearly a function is legal, and mostly another one; so is a
// function with such idioms.
func TestNear(t *testing.T) {
	f := Parse(t, `func @f(%x: f32[B,8], %w: f32[8]) -> f32[B,8] {
  %m = mean %x {axis=[-1], keepdims=true} : f32[B,1]
  %d = sub %x, %m : f32[B,8]
  %c = const 0.5 : f32[]
  %a, %b = split %d {parts=2, axis=-1} : f32[B,4], f32[B,4]
  %s = concat %b, %a {axis=-1} : f32[B,8]
  %e = mul %s, %c : f32[B,8]
  %y = mul %e, %w : f32[B,8]
  return %y
}
`)
	text, others := f.String(), map[string]bool{}
	idiom := func(r *rand.Rand) (*ir.Func, map[string]*tensor.T) {
		return Bind(Near(r, f), ir.Env{"B": int64(r.IntN(4))}), nil
	}
	failed := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		g := Near(r, f)
		if err := ir.Verify(g); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g)
		}
		if f.String() != text {
			t.Fatalf("seed %d: the function itself has changed:\n%s", seed, f)
		}
		others[g.String()] = true
		h, inputs := FuncOf(r, 20, idiom)
		if err := ir.Verify(h); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, h)
		}
		if _, err := (&ir.Interp{}).Run(h, inputs...); err != nil {
			failed++
		}
	}
	if failed > 20 {
		t.Errorf("%d of 200 functions fail", failed)
	}
	if len(others) < 40 {
		t.Errorf("only %d functions are near", len(others))
	}
}
