package kernel_test

import (
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm/kernel"
)

// TestBodyDef finds every value's operator in a body of operators with one and with
// several results and of views, and none for an input or a value that is not there.
func TestBodyDef(t *testing.T) {
	one, two := &ir.Call{Out: make([]ir.Type, 1)}, &ir.Call{Out: make([]ir.Type, 2)}
	b := &kernel.Body{In: make([]ir.Type, 3)}
	next := len(b.In)
	var owners []int // of the values behind the inputs
	for i, c := range []*ir.Call{two, one, nil, one, two, nil, two, one, one} {
		b.Ops = append(b.Ops, kernel.Op{Call: c, First: next})
		for range b.Ops[i].Results() {
			owners = append(owners, i)
			next++
		}
	}
	for v := -1; v <= next; v++ {
		o, result := b.Def(v)
		if v < len(b.In) || v == next {
			if o != nil {
				t.Errorf("value %d: found an operator", v)
			}
			continue
		}
		if want := owners[v-len(b.In)]; o != &b.Ops[want] || o.First+result != v {
			t.Errorf("value %d: not found at operator %d", v, want)
		}
	}
	if o, _ := new(kernel.Body).Def(0); o != nil {
		t.Error("an empty body has an operator")
	}
}
