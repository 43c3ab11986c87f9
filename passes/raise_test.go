package passes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// composed lists calls of every operator that is taken apart, with the rule that does
// it; N stands for the dtype. Each of them comes back as it was.
var composed = []struct{ rule, params, body string }{
	{"decompose-sigmoid", "%x: N[2,8]", "%y = sigmoid %x : N[2,8]"},
	{"decompose-silu", "%x: N[2,8]", "%y = silu %x : N[2,8]"},
	{"decompose-hardswish", "%x: N[2,8]", "%y = hardswish %x : N[2,8]"},
	{"decompose-gelu", "%x: N[2,8]", "%y = gelu %x : N[2,8]"},
	{"decompose-gelu-tanh", "%x: N[2,8]", "%y = gelu %x {approx=tanh} : N[2,8]"},
	{"decompose-softmax", "%x: N[2,8]", "%y = softmax %x : N[2,8]"},
	{"decompose-softmax", "%x: N[B,8]", "%y = softmax %x {axis=0} : N[B,8]"},
	{"decompose-log-softmax", "%x: N[2,8]", "%y = log_softmax %x : N[2,8]"},
	{"decompose-layernorm", "%x: N[2,8]", "%y = layernorm %x {eps=0.0078125} : N[2,8]"},
	{"decompose-layernorm", "%x: N[2,8], %w: N[8]", "%y = layernorm %x, %w {eps=0.0078125} : N[2,8]"},
	{"decompose-layernorm", "%x: N[2,8], %b: N[8]", "%y = layernorm %x, _, %b {eps=0.0078125} : N[2,8]"},
	{"decompose-layernorm", "%x: N[B,4,8], %w: N[4,8], %b: N[4,8]", "%y = layernorm %x, %w, %b {axis=[1,2], eps=0.0078125} : N[B,4,8]"},
	{"decompose-layernorm", "%x: N[B,4,8], %w: N[4], %b: N[4]", "%y = layernorm %x, %w, %b {axis=[1], eps=0.0078125} : N[B,4,8]"},
	{"decompose-rmsnorm", "%x: N[2,8]", "%y = rmsnorm %x {eps=0.0078125} : N[2,8]"},
	{"decompose-rmsnorm", "%x: N[B,2,8], %w: N[8]", "%y = rmsnorm %x, %w {eps=0.0078125} : N[B,2,8]"},
	{"decompose-rope", "%x: N[B,3,8], %c: N[3,4], %s: N[3,4]", "%y = rope %x, %c, %s : N[B,3,8]"},
	{"decompose-rope", "%x: N[B,3,8], %c: N[3,8], %s: N[3,8]", "%y = rope %x, %c, %s : N[B,3,8]"},
	{"decompose-rope", "%x: N[B,3,8], %c: N[3,4], %s: N[3,4]", "%y = rope %x, %c, %s {interleaved=true} : N[B,3,8]"},
	{"decompose-rope", "%x: N[B,3,8], %c: N[3,8], %s: N[3,8]", "%y = rope %x, %c, %s {interleaved=true} : N[B,3,8]"},
	{"decompose-linear", "%x: N[B,8], %w: N[4,8]", "%y = linear %x, %w : N[B,4]"},
	{"decompose-attention", "%q: N[2,S,4], %k: N[2,T,4], %v: N[2,T,6]", "%y = attention %q, %k, %v : N[2,S,6]"},
	{"decompose-attention", "%q: N[B,4,S,4], %k: N[B,2,T,4], %v: N[B,2,T,6]", "%y = attention %q, %k, %v {scale=0.25} : N[B,4,S,6]"},
	{"decompose-attention", "%q: N[2,S,4], %k: N[2,T,4], %v: N[2,T,6]", "%y = attention %q, %k, %v {causal=true} : N[2,S,6]"},
	{"decompose-attention", "%q: N[2,S,4], %k: N[2,T,4], %v: N[2,T,6], %m: bool[S,T]", "%y = attention %q, %k, %v, %m : N[2,S,6]"},
	{"decompose-attention", "%q: N[2,S,4], %k: N[2,T,4], %v: N[2,T,6], %m: bool[T]", "%y = attention %q, %k, %v, %m {causal=true} : N[2,S,6]"},
	{"decompose-attention", "%q: N[2,3,4], %k: N[2,2,4], %v: N[2,2,6]", "%m = const [0, -1000, 0.5, -inf, 0, 0] : N[3,2]\n  %y = attention %q, %k, %v, %m : N[2,3,6]"},
	{"decompose-attention", "%q: N[2,3,4], %k: N[2,2,4], %v: N[2,2,6]", "%m = const [0, 1, 0.5, 0, 0, 0] : N[3,2]\n  %y = attention %q, %k, %v, %m {causal=true} : N[2,3,6]"},
}

// raising undoes what the pass decompose does.
var raising = []string{"merge-equal", "canonicalise", "simplify", "raise", "sink-transposes", "drop-dead"}

func forEachComposed(t *testing.T, visit func(t *testing.T, rule string, f *ir.Func)) {
	for _, w := range composed {
		for _, d := range []string{"f64", "f32", "f16", "bf16"} {
			named := strings.NewReplacer("N[", d+"[").Replace
			last := w.body[strings.LastIndex(w.body, ": ")+2:]
			f := irtest.Parse(t, fmt.Sprintf("func @f(%s) -> %s {\n  %s\n  return %%y\n}\n", named(w.params), named(last), named(w.body)))
			visit(t, w.rule, f)
		}
	}
}

// What is taken apart is raised to what it was.
func TestRaiseDecomposed(t *testing.T) {
	tried := map[string]bool{}
	forEachComposed(t, func(t *testing.T, rule string, f *ir.Func) {
		want := f.String()
		report, err := Run(f, Options{Passes: []string{"decompose"}, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Rewrites) == 0 || report.Rewrites[0].Rule != rule {
			t.Errorf("%s does nothing in\n%s", rule, want)
			return
		}
		tried[rule] = true
		apart := f.String()
		if _, err := Run(f, Options{Passes: raising, Verify: true}); err != nil {
			t.Fatal(err)
		}
		if got := f.String(); got != want {
			t.Errorf("%s\nis taken apart to\n%s\nand raised to\n%s", want, apart, got)
		}
	})
	for _, r := range decomposeRules() {
		if !tried[r.Name] {
			t.Errorf("no call is taken apart by %s", r.Name)
		}
	}
}

// The parts compute what the whole computes, within the tolerance that the rules
// state, where every step is finite.
func TestRaisedWithinTolerance(t *testing.T) {
	compared := 0
	forEachComposed(t, func(t *testing.T, rule string, f *ir.Func) {
		apart, _ := f.Clone()
		report, err := Run(apart, Options{Passes: []string{"decompose"}})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(7, uint64(compared)))
		for _, size := range []float64{0.01, 1, 4, 1000} {
			in := ordinary(r, f, size)
			form, finite := runFinite(t, apart, in)
			if !finite {
				continue
			}
			compared++
			whole, _ := runFinite(t, f, in)
			if err := rewrite.Differ(whole, form, report.Within()); err != nil {
				t.Errorf("%s, numbers of size %v: %v\n%s", rule, size, err, f)
			}
		}
	})
	if compared < 300 {
		t.Errorf("only %d comparisons", compared)
	}
}

// ordinary draws inputs of a size; symbols are 3.
func ordinary(r *rand.Rand, f *ir.Func, size float64) []*tensor.T {
	var in []*tensor.T
	for _, p := range f.Params {
		typ, err := p.Type.Bind(ir.Env{"B": 3, "S": 3, "T": 3})
		if err != nil {
			panic(err)
		}
		x := tensor.New(typ.DType, typ.Ints()...)
		for i := range x.Len() {
			if typ.DType == tensor.Bool {
				x.SetBool(i, r.IntN(3) > 0)
				continue
			}
			x.SetFloat(i, r.NormFloat64()*size)
		}
		in = append(in, x)
	}
	return in
}

// runFinite interprets a function, and reports whether all that it computes is
// finite but for the -inf of masks.
func runFinite(t *testing.T, f *ir.Func, in []*tensor.T) (*tensor.T, bool) {
	t.Helper()
	finite := true
	run := ir.Interp{Trace: func(v *ir.Value, out []*tensor.T) {
		if v.Op == ir.Const || v.Op == ir.Where {
			return
		}
		for _, x := range out {
			for i := range x.Len() {
				finite = finite && (!x.DType.IsFloat() || !math.IsInf(x.FloatAt(i), 1) && !math.IsNaN(x.FloatAt(i)))
			}
		}
	}}
	out, err := run.Run(f, in...)
	if err != nil {
		t.Fatal(err)
	}
	return out[0], finite
}

// For every half float, the activations are within the tolerance of their form, or the
// same where that is infinite or NaN; but for numbers of which a step overflows.
func TestRaisedEveryHalf(t *testing.T) {
	for _, op := range []string{"sigmoid", "silu", "hardswish", "gelu", "gelu {approx=tanh}"} {
		for _, d := range []tensor.DType{tensor.F16, tensor.BF16} {
			name, attrs, _ := strings.Cut(op, " ")
			whole := irtest.Parse(t, fmt.Sprintf("func @f(%%x: %v[65536]) -> %v[65536] {\n  %%y = %s %%x %s : %v[65536]\n  return %%y\n}\n", d, d, name, attrs, d))
			form, _ := whole.Clone()
			report, err := Run(form, Options{Passes: []string{"decompose"}})
			if err != nil {
				t.Fatal(err)
			}
			x := tensor.New(d, 65536)
			for i := range x.Len() {
				x.Data[2*i], x.Data[2*i+1] = byte(i), byte(i>>8)
			}
			for i, lost := range overflows(t, form, x) {
				if lost {
					x.SetFloat(i, 0)
				}
			}
			want, _ := runFinite(t, form, []*tensor.T{x})
			got, _ := runFinite(t, whole, []*tensor.T{x})
			if err := rewrite.Differ(got, want, report.Within()); err != nil {
				t.Errorf("%s of %v: %v", op, d, err)
			}
		}
	}
}

// overflows marks the numbers of x that are finite, but not every step for them.
func overflows(t *testing.T, f *ir.Func, x *tensor.T) []bool {
	t.Helper()
	lost := make([]bool, x.Len())
	run := ir.Interp{Trace: func(v *ir.Value, out []*tensor.T) {
		for i := range lost {
			if out[0].Len() == len(lost) && !isFinite(out[0].FloatAt(i)) && isFinite(x.FloatAt(i)) {
				lost[i] = true
			}
		}
	}}
	if _, err := run.Run(f, x); err != nil {
		t.Fatal(err)
	}
	return lost
}

func isFinite(x float64) bool { return x-x == 0 }
