package kernel_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/irtest"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// foldCases are shapes and the axes that are reduced: rows in groups of four and what is
// left, columns in more than one run, several axes, nothing.
var foldCases = []struct {
	shape string
	axes  []int64
}{
	{"[1,100]", []int64{1}}, {"[2,7]", []int64{1}}, {"[9,33]", []int64{1}}, {"[12,1]", []int64{1}},
	{"[37,5]", []int64{0}}, {"[3,20,700]", []int64{1}}, {"[3,20,7]", []int64{0, 2}}, {"[4,3,5,6]", []int64{0, 2}}, {"[5,6,7]", []int64{0, 1, 2}},
	{"[3,0]", []int64{1}}, {"[0,3]", []int64{1}}, {"[]", []int64{}},
}

// TestTallies compares with the reference, bit for bit, every dtype and operator that has a
// loop, with many equal elements and, among floats, NaN.
func TestTallies(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	ran := map[string]int{}
	var x kernel.Exec
	options := kernel.Best()
	for _, d := range tensor.DTypes {
		for _, op := range []*ir.Op{ir.Any, ir.All, ir.CountNonzero, ir.ArgMax, ir.ArgMin} {
			for _, c := range foldCases {
				axes := ir.IntsLit(c.axes...)
				if op == ir.ArgMax || op == ir.ArgMin {
					if axes = ir.None; len(c.axes) > 0 && r.IntN(4) > 0 {
						axes = ir.IntLit(c.axes[0])
					}
				}
				call := &ir.Call{Op: op, Attrs: []ir.Lit{axes, ir.BoolLit(false)}, In: []ir.Type{typeOf(t, d.String()+c.shape)}}
				if ir.InferCall(call) != nil {
					continue
				}
				k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
				if !strings.HasPrefix(k.Name, "tally/") {
					continue
				}
				ran[d.String()+" "+op.Name]++
				in := irtest.Tensor(r, call.In[0])
				if kind := r.IntN(3); kind > 0 {
					fillBy(in, func() float64 { return float64(kind - 1 + r.IntN(2)) })
				}
				want, err := ir.Evaluate(call, in)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, k, &x, call, []*tensor.T{in}, want, nil)
			}
		}
	}
	if len(ran) != 9*5+3 {
		t.Errorf("%d operators of a dtype ran, want %d: %v", len(ran), 9*5+3, ran)
	}
}

// TestFolds compares with the reference, bit for bit, every dtype and operator that has a
// loop.
func TestFolds(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	ran := map[string]int{}
	var x kernel.Exec
	options := kernel.Best()
	for _, d := range tensor.DTypes {
		for _, op := range []*ir.Op{ir.Sum, ir.Prod, ir.SumSquare, ir.Norm1, ir.Max, ir.Min, ir.Mean, ir.Variance, ir.Std} {
			for _, c := range foldCases {
				attrs := []ir.Lit{ir.IntsLit(c.axes...), ir.BoolLit(false)}
				if len(op.Attrs) > 2 { // correction
					attrs = append(attrs, ir.IntLit(int64(r.IntN(3))))
				}
				call := &ir.Call{Op: op, Attrs: attrs, In: []ir.Type{typeOf(t, d.String()+c.shape)}}
				if ir.InferCall(call) != nil {
					continue
				}
				k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), &options)
				if !strings.HasPrefix(k.Name, "fold/") {
					continue
				}
				ran[d.String()]++
				in := irtest.Tensor(r, call.In[0])
				if d.IsFloat() && r.IntN(3) > 0 { // some without NaN
					fillBy(in, func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(40)) })
				}
				want, err := ir.Evaluate(call, in)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, k, &x, call, []*tensor.T{in}, want, nil)
			}
		}
	}
	if got, want := strings.Join(slices.Sorted(maps.Keys(ran)), " "), "f64 i16 i32 i64 i8 u16 u32 u64 u8"; got != want {
		t.Errorf("there are loops for %s, want %s", got, want)
	}
}
