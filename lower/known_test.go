package lower

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
)

// listed is a plan as text.
func listed(t *testing.T, f *ir.Func, env ir.Env, known *Known) (string, *Plan) {
	t.Helper()
	p, err := Lower(f, env, Options{Known: known})
	if err != nil {
		return err.Error(), nil
	}
	var b bytes.Buffer
	if err := p.WriteTasks(&b); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteMemory(&b); err != nil {
		t.Fatal(err)
	}
	return b.String(), p
}

// TestKnown holds plans that share what is known of a function against plans that do
// not, also at other sizes, and the costs of fused regions against those of their calls.
func TestKnown(t *testing.T) {
	var funcs []*ir.Func
	for seed := range uint64(150) {
		f, _ := irtest.Func(rand.New(rand.NewPCG(seed, 9)), 14)
		funcs = append(funcs, f)
	}
	funcs = append(funcs, irtest.Parse(t, `func @main(%x: f32[B,4]) -> f32[B,8] {
  %y = relu %x : f32[B,4]
  %z = concat %x, %y {axis=1} : f32[B,8]
  %f = fused %z {rule=Elementwise, unit=vector} : f32[B,8] {
    %c = const 2.0 : f32[]
    %b = mul %z, %c : f32[B,8]
    %v = reshape %b {dims=[8,B]} : f32[8,B]
    %d = exp %v : f32[8,B]
    %e = reshape %d {dims=[B,8]} : f32[B,8]
    yield %e
  }
  return %f
}`))
	fused := 0
	for i, f := range funcs {
		known := new(Known)
		for _, n := range []int64{3, 1, 7} {
			env := ir.Env{"B": n}
			want, _ := listed(t, f, env, nil)
			got, p := listed(t, f, env, known)
			if got != want {
				t.Fatalf("function %d, B=%d: the plan is\n%s\nand without Known\n%s", i, n, got, want)
			}
			fused += fusedCosts(t, p)
		}
	}
	if fused < 10 {
		t.Errorf("%d fused regions", fused)
	}
}

// fusedCosts compares the costs of a plan's fused regions with those of their calls.
func fusedCosts(t *testing.T, p *Plan) (count int) {
	if p == nil {
		return 0
	}
	for i := range p.Tasks {
		if r := p.Tasks[i].Region; r != nil && r.Kind == Fused {
			count++
			if got, want := p.Tasks[i].Cost, p.Tasks[i].Call.Cost(); got != want {
				t.Errorf("t%d costs %v, its call %v", i, got, want)
			}
		}
	}
	return count
}
