package vm_test

import (
	"context"
	"testing"

	"github.com/npulang/npu/codegen"
	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lower"
	"github.com/npulang/npu/vm"
)

// joined has parts whose share of what is read depends on the sizes, and values
// that take the place of others.
const joined = `func @f(%x: f32[B,4], %y: f32[S,4]) -> (z: f32[B+S,4], first: f32[min(3,B+S),4]) {
  %a = neg %x : f32[B,4]
  %b = sort %a : f32[B,4]
  %c = abs %y : f32[S,4]
  %d = sort %c : f32[S,4]
  %e = concat %b, %d : f32[B+S,4]
  %f = slice %e {starts=[0], ends=[3], axes=[0]} : f32[min(3,B+S),4]
  %g = sort %f : f32[min(3,B+S),4]
  %h = exp %e : f32[B+S,4]
  %i = sort %h : f32[B+S,4]
  return %i, %g
}`

// TestWithin plans every function for large sizes, and within that for smaller
// ones: one arena serves all, and the results are those of the interpreter.
func TestWithin(t *testing.T) {
	list := append(functions[:len(functions):len(functions)], struct{ name, text string }{"joined", joined})
	most := ir.Env{"B": 6, "S": 5}
	for _, c := range list {
		f := parse(t, c.text)
		for _, opts := range []lower.Options{{Device: eager, Streams: 4}, {Streams: 1, Memory: lower.MemoryAggressive}, {Device: eager, Memory: lower.MemoryOff}} {
			large, err := lower.Lower(f, most, opts)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for _, env := range []ir.Env{{"B": 6, "S": 5}, {"B": 2, "S": 5}, {"B": 5, "S": 1}, {"B": 1, "S": 1}, {"B": 0, "S": 3}, {"B": 0, "S": 0}} {
				plan, err := lower.LowerWithin(f, env, opts, large)
				if err != nil {
					t.Fatalf("%s %v: %v", c.name, env, err)
				}
				if plan.Arena != large.Arena {
					t.Errorf("%s %v: an arena of %d bytes within one of %d", c.name, env, plan.Arena, large.Arena)
				}
				runPlan(t, f, plan, env)
			}
		}
	}
}

func runPlan(t *testing.T, f *ir.Func, plan *lower.Plan, env ir.Env) {
	t.Helper()
	p, _, err := codegen.Emit(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := bytecode.Verify(p); err != nil {
		t.Fatalf("%v %v\n%s\n%s", env, err, f, listing(p))
	}
	in := inputsOf(t, f, env, 3)
	interp := &ir.Interp{Param: func(v *ir.Value) (*tensor.T, error) { return weightOf(v.Type), nil }}
	want, wantErr := interp.Run(f, in...)
	m := load(t, f, p, vm.Options{})
	for range 2 {
		got, err := m.Run(context.Background(), in)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%v: the machine says %v, the interpreter %v\n%s", env, err, wantErr, f)
		}
		if err == nil {
			same(t, f, p, got, want)
		}
	}
}

// TestWithinKeepsOffsets: the smaller plan is the larger one with smaller values.
func TestWithinKeepsOffsets(t *testing.T) {
	f := parse(t, joined)
	large, err := lower.Lower(f, ir.Env{"B": 60, "S": 50}, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	small, err := lower.LowerWithin(f, ir.Env{"B": 20, "S": 30}, lower.Options{}, large)
	if err != nil {
		t.Fatal(err)
	}
	for i := range small.Buffers {
		a, b := &small.Buffers[i], &large.Buffers[i]
		if a.Base < 0 && (a.Offset != b.Offset || a.Space != b.Space || a.Size > b.Size) {
			t.Errorf("%s lies at %d and in the larger plan at %d", a.Name, a.Offset, b.Offset)
		}
	}
	if len(small.Tasks) != len(large.Tasks) || small.MaxLive >= large.MaxLive {
		t.Errorf("%d tasks within %d, bound %d within %d", len(small.Tasks), len(large.Tasks), small.MaxLive, large.MaxLive)
	}
}

// viewed has a part that is copied, but for a size of 0: then it is a view, for which
// all of %a lives on.
const viewed = `func @main(%x: f32[4,100], %n: f32[B]) -> (d: f32[4,100], q: f32[4,min(B,100)]) {
  %a = sort %x : f32[4,100]
  %p = slice %a {starts=[0], ends=[B], axes=[1]} : f32[4,min(B,100)]
  %b = cumsum %x {axis=1} : f32[4,100]
  %c = cumsum %b {axis=1} : f32[4,100]
  %d = cumsum %c {axis=1} : f32[4,100]
  %0 = cumsum %d {axis=1} : f32[4,100]
  %1 = sort %p : f32[4,min(B,100)]
  return %0, %1
}`

// TestWithinGrows: a value that grows while the sizes shrink, and what other views
// and copies take where a size is 0 or 1, have an arena of their own where they must.
func TestWithinGrows(t *testing.T) {
	for _, c := range []struct {
		text       string
		most       ir.Env
		fits, more []ir.Env
	}{
		{`func @f(%x: f32[100], %y: f32[B]) -> f32[max(B,100)-B] {
  %a = slice %x {starts=[B], ends=[100], axes=[0]} : f32[max(B,100)-B]
  %b = sort %a : f32[max(B,100)-B]
  %c = sort %b : f32[max(B,100)-B]
  %d = sort %c : f32[max(B,100)-B]
  return %d
}`, ir.Env{"B": 90}, []ir.Env{{"B": 88}, {"B": 89}}, []ir.Env{{"B": 10}, {"B": 0}}},
		{viewed, ir.Env{"B": 4}, []ir.Env{{"B": 1}, {"B": 3}}, []ir.Env{{"B": 0}}},
	} {
		f := parse(t, c.text)
		opts := lower.Options{Streams: 1}
		large, err := lower.Lower(f, c.most, opts)
		if err != nil {
			t.Fatal(err)
		}
		for i, envs := range [][]ir.Env{c.fits, c.more} {
			for _, env := range envs {
				plan, err := lower.LowerWithin(f, env, opts, large)
				if err != nil {
					t.Fatal(err)
				}
				if grows := plan.Arena > large.Arena; grows != (i == 1) || plan.Arena < large.Arena {
					t.Errorf("%v takes %d bytes, %v %d", env, plan.Arena, c.most, large.Arena)
				}
				runPlan(t, f, plan, env)
			}
		}
	}
}
