package fusion

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes"
)

// dense makes a random function of operators that fuse: element-wise ones,
// reductions, views and products over few shapes, so that they join in every way
// that there is.
func dense(r *rand.Rand, size int) (*ir.Func, []*tensor.T) {
	f := &ir.Func{Name: "dense"}
	var inputs []*tensor.T
	pool := map[string][]*ir.Value{}
	put := func(v *ir.Value) { pool[v.Type.String()] = append(pool[v.Type.String()], v) }
	pick := func(shape ...int) *ir.Value {
		t := ir.T(tensor.F32, ir.Dims(shape...)...)
		vs := pool[t.String()]
		if len(vs) == 0 || r.IntN(12) == 0 {
			x := f.NewInput(fmt.Sprintf("x%d", len(inputs)), t)
			inputs = append(inputs, irtest.Tensor(r, t))
			put(x)
			return x
		}
		if r.IntN(2) == 0 {
			return vs[len(vs)-1]
		}
		return vs[r.IntN(len(vs))]
	}
	shapes := [][]int{{4, 4}, {4, 4}, {4, 4}, {4, 1}, {1, 4}, {4}, {}}
	add := func(op *ir.Op, attrs []ir.Lit, args ...*ir.Value) {
		vs, err := f.Add(op, args, attrs)
		if err != nil {
			return // shapes that do not go together
		}
		if r.IntN(30) == 0 {
			vs[0].Annots = []ir.Annot{{Name: "fuse", Arg: "off"}}
		}
		put(vs[0])
	}
	unary := []*ir.Op{ir.Exp, ir.Relu, ir.Neg, ir.Tanh, ir.Abs, ir.Square}
	binary := []*ir.Op{ir.Add, ir.Mul, ir.Sub, ir.Maximum, ir.BiasAdd}
	folds := []*ir.Op{ir.Sum, ir.Max, ir.Mean}
	for range size {
		s, u := shapes[r.IntN(len(shapes))], shapes[r.IntN(len(shapes))]
		switch r.IntN(9) {
		case 0, 1, 2:
			add(unary[r.IntN(len(unary))], nil, pick(s...))
		case 3, 4, 5:
			add(binary[r.IntN(len(binary))], nil, pick(s...), pick(u...))
		case 6:
			axis := int64(r.IntN(2)) - 1 // the last, or the first
			add(folds[r.IntN(len(folds))], []ir.Lit{ir.IntsLit(axis), ir.BoolLit(r.IntN(2) == 0)}, pick(4, 4))
		case 7:
			add(ir.MatMul, nil, pick(4, 4), pick(4, 4))
		case 8:
			moves := []func(){
				func() { add(ir.Softmax, nil, pick(4, 4)) },
				func() { add(ir.Transpose, nil, pick(4, 4)) },
				func() { add(ir.Unsqueeze, []ir.Lit{ir.IntsLit(-1)}, pick(4)) },
				func() { add(ir.Squeeze, []ir.Lit{ir.IntsLit(-1)}, pick(4, 1)) },
				func() { add(ir.Reshape, []ir.Lit{ir.DimsLit(ir.Dims(4, 4)...)}, pick(4, 4)) },
			}
			moves[r.IntN(len(moves))]()
		}
	}
	for range 1 + r.IntN(3) {
		if n := len(f.Body); n > 0 {
			f.Results = append(f.Results, f.Body[n-1-r.IntN(min(n, 5))])
		}
	}
	if len(f.Results) == 0 {
		f.Results = []*ir.Value{pick(4)}
	}
	return f, inputs
}

// Fused functions are legal, compute the same bits, and come out the same each
// time, on every device.
func TestRandomFunctions(t *testing.T) {
	effects := map[string]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		make := dense
		if seed%4 == 0 {
			make = irtest.Func
		}
		f, inputs := make(r, 40)
		want, wantErr := (&ir.Interp{}).Run(f, inputs...)
		devices := device.Devices()
		o := Options{Device: devices[seed%uint64(len(devices))], SaveMemory: seed%5 == 0}
		before := f.String()
		again, _ := f.Clone()
		u, report := fuse(t, f, o)
		for _, s := range u.Status() {
			effects[s.Rule] += s.Effects
			if len(s.Refused) > s.Matches {
				t.Errorf("seed %d: %s was refused %d times of %d", seed, s.Rule, len(s.Refused), s.Matches)
			}
		}
		if fuse(t, again, o); again.String() != f.String() {
			t.Fatalf("seed %d: the second time comes out differently\n%s\n%s", seed, f, again)
		}
		got, err := (&ir.Interp{}).Run(f, inputs...)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("seed %d: %v, fused %v\n%s", seed, wantErr, err, before)
		}
		for i := range got {
			if !tensor.BitEqual(got[i], want[i]) {
				t.Fatalf("seed %d: result %d differs\n%s\n%s", seed, i, before, f)
			}
		}
		withFuel(t, before, inputs, want, len(report.Rewrites))
	}
	for _, r := range growth {
		if effects[r.name] < 10 {
			t.Errorf("%s joined %d groups", r.name, effects[r.name])
		}
	}
}

// withFuel stops half way: what is left alone is legal too.
func withFuel(t *testing.T, text string, inputs, want []*tensor.T, rewrites int) {
	t.Helper()
	if rewrites < 2 || want == nil {
		return
	}
	f := irtest.Parse(t, text)
	u, _ := New(Options{})
	report, err := passes.Run(f, passes.Options{Passes: []string{"fuse"}, Fuse: u.Fuse, Verify: true, Fuel: rewrites / 2})
	if err != nil || len(report.Rewrites) > rewrites/2 {
		t.Fatalf("%d rewrites with fuel for %d: %v", len(report.Rewrites), rewrites/2, err)
	}
	got, err := (&ir.Interp{}).Run(f, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if !tensor.BitEqual(got[i], want[i]) {
			t.Fatalf("result %d differs with fuel", i)
		}
	}
}

// The list of groups stays a topological order, and every group knows its
// neighbours, whatever is merged.
func TestMerging(t *testing.T) {
	merged, refused := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		f, _ := dense(r, 60)
		g := newGraph(f, newSizes(nil))
		var ops []int32
		for id := range g.vals {
			if g.vals[id].owner == int32(id) {
				ops = append(ops, int32(id))
			}
		}
		if len(ops) < 2 {
			continue
		}
		for range 80 {
			a, b := g.group(ops[r.IntN(len(ops))]), g.group(ops[r.IntN(len(ops))])
			if a == b {
				continue
			}
			cycle := g.reaches(a, b) || g.reaches(b, a)
			m, ok := g.merging(a, b)
			if ok == cycle {
				t.Fatalf("seed %d: a cycle is there: %t, found: %t", seed, cycle, !ok)
			}
			if !ok {
				refused++
				continue
			}
			m.do(g.joint(m.parts))
			merged++
			g.check(t)
		}
	}
	if merged < 500 || refused < 500 {
		t.Errorf("%d merges, %d refused", merged, refused)
	}
}

// reaches reports whether a path of more than one step leads from a to b.
func (g *graph) reaches(a, b int32) bool {
	seen := map[int32]bool{}
	var todo []int32
	for _, e := range g.groups[a].succs.list {
		if e.key != b {
			todo = append(todo, e.key)
		}
	}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x == b {
			return true
		}
		if seen[x] {
			continue
		}
		seen[x] = true
		for _, e := range g.groups[x].succs.list {
			todo = append(todo, e.key)
		}
	}
	return false
}

// check counts everything anew.
func (g *graph) check(t *testing.T) {
	t.Helper()
	ins, outs, edges := map[[2]int32]int{}, map[[2]int32]int{}, map[[2]int32]int{}
	for id := range g.vals {
		if g.vals[id].owner != int32(id) {
			continue
		}
		at := g.group(int32(id))
		for _, a := range g.vals[id].v.Args {
			from := g.groupOf(g.number[a])
			if from == at {
				continue
			}
			ins[[2]int32{at, g.number[a]}]++
			if from != none {
				outs[[2]int32{from, g.number[a]}]++
				edges[[2]int32{from, at}]++
				if g.order.label[from] >= g.order.label[at] {
					t.Fatal("the order is none")
				}
			}
		}
	}
	for _, v := range g.f.Results {
		if o := g.groupOf(g.number[v]); o != none {
			outs[[2]int32{o, g.number[v]}]++
		}
	}
	for x := g.order.first; x != none; x = g.order.next[x] {
		same := func(what string, got *tally, want map[[2]int32]int, side int) {
			n := 0
			for k, count := range want {
				if k[side] == x {
					n++
					if got.count(k[1-side]) != count {
						t.Fatalf("%s of %d: %d is there %d times, not %d", what, x, k[1-side], got.count(k[1-side]), count)
					}
				}
			}
			if n != got.size() {
				t.Fatalf("%s of %d: %d, not %d", what, x, got.size(), n)
			}
		}
		s := &g.groups[x]
		same("ins", &s.ins, ins, 0)
		same("outs", &s.outs, outs, 0)
		same("succs", &s.succs, edges, 0)
		same("preds", &s.preds, edges, 1)
		var load [loads]int
		for _, e := range append(append([]entry{}, s.ins.list...), s.outs.list...) {
			load[g.vals[e.key].load]++
		}
		if load != s.load {
			t.Fatalf("the load of %d is %v, not %v", x, s.load, load)
		}
	}
}
