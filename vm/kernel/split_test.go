package kernel

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
)

// sampled makes a legal call and arguments for it; ok is false for an operator
// that has none.
func sampled(op *ir.Op, r *rand.Rand) (c *ir.Call, in []*tensor.T, ok bool) {
	if op.Sample == nil || op.Eval == nil || op.Class == ir.Region || op.Flags&(ir.Impure|ir.Projection|ir.Unbound) != 0 || op == ir.Const {
		return nil, nil, false
	}
	made := op.Sample(r)
	c = &made
	c.Op = op
	if c.Attrs == nil {
		c.Attrs = op.Defaults()
	}
	if ir.InferCall(c) != nil {
		return nil, nil, false
	}
	for i, typ := range c.In {
		switch {
		case i < len(c.Known) && c.Known[i] != nil:
			in = append(in, c.Known[i])
		case typ.Absent():
			in = append(in, nil)
		default:
			in = append(in, irtest.Tensor(r, typ))
		}
	}
	return c, in, true
}

// TestParts computes sampled calls of every operator by parts, the last one
// first, and compares with the whole, bit for bit.
func TestParts(t *testing.T) {
	split := map[string]int{}
	for _, op := range ir.Ops() {
		r := rand.New(rand.NewPCG(4, uint64(len(op.Name))))
		for range 60 {
			c, in, ok := sampled(op, r)
			if !ok {
				break
			}
			for _, want := range []int{2, 3, 7} {
				if s := SplitOf(c, want); s != nil {
					split[op.Name]++
					compareParts(t, s, c, in, want)
				}
			}
		}
	}
	for _, op := range ir.Ops() {
		if n := split[op.Name]; n == 0 && op.Class == ir.Elementwise && op.Flags&ir.Impure == 0 {
			t.Errorf("no sampled call of %s has parts", op.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rowsOf)) {
		switch {
		case ir.Lookup(name) == nil:
			t.Errorf("rows of %s, which is no operator", name)
		case split[name] == 0:
			t.Errorf("no sampled call of %s has parts", name)
		}
	}
}

func compareParts(t *testing.T, s *Split, c *ir.Call, in []*tensor.T, want int) {
	t.Helper()
	if n := s.Parts(); n < 2 || n >= 2*want {
		t.Errorf("%s of %v: %d parts, where %d were wanted", c.Op.Name, c.In, n, want)
	}
	whole, err := ir.Evaluate(c, in...)
	if err != nil {
		return
	}
	out := tensor.New(c.Out[0].DType, c.Out[0].Ints()...)
	for i := range out.Data {
		out.Data[i] = 0xa5
	}
	var x Exec
	for i := s.Parts() - 1; i >= 0; i-- {
		if err := s.run(&x, i, []*tensor.T{out}, in); err != nil {
			t.Fatalf("%s of %v: part %d: %v", c.Op.Name, c.In, i, err)
		}
	}
	if !tensor.BitEqual(out, whole[0]) {
		t.Fatalf("%s of %v by %d parts: %v", c.Op.Name, c.In, s.Parts(), tensor.Compare(out, whole[0], 0))
	}
}

// TestCuts shows where calls are cut.
func TestCuts(t *testing.T) {
	for _, test := range []struct {
		op, attrs, in, out string
		want               int
		cut                string // the types of the first part and of the last, and how many there are
	}{
		{"neg", "", "f32[1000,3]", "f32[1000,3]", 4, "4: f32[250,3] | f32[250,3]"},
		{"neg", "", "f32[1,10,3]", "f32[1,10,3]", 4, "4: f32[1,3,3] | f32[1,1,3]"},
		{"neg", "", "f32[2,10,3]", "f32[2,10,3]", 4, "4: f32[1,5,3] | f32[1,5,3]"},
		{"neg", "", "f32[3]", "f32[3]", 4, "3: f32[1] | f32[1]"},
		{"neg", "", "f32[]", "f32[]", 4, "none"},
		{"neg", "", "f32[0,5]", "f32[0,5]", 4, "none"},
		{"add", "", "f32[8,1,3] f32[5,3]", "f32[8,5,3]", 2, "2: f32[4,1,3] f32[5,3] | f32[4,1,3] f32[5,3]"},
		{"add", "", "f32[8,1] f32[1,5]", "f32[8,5]", 8, "8: f32[1,1] f32[1,5] | f32[1,1] f32[1,5]"},
		{"matmul", "", "f32[9,4] f32[4,5]", "f32[9,5]", 2, "2: f32[5,4] f32[4,5] | f32[4,4] f32[4,5]"},
		{"matmul", "", "f32[2,6,4] f32[2,4,5]", "f32[2,6,5]", 4, "4: f32[1,3,4] f32[1,4,5] | f32[1,3,4] f32[1,4,5]"},
		{"matmul", "", "f32[6,4] f32[3,4,5]", "f32[3,6,5]", 3, "3: f32[6,4] f32[1,4,5] | f32[6,4] f32[1,4,5]"},
		{"softmax", "axis=1", "f32[6,4]", "f32[6,4]", 3, "3: f32[2,4] | f32[2,4]"},
		{"softmax", "axis=0", "f32[6,4]", "f32[6,4]", 3, "none"},
		{"sum", "axis=[1, 2]", "f32[6,4,2]", "f32[6]", 3, "3: f32[2,4,2] | f32[2,4,2]"},
		{"sum", "", "f32[6,4]", "f32[]", 3, "none"},
		{"layernorm", "", "f32[6,4] f32[4] f32[4]", "f32[6,4]", 3, "3: f32[2,4] f32[4] f32[4] | f32[2,4] f32[4] f32[4]"},
	} {
		c, err := Bind(test.op, test.attrs, types(t, test.in), types(t, test.out))
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if s := SplitOf(c, test.want); s != nil {
			last := s.shapes[0]
			if s.shapes[1] != nil {
				last = s.shapes[1]
			}
			got = strings.Join([]string{itoa(s.Parts()), ": ", list(s.shapes[0].In), " | ", list(last.In)}, "")
		}
		if got != test.cut {
			t.Errorf("%s %s of %s: got %s, want %s", test.op, test.attrs, test.in, got, test.cut)
		}
	}
}

func itoa(n int) string { return string(rune('0' + n)) }

func list(types []ir.Type) string {
	var parts []string
	for _, t := range types {
		parts = append(parts, t.String())
	}
	return strings.Join(parts, " ")
}

func types(t *testing.T, list string) (types []ir.Type) {
	t.Helper()
	for _, s := range strings.Fields(list) {
		typ, err := ir.ParseType(s)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, typ)
	}
	return types
}
