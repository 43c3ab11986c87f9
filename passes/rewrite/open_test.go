package rewrite

import (
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
)

// An open pattern matches a call with any number of operands and any attributes,
// and prints in a form of its own.
func TestAny(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[2,3]) -> f32[2,6] {
  %a = exp %x : f32[2,3]
  %y = concat %a, %x {axis=1} : f32[2,6]
  return %y
}
`)
	p, uses := Any("concat"), NewUses(f)
	a, y := f.Body[0], f.Body[1]
	if p.Find(a, uses) != nil || p.Find(y, uses) == nil {
		t.Error("concat(...) matches the wrong values")
	}
	if got := p.String(); got != "concat(...)" || !p.Open() || len(p.Roots()) != 1 {
		t.Errorf("the pattern prints as %s", got)
	}
	if got := uses.Readers(a); len(got) != 1 || got[0] != y || len(uses.Readers(y)) != 0 {
		t.Errorf("readers of %%a: %v", got)
	}
}

// Readers follow a change, like the counts.
func TestReaders(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[2]) -> f32[2] {
  %a = neg %x : f32[2]
  %b = neg %a : f32[2]
  %y = exp %b : f32[2]
  return %y
}
`)
	x, b, y := f.Params[0], f.Body[1], f.Body[2]
	for _, asked := range []bool{false, true} {
		uses := NewUses(f)
		if asked {
			uses.Readers(x)
		}
		n := &ir.Value{Op: ir.Lookup("abs"), Args: []*ir.Value{x}, Type: x.Type}
		uses.Add(n)
		uses.Move(b, n)
		if got := uses.Readers(x); len(got) != 1 || got[0] != n || uses.Count(n) != 1 {
			t.Errorf("readers of %%x, asked before: %v: %v", asked, got)
		}
		if got := uses.Readers(n); asked && (len(got) != 1 || got[0] != y) {
			t.Errorf("readers of what stands for %%b: %v", got)
		}
	}
}

// A value that nobody reads is no reader, nor what only it reads.
func TestDeadReaders(t *testing.T) {
	f := irtest.Parse(t, `func @f(%x: f32[2]) -> f32[2] {
  %a = neg %x : f32[2]
  %b = exp %a : f32[2]
  %c = exp %b : f32[2]
  %y = abs %a : f32[2]
  return %y
}
`)
	uses := NewUses(f)
	for i, want := range []int{1, 0, 0, 1} {
		if got := uses.Count(f.Body[i]); got != want {
			t.Errorf("value %d is read %d times, want %d", i, got, want)
		}
	}
}
