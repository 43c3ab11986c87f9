package kernel_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// gatedHalves are pairs of products of halves, H, whose sums are floats or halves again.
var gatedHalves = []string{
	`func @f(%x: H[2,150,17], %g: H[300,17], %u: H[300,17]) -> (out: H[2,150,300]) {
  %0 = linear %x, %g {dtype=f32} : f32[2,150,300]
  %1 = silu %0 : f32[2,150,300]
  %2 = linear %x, %u {dtype=f32} : f32[2,150,300]
  %3 = mul %1, %2 : f32[2,150,300]
  %4 = cast %3 {dtype=H} : H[2,150,300]
  return %4
}
`,
	`func @f(%x: H[40,18], %g: H[70,18], %u: H[70,18], %b: H[70]) -> (out: H[40,70]) {
  %0 = linear %x, %g : H[40,70]
  %1 = bias_add %0, %b : H[40,70]
  %2 = sigmoid %1 : H[40,70]
  %3 = linear %x, %u : H[40,70]
  %4 = mul %2, %3 : H[40,70]
  return %4
}
`,
	// Operands of their own, one of which is transposed.
	`func @f(%x: H[3,5,7], %y: H[3,7,9], %g: H[3,5,21], %u: H[3,9,21]) -> (y: f32[3,7,21]) {
  %0 = transpose %x {perm=[0,2,1]} : H[3,7,5]
  %1 = matmul %0, %g {dtype=f32} : f32[3,7,21]
  %2 = matmul %y, %u {dtype=f32} : f32[3,7,21]
  %3 = maximum %1, %2 : f32[3,7,21]
  return %3
}
`,
}

// gatedBytes are pairs of products of bytes, with and without scales.
var gatedBytes = []string{
	`func @f(%x: i8[2,150,17], %s: f32[2,150,1], %g: i8[300,17], %p: f32[300], %u: i8[300,17], %q: f32[300], %c: f32[300]) -> (out: f32[2,150,300]) {
  %0 = linear %x, %g {dtype=i32} : i32[2,150,300]
  %1 = cast %0 {dtype=f32} : f32[2,150,300]
  %2 = mul %1, %s : f32[2,150,300]
  %3 = mul %2, %p : f32[2,150,300]
  %4 = silu %3 : f32[2,150,300]
  %5 = linear %x, %u {dtype=i32} : i32[2,150,300]
  %6 = cast %5 {dtype=f32} : f32[2,150,300]
  %7 = mul %6, %s : f32[2,150,300]
  %8 = mul %7, %q : f32[2,150,300]
  %9 = bias_add %8, %c : f32[2,150,300]
  %10 = mul %4, %9 : f32[2,150,300]
  return %10
}
`,
	`func @f(%x: u8[31,40], %g: i8[50,40], %u: i8[50,40]) -> (out: f32[31,50]) {
  %0 = linear %x, %g {dtype=i32} : i32[31,50]
  %1 = linear %x, %u {dtype=i32} : i32[31,50]
  %2 = add %0, %1 : i32[31,50]
  %3 = cast %2 {dtype=f32} : f32[31,50]
  return %3
}
`,
	// Bytes that lie apart, and a row.
	`func @f(%x: i8[33,4], %y: i8[33,4], %g: i8[33,70], %u: i8[33,70], %s: f32[]) -> (out: f32[4,70]) {
  %0 = transpose %x {perm=[1,0]} : i8[4,33]
  %1 = matmul %0, %g {dtype=i32} : i32[4,70]
  %2 = cast %1 {dtype=f32} : f32[4,70]
  %3 = transpose %y {perm=[1,0]} : i8[4,33]
  %4 = matmul %3, %u {dtype=i32} : i32[4,70]
  %5 = cast %4 {dtype=f32} : f32[4,70]
  %6 = mul %5, %s : f32[4,70]
  %7 = mul %2, %6 : f32[4,70]
  return %7
}
`,
	`func @f(%x: i8[1,64], %g: i8[70,64], %u: i8[70,64], %p: f32[70]) -> (out: f32[1,70]) {
  %0 = linear %x, %g {dtype=i32} : i32[1,70]
  %1 = cast %0 {dtype=f32} : f32[1,70]
  %2 = mul %1, %p : f32[1,70]
  %3 = linear %x, %u {dtype=i32} : i32[1,70]
  %4 = cast %3 {dtype=f32} : f32[1,70]
  %5 = gelu %4 : f32[1,70]
  %6 = mul %5, %2 : f32[1,70]
  return %6
}
`,
}

// TestGatedNarrow: pairs of products of halves and of bytes give what their operators by
// themselves give, to the bit, by any number of parts.
func TestGatedNarrow(t *testing.T) {
	for _, text := range narrowGates() {
		holdsNarrow(t, text)
	}
}

// narrowGates are all of these regions.
func narrowGates() []string {
	all := slices.Clone(gatedBytes)
	for _, text := range gatedHalves {
		all = append(all, strings.ReplaceAll(text, "H", "bf16"), strings.ReplaceAll(text, "H", "f16"))
	}
	return all
}

// TestGatedPieces: what is copied of the left operand serves pieces of all columns of both
// products, and is made anew for other rows, also where these are laid out in the same memory
// as those before.
func TestGatedPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("the reference takes a second")
	}
	same := `func @f(%x: D[2,37,K], %g: D[2,K,900], %u: D[2,K,900]) -> (out: f32[2,37,900]) {
  %0 = matmul %x, %g {dtype=S} : S[2,37,900]
  %1 = matmul %x, %u {dtype=S} : S[2,37,900]
  %2 = maximum %0, %1 : S[2,37,900]
  %3 = cast %2 {dtype=f32} : f32[2,37,900]
  return %3
}
`
	own := strings.Replace(strings.Replace(same, ", %g: D", ", %y: D[2,37,K], %g: D", 1), "matmul %x, %u", "matmul %y, %u", 1)
	for _, text := range []string{same, own} {
		for _, d := range []struct{ of, sums, k string }{{"f32", "f32", "512"}, {"bf16", "f32", "512"}, {"i8", "i32", "2100"}} {
			holdsNarrow(t, strings.NewReplacer("D", d.of, "S", d.sums, "K", d.k).Replace(text))
		}
	}
}

// gateWeight reports whether a parameter is a right operand.
func gateWeight(p *ir.Value) bool { return p.Name == "g" || p.Name == "u" }

// holdsNarrow is holds for right operands that are constant.
func holdsNarrow(t *testing.T, text string) {
	t.Helper()
	f, b := written(t, text)
	row := "gated/int8"
	if d := b.In[0].DType; d.IsFloat() {
		row = "gated/" + d.String()
	}
	r := rand.New(rand.NewPCG(1, uint64(len(text))))
	in := make([]*tensor.T, len(b.In))
	for i, typ := range b.In {
		in[i] = irtest.Tensor(r, typ)
		if typ.DType.IsFloat() {
			for j := range in[i].Len() {
				in[i].SetFloat(j, r.NormFloat64())
			}
		}
		if gateWeight(f.Params[i]) {
			b.Const[i] = in[i]
		}
	}
	want, err := new(ir.Interp).Run(f, in...)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range choices()[1:] {
		k := kernel.Prepare(b, &o)
		if k == nil || k.Name != row+"/"+o.Level.String() {
			t.Fatalf("%v takes %s\n%s", k, text, why(b, row, &o))
		}
		steps, _ := stepwise(t, b, in, o)
		checkShared(t, k, in, steps, resultsOf(b), rand.New(rand.NewPCG(1, 1)))
		for _, parts := range []int{1, k.Parts(2), k.Parts(5)} {
			for i, got := range runRegion(t, k, b, in, parts) {
				if d := tensor.CompareWhole(got, want[i], tensor.Tolerance(k.Within)); d != nil {
					t.Fatalf("%s of %s: %v", k.Name, text, d)
				}
				if !tensor.BitEqual(got, steps[i]) {
					t.Fatalf("%s of %s: other bits than operator by operator: %v", k.Name, text, tensor.Compare(got, steps[i], 0))
				}
			}
		}
	}
}

// TestGatedNarrowRefuses: right operands that runs bring are the operators' own.
func TestGatedNarrowRefuses(t *testing.T) {
	_, b := written(t, gatedBytes[0])
	o := choices()[1]
	if got := why(b, "gated/int8", &o); !strings.Contains(got, "a right operand that is no constant") {
		t.Error(got)
	}
}
