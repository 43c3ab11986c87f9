package passes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// quantizedProducts are all forms of the rule multiply-bytes: %q and %w are bytes, with
// scales and zeros.
var quantizedProducts = []struct{ left, scale, zero, right, scales, offset, product string }{
	{"u8[5,7]", "f32[]", "u8[]", "u8[7,4]", "f32[4]", "3", "matmul %x, %v : f32[5,4]"},
	{"u8[3,5,7]", "f32[]", "u8[]", "u8[4,7]", "f32[4,1]", "u8[4,1]", "linear %x, %v, %c : f32[3,5,4]"},
	{"i8[5,7]", "f32[5,1]", "i8[]", "i8[7,4]", "f32[1,4]", "i8[1,4]", "matmul %x, %v : f32[5,4]"},
	{"i8[5,7]", "f32[]", "", "i8[4,7]", "f32[]", "i8[]", "linear %x, %v : f32[5,4]"},
	{"u8[5,7]", "f32[]", "", "u8[7,4]", "f32[]", "", "matmul %x, %v : f32[5,4]"},
	{"i8[5,7]", "f32[]", "", "i8[7,4]", "f32[]", "", "matmul %x, %v : f32[5,4]"},
	{"u8[5,7]", "f32[]", "u8[]", "i8[7,4]", "f32[4]", "", "matmul %x, %v : f32[5,4]"},
	{"u8[3,5,7]", "f32[1]", "u8[1]", "i8[7,4]", "f32[1,4]", "", "matmul %x, %v : f32[3,5,4]"},
	{"i8[3,5,7]", "f32[5,1]", "i8[]", "i8[4,7]", "f32[4,1]", "", "linear %x, %v : f32[3,5,4]"},
	{"i8[5,7]", "f32[5,1]", "", "u8[4,7]", "f32[4,1]", "128", "linear %x, %v : f32[5,4]"},
	{"u8[5,7]", "f32[]", "u8[]", "u8[7,4]", "f32[4]", "128", "matmul %x, %v : f32[5,4]"},
	{"u8[5,7]", "f32[]", "u8[]", "i8[4,7]", "f32[1,1]", "", "linear %x, %v, %c : f32[5,4]"},
}

// TestMultiplyBytes: where no step of the form before rounds, the product of the bytes
// has its bits, and else stays within the tolerance.
func TestMultiplyBytes(t *testing.T) {
	for _, p := range quantizedProducts {
		var text strings.Builder
		fmt.Fprintf(&text, "func @f(%%q: %s, %%c: f32[4]) -> (y: %s) {\n", p.left, p.product[strings.Index(p.product, ": ")+2:])
		param := func(name, of string) string {
			if of == "" {
				return ""
			}
			fmt.Fprintf(&text, "  %%%s = param : %s\n", name, of)
			return ", %" + name
		}
		z, s, right, r := param("z", p.zero), param("s", p.scale), param("w", p.right), param("r", p.scales)
		shape := func(of string) string { return of[strings.Index(of, "["):] }
		if strings.Contains(p.offset, "[") {
			r += param("o", p.offset)
		} else if p.offset != "" {
			fmt.Fprintf(&text, "  %%o = const %s : u8[]\n", p.offset)
			r += ", %o"
		}
		fmt.Fprintf(&text, "  %%x = dequantize_linear %%q%s%s : f32%s\n", s, z, shape(p.left))
		fmt.Fprintf(&text, "  %%v = dequantize_linear %s%s : f32%s\n  %%y = %s\n  return %%y\n}\n", right[2:], r, shape(p.right), p.product)
		for _, within := range []float64{0, tolerance} {
			checkBytes(t, text.String(), within)
		}
	}
}

// checkBytes compares a product as it is written and behind the rule. Within 0 all scales
// are powers of two.
func checkBytes(t *testing.T, text string, within float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(len(text))))
	number := func(d ir.Type) *tensor.T {
		x := irtest.Tensor(r, d)
		for i := range x.Len() {
			switch {
			case d.DType == tensor.F32 && within == 0:
				x.SetFloat(i, math.Ldexp(1, r.IntN(6)-3))
			case d.DType == tensor.F32:
				x.SetFloat(i, r.Float64()+0.01)
			default:
				x.SetInt(i, r.Int64N(256)-signedHalf(d.DType))
			}
		}
		return x
	}
	weights := map[string]*tensor.T{}
	run := func(f *ir.Func, inputs []*tensor.T) *tensor.T {
		in := ir.Interp{Param: func(v *ir.Value) (*tensor.T, error) {
			if weights[v.Key()] == nil {
				weights[v.Key()] = number(v.Type)
			}
			return weights[v.Key()], nil
		}}
		out, err := in.Run(f, inputs...)
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		return out[0]
	}
	plain, changed := irtest.Parse(t, text), irtest.Parse(t, text)
	inputs := []*tensor.T{number(plain.Params[0].Type), number(plain.Params[1].Type)}
	want := run(plain, inputs)
	if _, err := Run(changed, Options{Level: O1}); err != nil {
		t.Fatal(err)
	}
	if after := changed.String(); strings.Contains(after, "dequantize_linear") || !strings.Contains(after, "dtype=i32") {
		t.Errorf("the product is not one of bytes:\n%s", after)
	}
	if err := rewrite.Differ(run(changed, inputs), want, within); err != nil {
		t.Errorf("within %v: %v\n%s", within, err, text)
	}
}

// TestMultiplyBytesRefused: sums that an i32 may not hold.
func TestMultiplyBytesRefused(t *testing.T) {
	for _, c := range []struct {
		k    int
		zero string
		want bool
	}{
		{maxQuantizedSum, "", true}, {maxQuantizedSum + 1, "", false}, {maxZeroSum, ", %z", true}, {maxZeroSum + 1, ", %z", false},
	} {
		f := irtest.Parse(t, fmt.Sprintf(`func @f(%%q: u8[1,%[1]d], %%s: f32[]) -> (y: f32[1,1]) {
  %%w = param : i8[%[1]d,1]
  %%x = dequantize_linear %%q, %%s : f32[1,%[1]d]
  %%z = param : i8[]
  %%v = dequantize_linear %%w, %%s%[2]s : f32[%[1]d,1]
  %%y = matmul %%x, %%v : f32[1,1]
  return %%y
}
`, c.k, c.zero))
		if _, err := Run(f, Options{Level: O1}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(f.String(), "dtype=i32"); got != c.want {
			t.Errorf("sums of %d: a product of bytes: %v, and is to be %v", c.k, got, c.want)
		}
	}
}

// signedHalf is how far below 0 the bytes of a dtype begin.
func signedHalf(d tensor.DType) int64 {
	if d == tensor.I8 {
		return 128
	}
	return 0
}
