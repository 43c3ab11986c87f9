package vm_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A grower makes random functions in which every value is f32[4,4], so that
// every operator can follow every other, on all four units, with views and with
// nested regions.
type grower struct {
	r      *rand.Rand
	square ir.Type
}

func randomFunc(seed uint64, size int) *ir.Func {
	g := &grower{rand.New(rand.NewPCG(seed, 7)), ir.T(tensor.F32, ir.Dims(4, 4)...)}
	f := ir.NewFrame("random")
	values := []*ir.Value{f.Input("x", g.square), f.Input("y", g.square)}
	cond := f.Input("c", ir.T(tensor.Bool))
	values = g.grow(f, values, cond, size, 2)
	results := 1 + g.r.IntN(4)
	for i := range results {
		f.Return(values[len(values)-1-g.r.IntN(min(len(values), 3+i))])
		f.Func.ResultNames = append(f.Func.ResultNames, string(rune('a'+i)))
	}
	return f.Func
}

func must(vs []*ir.Value, err error) []*ir.Value {
	if err != nil {
		panic(err)
	}
	return vs
}

// grow adds size values; bodies may nest depth deep.
func (g *grower) grow(f *ir.Frame, values []*ir.Value, cond *ir.Value, size, depth int) []*ir.Value {
	pick := func() *ir.Value { return values[len(values)-1-g.r.IntN(min(len(values), 12))] }
	var halves []*ir.Value
	for range size {
		var made []*ir.Value
		switch k := g.r.IntN(16); {
		case k >= 14:
			made = g.window(f, pick())
		case k >= 12:
			halves = append(halves, g.parts(f, pick())...)
			half := func() *ir.Value { return halves[len(halves)-1-g.r.IntN(min(len(halves), 4))] }
			made = must(f.Add(ir.Lookup("concat"), []*ir.Value{half(), half()}, nil))
		case k < 3:
			op := []string{"neg", "abs", "relu", "floor"}[g.r.IntN(4)]
			made = must(f.Add(ir.Lookup(op), []*ir.Value{pick()}, nil))
		case k < 5:
			op := []string{"maximum", "minimum", "sub"}[g.r.IntN(3)]
			made = must(f.Add(ir.Lookup(op), []*ir.Value{pick(), pick()}, nil))
		case k < 6:
			made = must(f.Add(ir.Lookup("matmul"), []*ir.Value{pick(), pick()}, nil))
			made = must(f.Add(ir.Lookup("sign"), made, nil)) // keep numbers small
		case k < 8:
			made = must(f.Add(ir.Lookup("transpose"), []*ir.Value{pick()}, attrs("transpose", "perm", ir.IntsLit(1, 0))))
		case k < 9:
			flat := must(f.Add(ir.Lookup("reshape"), []*ir.Value{pick()}, attrs("reshape", "dims", ir.DimsLit(ir.N(16)))))
			made = must(f.Add(ir.Lookup("reshape"), flat, attrs("reshape", "dims", ir.DimsLit(ir.Dims(4, 4)...))))
		case k < 10:
			made = must(f.Add(ir.Lookup("topk"), []*ir.Value{pick()}, attrs("topk", "k", ir.DimLit(ir.N(4)))))[:1]
		case depth > 0 && k < 11:
			made = g.branch(f, values, cond, depth-1)
		case depth > 0:
			made = g.loop(f, values, cond, pick(), pick(), depth-1)
		}
		values = append(values, made...)
	}
	return values
}

// parts makes two f32[2,4] of a square: views of it, or values of their own that are
// made from these.
func (g *grower) parts(f *ir.Frame, of *ir.Value) []*ir.Value {
	made := must(f.Add(ir.Lookup("split"), []*ir.Value{of}, attrs("split", "parts", ir.IntLit(2))))
	for i := range made {
		switch g.r.IntN(4) {
		case 0, 1:
			made[i] = must(f.Add(ir.Lookup("neg"), made[i:i+1], nil))[0]
		case 2:
			made[i] = must(f.Add(ir.Lookup("minimum"), made, nil))[0]
			flat := must(f.Add(ir.Lookup("reshape"), made[i:i+1], attrs("reshape", "dims", ir.DimsLit(ir.N(8)))))
			made[i] = must(f.Add(ir.Lookup("reshape"), flat, attrs("reshape", "dims", ir.DimsLit(ir.Dims(2, 4)...))))[0]
		}
	}
	return made
}

// window shows a square through slices, squeezes and stacks: pieces that begin in
// the middle of their memory, side by side, and those of other axes, which do not.
func (g *grower) window(f *ir.Frame, of *ir.Value) []*ir.Value {
	cut := func(v *ir.Value, axis, from, to int64) *ir.Value {
		as := attrs("slice", "starts", ir.DimsLit(ir.N(from)))
		setAttr("slice", as, "ends", ir.DimsLit(ir.N(to)))
		setAttr("slice", as, "axes", ir.IntsLit(axis))
		return must(f.Add(ir.Lookup("slice"), []*ir.Value{v}, as))[0]
	}
	axis, at := int64(g.r.IntN(2)), int64(1+g.r.IntN(3))
	first, rest := cut(of, axis, 0, at), cut(of, axis, at, 4)
	if g.r.IntN(2) == 0 {
		rest = must(f.Add(ir.Lookup([]string{"neg", "abs", "exp"}[g.r.IntN(3)]), []*ir.Value{rest}, nil))[0]
	}
	if g.r.IntN(2) == 0 { // the halves change sides
		first, rest = rest, first
	}
	made := must(f.Add(ir.Lookup("concat"), []*ir.Value{first, rest}, attrs("concat", "axis", ir.IntLit(axis))))
	row := must(f.Add(ir.Lookup("squeeze"), []*ir.Value{cut(of, 0, at-1, at)}, attrs("squeeze", "axis", ir.IntsLit(0))))[0]
	return append(made, must(f.Add(ir.Lookup("minimum"), []*ir.Value{made[0], row}, nil))...)
}

func (g *grower) branch(f *ir.Frame, values []*ir.Value, cond *ir.Value, depth int) []*ir.Value {
	var sides []*ir.Frame
	for range 2 {
		side := f.Body()
		inner := g.grow(side, slices.Clone(values), cond, 1+g.r.IntN(4), depth)
		side.Return(inner[len(inner)-1], inner[len(inner)-1-g.r.IntN(2)])
		sides = append(sides, side)
	}
	return must(f.AddRegion(ir.If, []*ir.Value{cond}, nil, sides...))
}

// loop carries two values and collects a third, whose rows are then added up.
func (g *grower) loop(f *ir.Frame, values []*ir.Value, cond, a, b *ir.Value, depth int) []*ir.Value {
	body := f.Body()
	body.Input("t", ir.T(tensor.I64))
	p, q := body.Input("p", g.square), body.Input("q", g.square)
	inner := g.grow(body, append(slices.Clone(values), p, q), cond, g.r.IntN(5), depth)
	any := func() *ir.Value { return inner[len(inner)-1-g.r.IntN(min(len(inner), 4))] }
	kept := [3]*ir.Value{any(), any(), any()}
	switch g.r.IntN(4) {
	case 0: // what is carried changes places, so that a round ends with copies in a circle
		kept[0], kept[1] = q, p
	case 1: // a view is carried
		flat := must(body.Add(ir.Lookup("reshape"), []*ir.Value{kept[0]}, attrs("reshape", "dims", ir.DimsLit(ir.N(16)))))
		kept[1] = must(body.Add(ir.Lookup("reshape"), flat, attrs("reshape", "dims", ir.DimsLit(ir.Dims(4, 4)...))))[0]
	}
	body.Return(kept[:]...)
	as := attrs("loop", "to", ir.DimLit(ir.N(int64(g.r.IntN(4)))))
	setAttr("loop", as, "carry", ir.IntLit(2))
	setAttr("loop", as, "collect", ir.IntLit(1))
	out := must(f.AddRegion(ir.Loop, []*ir.Value{a, b}, as, body))
	rows := must(f.Add(ir.Lookup("max"), out[2:], attrs("max", "axis", ir.IntsLit(0))))
	rows = must(f.Add(ir.Lookup("sign"), rows, nil))
	return append(out[:2], rows...)
}

func attrs(op, name string, l ir.Lit) []ir.Lit {
	as := ir.Lookup(op).Defaults()
	setAttr(op, as, name, l)
	return as
}

func setAttr(op string, as []ir.Lit, name string, l ir.Lit) {
	for i, a := range ir.Lookup(op).Attrs {
		if a.Name == name {
			as[i] = l
			return
		}
	}
	panic("no attribute " + name + " of " + op)
}

func TestRandomAgainstInterpreter(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		f := randomFunc(uint64(seed), 5+seed%60)
		if err := ir.Verify(f); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		agree(t, f, nil, uint64(seed))
	}
}
