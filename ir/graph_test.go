package ir_test

import (
	"testing"

	"github.com/npulang/npu/ir"
)

// TestClone: a copy has the same text and shares no value; changing it leaves
// the original alone.
func TestClone(t *testing.T) {
	f := parseOne(t, verifiedText)
	g, copies := f.Clone()
	if err := ir.Verify(g); err != nil {
		t.Fatal(err)
	}
	n := 0
	old := map[*ir.Value]bool{}
	for v := range f.All() {
		n++
		old[v] = true
		if copies[v] == nil || copies[v] == v {
			t.Errorf("%s has no copy", v.Op.Name)
		}
	}
	for v := range g.All() {
		n--
		if old[v] {
			t.Errorf("%s is shared", v.Op.Name)
		}
	}
	if n != 0 {
		t.Errorf("%d values more in the original", n)
	}
	find(t, g, "topk").Attrs[0] = ir.IntLit(1)
	find(t, g, "neg").Name = "other"
	g.ResultNames[0] = "z"
	g.Results[0] = g.Params[0]
	if got := f.String(); got != verifiedText {
		t.Errorf("the original has become\n%s", got)
	}
}

func TestReadersAndUsers(t *testing.T) {
	f := parseOne(t, `func @main(%x: f32[2]) -> (f32[2], f32[2]) {
  %0 = mul %x, %x : f32[2]
  %1 = clip %0, _, %0 : f32[2]
  %2 = neg %x : f32[2]
  return %0, %0
}
`)
	x, mul, clip, neg := f.Params[0], f.Body[0], f.Body[1], f.Body[2]
	readers := f.Readers()
	for v, want := range map[*ir.Value]int{x: 3, mul: 4, clip: 0, neg: 0} {
		if readers[v] != want {
			t.Errorf("%s has %d readers, want %d", v.Op.Name, readers[v], want)
		}
	}
	users := f.Users()
	if u := users[x]; len(u) != 3 || u[0] != mul || u[1] != mul || u[2] != neg {
		t.Errorf("users of x: %v", u)
	}
	if len(users[clip]) != 0 {
		t.Error("clip has users")
	}
}

// TestReplace: long chains are followed, once.
func TestReplace(t *testing.T) {
	f := chain(t, 100_000)
	with := map[*ir.Value]*ir.Value{}
	last := f.Params[0]
	for _, v := range f.Body {
		with[v] = last
		last = v
	}
	f.Replace(with)
	for _, v := range f.Body {
		if v.Args[0] != f.Params[0] {
			t.Fatal("an argument was not replaced")
		}
	}
	if f.Results[0] != f.Params[0] {
		t.Error("the result was not replaced")
	}
}

func TestFuncs(t *testing.T) {
	f := parseOne(t, verifiedText)
	n := 0
	for g := range f.Funcs() {
		n++
		if n == 1 && g != f {
			t.Error("the outer function is not the first")
		}
	}
	if n != 3 {
		t.Errorf("%d functions", n)
	}
	for range f.All() {
		n--
		if n == 0 {
			break // stopping early is no panic
		}
	}
	for range f.Funcs() {
		break
	}
}
