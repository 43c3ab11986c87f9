package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// TestStripRegions: views, transpositions and broadcasts between element-wise
// operators are one pass, with one result or several, of several types.
func TestStripRegions(t *testing.T) {
	for _, text := range []string{
		`func @broadcasts(%x: f32[5,70], %row: f32[70], %col: f32[5,1], %one: f32[]) -> (f32[5,70]) {
  %0 = mul %x, %row : f32[5,70]
  %1 = sub %col, %0 : f32[5,70]
  %2 = div %1, %one : f32[5,70]
  return %2
}`,
		`func @of_little(%row: f32[9], %col: f32[7,1]) -> (f32[7,9]) {
  %0 = exp %row : f32[9]
  %1 = neg %col : f32[7,1]
  %2 = add %0, %1 : f32[7,9]
  return %2
}`,
		`func @several(%x: f32[3,50], %y: f32[3,50]) -> (f32[3,50], f32[3,50], bool[3,50]) {
  %0 = tanh %x : f32[3,50]
  %1 = add %0, %y : f32[3,50]
  %2 = less %1, %x : bool[3,50]
  %3 = where %2, %0, %y : f32[3,50]
  return %0, %3, %2
}`,
		`func @views(%x: f32[4,6], %y: f32[24], %z: f32[6]) -> (f32[24]) {
  %0 = abs %x : f32[4,6]
  %1 = add %0, %z : f32[4,6]
  %2 = reshape %1 {dims=[24]} : f32[24]
  %3 = mul %2, %y : f32[24]
  return %3
}`,
		`func @heads(%x: f32[2,5,12], %bias: f32[12], %scale: f32[4]) -> (f32[2,3,5,4]) {
  %0 = add %x, %bias : f32[2,5,12]
  %1 = reshape %0 {dims=[2,5,3,4]} : f32[2,5,3,4]
  %2 = mul %1, %scale : f32[2,5,3,4]
  %3 = transpose %2 {perm=[0,2,1,3]} : f32[2,3,5,4]
  %4 = neg %3 : f32[2,3,5,4]
  return %4
}`,
		`func @both_ways(%x: f32[6,6]) -> (f32[6,6]) {
  %0 = sqrt %x : f32[6,6]
  %1 = transpose %0 : f32[6,6]
  %2 = add %0, %1 : f32[6,6]
  return %2
}`,
		`func @expanded(%x: f32[3,1], %y: f32[2,3,70]) -> (f32[2,3,70]) {
  %0 = square %x : f32[3,1]
  %1 = expand %0 {dims=[2,3,70]} : f32[2,3,70]
  %2 = maximum %1, %y : f32[2,3,70]
  return %2
}`,
		`func @types(%x: f32[130], %n: i32[130]) -> (i32[130]) {
  %0 = cast %n {dtype=f32} : f32[130]
  %1 = mul %0, %x : f32[130]
  %2 = greater %1, %x : bool[130]
  %3 = cast %2 {dtype=i32} : i32[130]
  %4 = add %3, %n : i32[130]
  return %4
}`,
		`func @half(%x: f16[3,77], %y: f16[77]) -> (f16[3,77]) {
  %0 = add %x, %y : f16[3,77]
  %1 = mul %0, %0 : f16[3,77]
  return %1
}`,
		`func @brain(%x: bf16[3,77], %y: bf16[77]) -> (bf16[3,77]) {
  %0 = sub %x, %y : bf16[3,77]
  %1 = relu %0 : bf16[3,77]
  return %1
}`,
		`func @bytes(%x: i8[3,70], %y: i8[70], %n: i32[3,1]) -> (i8[3,70], u8[3,70]) {
  %0 = add %x, %y : i8[3,70]
  %1 = less %0, %y : bool[3,70]
  %2 = mul %0, %x : i8[3,70]
  %3 = where %1, %2, %0 : i8[3,70]
  %4 = abs %3 : i8[3,70]
  %5 = cast %n {dtype=u8} : u8[3,1]
  %6 = cast %4 {dtype=u8} : u8[3,70]
  %7 = sub %5, %6 : u8[3,70]
  %8 = maximum %7, %5 : u8[3,70]
  return %4, %8
}`,
		`func @much(%x: f32[40,3,70], %y: f32[3,1]) -> (f32[40,3,70]) {
  %0 = add %x, %y : f32[40,3,70]
  %1 = gelu %0 : f32[40,3,70]
  return %1
}`,
	} {
		holds(t, "strip", text)
	}
}

// TestStripRandom is TestStripRegions with regions of any shape.
func TestStripRandom(t *testing.T) {
	for seed := range uint64(60) {
		holds(t, "strip", randomRegion(rand.New(rand.NewPCG(seed, 3))))
	}
}

// randomRegion writes a chain of operators on a value, which changes its shape by views
// and transpositions, and takes parameters that broadcast.
func randomRegion(r *rand.Rand) string {
	shape := []int{1 + r.IntN(4), 1 + r.IntN(5), 1 + r.IntN(70)}
	params := []string{"%p0: " + typeText(shape)}
	var lines []string
	last := "%p0"
	put := func(op, args, attrs string) {
		line := fmt.Sprintf("  %%%d = %s %s%s : %s", len(lines), op, args, attrs, typeText(shape))
		last = fmt.Sprintf("%%%d", len(lines))
		lines = append(lines, line)
	}
	for range 2 + r.IntN(6) {
		switch r.IntN(6) {
		case 0:
			shape = []int{shape[1], shape[0], shape[2]}
			put("transpose", last, " {perm=[1,0,2]}")
		case 1:
			shape = []int{shape[0], shape[2], shape[1]}
			put("transpose", last, "")
		case 2:
			shape = []int{1, shape[0] * shape[1], shape[2]}
			put("reshape", last, " {dims="+listText(shape)+"}")
		case 3:
			put([]string{"abs", "sigmoid", "neg", "relu"}[r.IntN(4)], last, "")
		default:
			with := append([]int{}, shape...)
			for i := range with {
				if r.IntN(2) == 0 {
					with[i] = 1
				}
			}
			p := fmt.Sprintf("%%p%d", len(params))
			params = append(params, p+": "+typeText(with[r.IntN(2):]))
			args := last + ", " + p
			if r.IntN(2) == 0 {
				args = p + ", " + last
			}
			put([]string{"add", "mul", "sub", "minimum"}[r.IntN(4)], args, "")
		}
	}
	put("abs", last, "")
	return "func @random(" + strings.Join(params, ", ") + ") -> (" + typeText(shape) + ") {\n" + strings.Join(lines, "\n") + "\n  return " + last + "\n}"
}

func typeText(shape []int) string { return "f32" + listText(shape) }

func listText(shape []int) string {
	return strings.ReplaceAll(fmt.Sprint(shape), " ", ",")
}

// TestStripRefuses says why regions are not one pass.
func TestStripRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"results of different sizes": `func @f(%x: f32[4,1], %y: f32[4,5]) -> (f32[4,1], f32[4,5]) {
  %0 = exp %x : f32[4,1]
  %1 = add %0, %y : f32[4,5]
  return %0, %1
}`,
		"the body is of another kind": `func @f(%x: f32[4]) -> (f32[4]) {
  %0 = softmax %x {axis=0} : f32[4]
  %1 = exp %0 : f32[4]
  return %1
}`,
		"a view that cuts axes unevenly": `func @f(%x: f32[4,6], %y: f32[6], %z: f32[4]) -> (f32[6,4]) {
  %0 = add %x, %y : f32[4,6]
  %1 = reshape %0 {dims=[6,4]} : f32[6,4]
  %2 = add %1, %z : f32[6,4]
  return %2
}`,
		"it only moves data": `func @f(%x: f32[4,6]) -> (f32[6,4]) {
  %0 = transpose %x : f32[6,4]
  return %0
}`,
	} {
		_, b := written(t, text)
		o := kernel.Best()
		if got := why(b, "strip", &o); got != "strip: "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStripOps compares the operators on floats with their evaluation, over all
// magnitudes and at oddities: in units in the last place, of results that are not
// tiny.
func TestStripOps(t *testing.T) {
	odd := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 1e-39, 3e38, -3e38, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 88.7, -103.9, 0.5, 2, -2, 3}
	r := rand.New(rand.NewPCG(8, 9))
	for _, op := range ir.Ops() {
		if op.Class != ir.Elementwise || op.Sample == nil {
			continue
		}
		for range 4 {
			c, in := sample(t, op, r)
			if c.In[0].Absent() || c.In[0].DType != tensor.F32 || c.Out[0].DType == tensor.F64 {
				continue
			}
			for _, x := range in {
				if x != nil && x.DType == tensor.F32 {
					for i := range tensor.Of[float32](x) {
						tensor.Of[float32](x)[i] = anyFloat(r, odd)
					}
				}
			}
			compareUlps(t, c, in)
		}
	}
}

func anyFloat(r *rand.Rand, odd []float32) float32 {
	switch r.IntN(3) {
	case 0:
		return odd[r.IntN(len(odd))]
	case 1:
		return math.Float32frombits(r.Uint32())
	}
	return float32(r.NormFloat64() * 3)
}

func compareUlps(t *testing.T, c *ir.Call, in []*tensor.T) {
	t.Helper()
	want, err := ir.Evaluate(c, in...)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range choices()[1:] {
		k := kernel.Prepare(kernel.Single(c, nil, kernel.Absent), &o)
		if !strings.HasPrefix(k.Name, "strip/") {
			continue
		}
		var x kernel.Exec
		out := garbage(c)
		if err := k.Do(&x, 0, 1, out, given(in)); err != nil {
			t.Fatal(err)
		}
		for i := range want[0].Len() {
			got, want := out[0].FloatAt(i), want[0].FloatAt(i)
			if off := math.Abs(got - want); got != want && !(off <= math.Abs(want)*0x1p-20 || off < 1e-7) && (got == got || want == want) {
				t.Errorf("%s of %v %s: element %d is %v, want %v", k.Name, c.In, attrsText(c), i, got, want)
			}
		}
	}
}
