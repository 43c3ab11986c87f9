package ir_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A fixture is one line of testdata/moves.jsonl; gen_moves.py says how it is
// made and what its parts mean.
type fixture struct {
	Op    string
	Attrs map[string]any
	In    []*fixtureTensor
	Out   []*fixtureTensor
	Tol   float64
}

type fixtureTensor struct {
	D string
	S []int
	B string
}

func (f *fixtureTensor) tensor(t *testing.T) *tensor.T {
	t.Helper()
	if f == nil {
		return nil
	}
	d, ok := tensor.ParseDType(f.D)
	data, err := base64.StdEncoding.DecodeString(f.B)
	if !ok || err != nil {
		t.Fatalf("bad tensor: %s, %v", f.D, err)
	}
	x := tensor.New(d, f.S...)
	if len(x.Data) != len(data) {
		t.Fatalf("bad tensor: %d bytes for %s%v", len(data), f.D, f.S)
	}
	copy(x.Data, data)
	return x
}

// call makes the call of a fixture: attributes get the kind that the row
// declares.
func (f *fixture) call(t *testing.T) (*ir.Call, []*tensor.T) {
	t.Helper()
	op := ir.Lookup(f.Op)
	if op == nil {
		t.Fatalf("no operator %s", f.Op)
	}
	c := &ir.Call{Op: op, Attrs: op.Defaults()}
	for i, a := range op.Attrs {
		if v, ok := f.Attrs[a.Name]; ok {
			c.Attrs[i] = litOf(t, a.Kind, v)
			delete(f.Attrs, a.Name)
		}
	}
	if len(f.Attrs) > 0 {
		t.Fatalf("%s has no attributes %v", f.Op, f.Attrs)
	}
	var in []*tensor.T
	for _, x := range f.In {
		in = append(in, x.tensor(t))
		typ := ir.Type{}
		if x != nil {
			typ = ir.TypeOf(in[len(in)-1])
		}
		c.In = append(c.In, typ)
	}
	return c, in
}

// litOf reads an attribute's value as JSON has it.
func litOf(t *testing.T, kind ir.AttrKind, v any) ir.Lit {
	t.Helper()
	num := func(v any) int64 {
		f := v.(float64)
		if f != float64(int64(f)) {
			t.Fatalf("%v is not whole", v)
		}
		return int64(f)
	}
	var ints []int64
	if list, ok := v.([]any); ok {
		for _, x := range list {
			ints = append(ints, num(x))
		}
	}
	switch kind {
	case ir.KInt:
		return ir.IntLit(num(v))
	case ir.KBool:
		return ir.BoolLit(num(v) != 0)
	case ir.KInts:
		return ir.IntsLit(ints...)
	case ir.KDims:
		return ir.DimsLit(ir.Dims(ints...)...)
	case ir.KDim:
		return ir.DimLit(ir.N(num(v)))
	case ir.KNum:
		if f := v.(float64); f != float64(int64(f)) {
			return ir.FloatLit(f)
		}
		return ir.DimLit(ir.N(num(v)))
	case ir.KString:
		return ir.StrLit(v.(string))
	case ir.KDType:
		d, _ := tensor.ParseDType(v.(string))
		return ir.DTypeLit(d)
	case ir.KType:
		parts := v.(map[string]any)["type"].([]any)
		d, _ := tensor.ParseDType(parts[0].(string))
		return ir.TypeLit(ir.Type{DType: d, Shape: litOf(t, ir.KDims, parts[1]).Dims})
	}
	t.Fatalf("attributes of kind %d are not in fixtures", kind)
	return ir.None
}

func (f *fixture) check(t *testing.T) {
	name := fmt.Sprint(f.Attrs)
	c, in := f.call(t)
	if err := ir.InferCall(c); err != nil {
		t.Fatalf("%v %s: %v", c.In, name, err)
	}
	out, err := c.Op.Eval(c, in...)
	if err != nil {
		t.Fatalf("%v %s: %v", c.In, name, err)
	}
	if len(out) != len(f.Out) {
		t.Fatalf("%v %s: %d results, want %d", c.In, name, len(out), len(f.Out))
	}
	for i, want := range f.Out {
		want := want.tensor(t)
		if !c.Out[i].Equal(ir.TypeOf(want)) {
			t.Fatalf("%v %s: result %d is inferred as %v, want %v", c.In, name, i, c.Out[i], ir.TypeOf(want))
		}
		if diff := tensor.Compare(out[i], want, tensor.Tolerance(f.Tol)); diff != nil {
			t.Errorf("%v %s: result %d: %v", c.In, name, i, diff)
		} else if f.Tol == 0 && !want.DType.IsFloat() && !tensor.BitEqual(out[i], want) {
			t.Errorf("%v %s: result %d differs in its bits", c.In, name, i)
		} else if f.Tol == 0 && moves[f.Op] && !tensor.BitEqual(out[i], want) {
			t.Errorf("%v %s: result %d differs in its bits", c.In, name, i)
		}
	}
}

// moves are the operators that must keep the bits of floats too, the payload of
// a NaN and the sign of a zero.
var moves = map[string]bool{
	"reshape": true, "flatten": true, "transpose": true, "squeeze": true, "unsqueeze": true, "expand": true,
	"concat": true, "stack": true, "split": true, "chunk": true, "slice": true, "pad": true, "tile": true,
	"repeat": true, "flip": true, "roll": true, "gather": true, "take_along": true, "gather_nd": true,
	"sort": true, "topk": true, "embedding": true, "triu": true, "tril": true,
}

// TestFixtures compares with NumPy and SciPy. Each operator of these groups
// must have a line.
func TestFixtures(t *testing.T) {
	file, err := os.Open("testdata/moves.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var f fixture
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		seen[f.Op]++
		t.Run(fmt.Sprintf("%s/%d", f.Op, n), f.check)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, op := range rowsOf(groupsB) {
		if seen[op.Name] == 0 {
			t.Errorf("%s has no fixture", op.Name)
		}
	}
}
