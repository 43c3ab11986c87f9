package ir_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A numbersCase is one line of testdata/numbers.jsonl; gen_numbers.py says how
// it is made and what its parts mean.
type numbersCase struct {
	Op    string
	Attrs map[string]any
	In    []*fixtureTensor
	Out   []*fixtureTensor
	ULP   int64
	Signs bool
}

// TestNumbers compares with NumPy and SciPy. Each operator of these groups must
// have a line.
func TestNumbers(t *testing.T) {
	file, err := os.Open("testdata/numbers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<22)
	for n := 1; lines.Scan(); n++ {
		var c numbersCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		seen[c.Op]++
		if err := c.run(t); err != nil {
			t.Errorf("line %d: %s %v: %v", n, c.Op, c.Attrs, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, op := range ir.Ops() {
		if groups[op.Group] && seen[op.Name] == 0 {
			t.Errorf("%s has no line in numbers.jsonl", op.Name)
		}
	}
}

func (n *numbersCase) run(t *testing.T) error {
	op := ir.Lookup(n.Op)
	if op == nil {
		return fmt.Errorf("no such operator")
	}
	as := attrs{}
	for _, a := range op.Attrs {
		if v, ok := n.Attrs[a.Name]; ok && a.Kind == ir.KFloat {
			as[a.Name] = ir.FloatLit(v.(float64))
		} else if ok {
			as[a.Name] = litOf(t, a.Kind, v)
		}
	}
	if len(as) != len(n.Attrs) {
		return fmt.Errorf("unknown attributes")
	}
	var in []*tensor.T
	for _, x := range n.In {
		in = append(in, x.tensor(t))
	}
	c, err := callOf(n.Op, as, in...)
	if err != nil {
		return err
	}
	out, err := op.Eval(c, in...)
	if err != nil {
		return err
	}
	for i, x := range n.Out {
		want := x.tensor(t)
		if !c.Out[i].Equal(ir.TypeOf(want)) {
			return fmt.Errorf("%v: inferred %v, want %v", c.In, c.Out[i], ir.TypeOf(want))
		}
		if err := near(out[i], want, n.ULP); err != nil {
			return fmt.Errorf("%v: %w%s", c.In, err, inputsAt(in, out[i]))
		}
		if n.Signs {
			if err := sameSigns(out[i], want); err != nil {
				return fmt.Errorf("%v: %w", c.In, err)
			}
		}
	}
	return nil
}

// inputsAt shows the arguments of an elementwise call beside its result.
func inputsAt(in []*tensor.T, out *tensor.T) string {
	if len(in) != 1 || in[0].Len() != out.Len() || out.Len() > 200 {
		return ""
	}
	return fmt.Sprintf(" for %v", in[0].Floats())
}

// sameSigns compares the signs of zeros, which compare equal.
func sameSigns(got, want *tensor.T) error {
	if !want.DType.IsFloat() {
		return nil
	}
	wants := want.Floats()
	for i, v := range got.Floats() {
		if v == 0 && math.Signbit(v) != math.Signbit(wants[i]) {
			return fmt.Errorf("element %d is a zero of the wrong sign", i)
		}
	}
	return nil
}
