package kernel_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// A chain grows a body operator by operator, and computes it by the operators'
// evaluations on the way.
type chain struct {
	body   kernel.Body
	inputs []*tensor.T
	values []*tensor.T
}

func newChain(inputs ...*tensor.T) *chain {
	c := &chain{inputs: inputs, values: append([]*tensor.T{}, inputs...)}
	c.body.InPlace = kernel.Absent
	for _, t := range inputs {
		c.body.In = append(c.body.In, ir.TypeOf(t))
	}
	return c
}

// add appends a call; it reports whether that is legal.
func (c *chain) add(op string, attrs map[string]ir.Lit, args ...int) bool {
	call := &ir.Call{Op: ir.Lookup(op), Attrs: ir.Lookup(op).Defaults()}
	for i, a := range call.Op.Attrs {
		if l, ok := attrs[a.Name]; ok {
			call.Attrs[i] = l
		}
	}
	in := make([]*tensor.T, len(args))
	for i, a := range args {
		in[i] = c.values[a]
		call.In = append(call.In, ir.TypeOf(in[i]))
	}
	if ir.InferCall(call) != nil {
		return false
	}
	out, err := ir.Evaluate(call, in...)
	if err != nil {
		return false
	}
	o := kernel.Op{Call: call, Args: args, First: len(c.values)}
	if call.Op.Flags&ir.View != 0 {
		o.Call, o.As = nil, call.Out[0]
	}
	c.body.Ops = append(c.body.Ops, o)
	c.values = append(c.values, out...)
	return true
}

// results makes the last n values the body's.
func (c *chain) results(n int) {
	c.body.Out = nil
	for i := len(c.values) - n; i < len(c.values); i++ {
		c.body.Out = append(c.body.Out, i)
	}
}

// check runs the body by every level, whole and by parts, in odd places of memory;
// it returns the kernel of the last one, nil if there is none.
func (c *chain) check(t *testing.T) (k *kernel.Prepared) {
	t.Helper()
	var x kernel.Exec
	for _, o := range choices() {
		if k = kernel.Prepare(&c.body, &o); k == nil {
			continue
		}
		for _, want := range []int{1, 3} {
			out := make([]*tensor.T, len(c.body.Out))
			for i, v := range c.body.Out {
				out[i] = garbageOf([]ir.Type{c.body.Type(v)})[0]
			}
			parts := 1
			if want > 1 {
				parts = k.Parts(want)
			}
			for part := parts - 1; part >= 0; part-- {
				if err := k.Do(&x, part, parts, out, c.inputs); err != nil {
					t.Fatalf("%s: %v", k.Name, err)
				}
			}
			for i, v := range c.body.Out {
				if !tensor.BitEqual(out[i], c.values[v]) {
					t.Fatalf("%s of %v: result %d differs", k.Name, c.describe(), i)
				}
			}
		}
	}
	return k
}

func (c *chain) describe() string {
	var ops []string
	for _, o := range c.body.Ops {
		if o.Call == nil {
			ops = append(ops, "view "+o.As.String())
			continue
		}
		ops = append(ops, o.Call.Op.Name+" "+attrsText(o.Call)+" "+ir.TypeOf(c.values[o.Args[0]]).String())
	}
	return strings.Join(ops, "; ")
}

func dims(ns ...int) ir.Lit {
	ds := make([]ir.Dim, len(ns))
	for i, n := range ns {
		ds[i] = ir.N(int64(n))
	}
	return ir.DimsLit(ds...)
}

// grow adds an operator that moves what the last value holds.
func (c *chain) grow(r *rand.Rand) bool {
	last := len(c.values) - 1
	x := c.values[last]
	rank := len(x.Shape)
	axis := func() ir.Lit { return ir.IntLit(int64(r.IntN(max(rank, 1)))) }
	switch r.IntN(10) {
	case 0, 1, 2:
		perm := make([]int64, rank)
		for i, a := range r.Perm(rank) {
			perm[i] = int64(a)
		}
		return c.add("transpose", map[string]ir.Lit{"perm": ir.IntsLit(perm...)}, last)
	case 3, 4:
		return c.add("reshape", map[string]ir.Lit{"dims": dims(factors(r, x.Len())...)}, last)
	case 5:
		if rank == 0 {
			return false
		}
		a := r.IntN(rank)
		n := x.Shape[a]
		first, step := r.IntN(n+1), int64(1+r.IntN(3))
		if r.IntN(3) == 0 {
			return c.add("slice", map[string]ir.Lit{"starts": dims(n), "ends": dims(-1 << 41), "axes": ir.IntsLit(int64(a)), "steps": ir.IntsLit(-step)}, last)
		}
		return c.add("slice", map[string]ir.Lit{"starts": dims(first), "ends": dims(n), "axes": ir.IntsLit(int64(a)), "steps": ir.IntsLit(step)}, last)
	case 6:
		return c.add("flip", map[string]ir.Lit{"axis": ir.IntsLit(int64(r.IntN(max(rank, 1))))}, last)
	case 7:
		return c.add("concat", map[string]ir.Lit{"axis": axis()}, last, last)
	case 8:
		modes := []string{"constant", "edge", "reflect", "symmetric", "wrap"}
		return c.add("pad", map[string]ir.Lit{"pairs": dims(r.IntN(4), r.IntN(9)-1), "mode": ir.StrLit(modes[r.IntN(5)]), "value": ir.DimLit(ir.N(1))}, last)
	}
	return c.add("roll", map[string]ir.Lit{"shift": dims(r.IntN(20) - 10), "axis": ir.IntsLit(int64(r.IntN(max(rank, 1))))}, last)
}

// factors draws a shape of n elements.
func factors(r *rand.Rand, n int) []int {
	var shape []int
	for n > 1 && len(shape) < 5 {
		d := 1 + r.IntN(n)
		if n%d == 0 {
			shape, n = append(shape, d), n/d
		}
	}
	return append(shape, n)
}

// TestMoves runs random chains of operators that move data as one kernel, bit for
// bit as one after the other.
func TestMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	kernels := map[int]int{}
	for range 3000 {
		d := tensor.DTypes[r.IntN(len(tensor.DTypes))]
		shape := make([]ir.Dim, r.IntN(6))
		for i := range shape {
			shape[i] = ir.N(int64(1 + r.IntN(5)))
		}
		if len(shape) > 0 && r.IntN(20) == 0 {
			shape[r.IntN(len(shape))] = ir.N(0)
		}
		c := newChain(irtest.Tensor(r, ir.T(d, shape...)))
		for range 1 + r.IntN(4) {
			if !c.grow(r) || c.values[len(c.values)-1].Len() > 5000 {
				break
			}
		}
		if len(c.body.Ops) == 0 {
			continue
		}
		c.results(1)
		if k := c.check(t); k != nil && strings.HasPrefix(k.Name, "move/") {
			kernels[len(c.body.Ops)]++
		}
	}
	for n := 1; n <= 4; n++ {
		if kernels[n] < 50 {
			t.Errorf("%d bodies of %d operators are one kernel", kernels[n], n)
		}
	}
}

// TestMovesOfHeads are the bodies that attention has around it: each is one copy.
func TestMovesOfHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	x := irtest.Tensor(r, ir.T(tensor.F32, ir.N(2), ir.N(30), ir.N(3*4*20)))
	c := newChain(x)
	c.add("split", map[string]ir.Lit{"parts": ir.IntLit(3), "axis": ir.IntLit(2)}, 0)
	for i := range 3 {
		c.add("reshape", map[string]ir.Lit{"dims": dims(2, 30, 4, 20)}, 1+i)
		c.add("transpose", map[string]ir.Lit{"perm": ir.IntsLit(0, 2, 1, 3)}, len(c.values)-1)
	}
	c.add("transpose", nil, len(c.values)-1)
	c.add("reshape", map[string]ir.Lit{"dims": dims(8, 20, 30)}, len(c.values)-1)
	c.body.Out = []int{5, 7, 11}
	if k := c.check(t); k == nil || !strings.HasPrefix(k.Name, "move/") {
		t.Errorf("the heads are %v", k)
	}
}

// TestMovesRefuse names what is in the way.
func TestMovesRefuse(t *testing.T) {
	x := tensor.New(tensor.F32, 4, 6)
	for want, grow := range map[string]func(c *chain){
		"the body is of another kind": func(c *chain) { c.add("relu", nil, 0) },
		"a view of transpose lies in pieces": func(c *chain) {
			c.add("concat", nil, 0, 0)
			c.add("transpose", nil, 1)
		},
		"what concat takes lies in pieces": func(c *chain) {
			c.add("concat", nil, 0, 0)
			c.add("concat", nil, 1, 1)
		},
	} {
		c := newChain(x)
		grow(c)
		c.results(1)
		options := kernel.Best()
		for _, row := range kernel.Table() {
			if row.Name != "move" {
				continue
			}
			if _, why := row.Make(&c.body, &options); why != want {
				t.Errorf("%s: refused with %q, want %q", c.describe(), why, want)
			}
		}
	}
}

// TestWoven stacks and joins tensors whose elements come by turns, in parts.
func TestWoven(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var x kernel.Exec
	for _, o := range []opCase{
		{"stack", "axis=1", "u8[5003] u8[5003] u8[5003]", "u8[5003,3]"},
		{"stack", "axis=-1", "f32[7,300] f32[7,300]", "f32[7,300,2]"},
		{"concat", "axis=1", "i64[999,1] i64[999,1] i64[999,1] i64[999,1]", "i64[999,4]"},
		{"concat", "axis=1", "f32[600,4] f32[600,4]", "f32[600,8]"},
	} {
		call := o.call(t)
		in := o.arguments(r, call)
		want, err := ir.Evaluate(call, in...)
		if err != nil {
			t.Fatal(err)
		}
		for _, options := range choices()[1:] {
			compare(t, kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options), &x, call, in, want, nil)
		}
	}
}
