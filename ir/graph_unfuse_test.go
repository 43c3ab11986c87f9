package ir_test

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
)

func TestUnfuse(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %y, %z = fused %x {rule=Outer} : f32[4], f32[4] {
    %0 = exp %x : f32[4]
    %1 = fused %0, %x {rule=Inner} : f32[4] (%a: f32[4], %b: f32[4]) {
      %s = add %a, %b : f32[4]
      yield %s
    }
    yield %1, %x
  }
  %w = neg %z : f32[4]
  return %y, %z, %w
}
`)
	f.Unfuse()
	want := `func @f(%x: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %0 = exp %x : f32[4]
  %s = add %0, %x : f32[4]
  %w = neg %x : f32[4]
  return %s, %x, %w
}
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Random functions mean the same without their fused regions.
func TestUnfuseKeepsMeaning(t *testing.T) {
	fused := 0
	for seed := range uint64(60) {
		f, inputs := irtest.Func(rand.New(rand.NewPCG(seed, 9)), 40)
		want, wantErr := (&ir.Interp{}).Run(f, inputs...)
		for _, v := range f.Body {
			if v.Op == ir.Fused {
				fused++
			}
		}
		f.Unfuse()
		if err := ir.Verify(f); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := (&ir.Interp{}).Run(f, inputs...)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("seed %d: %v, before %v", seed, err, wantErr)
		}
		for i := range want {
			if err == nil && !tensor.BitEqual(got[i], want[i]) {
				t.Fatalf("seed %d: result %d differs", seed, i)
			}
		}
	}
	if fused < 10 {
		t.Errorf("only %d fused regions in 60 functions", fused)
	}
}
