package npu_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/npulang/npu"
	"github.com/npulang/npu/ir"
)

// TestHostileCalls executes every operator on tensors and attributes that were
// drawn without regard to what it takes: each call works, or is refused with a
// diagnostic that is not a fault of npu.
func TestHostileCalls(t *testing.T) {
	rt := newRuntime(t, npu.RuntimeOptions{MaxMemory: 32 << 20})
	r := rand.New(rand.NewPCG(9, 9))
	pool := tensors{nil}
	for _, d := range []npu.DType{npu.F32, npu.F32, npu.F16, npu.I64, npu.I32, npu.U8, npu.Bool} {
		for _, shape := range [][]int{{}, {0}, {1}, {4}, {2, 4}, {4, 4}, {1, 2, 4}, {2, 2, 4, 4}, {0, 3}} {
			pool = append(pool, must(rt.NewTensor(d, shape...)))
		}
	}
	worked, refused := 0, 0
	for _, op := range ir.Ops() {
		for range 60 {
			var in tensors
			for range r.IntN(len(op.Args) + 2) {
				in = append(in, pool[r.IntN(len(pool))])
			}
			var attrs []npu.Attr
			for _, a := range op.Attrs {
				if r.IntN(3) > 0 {
					attrs = append(attrs, npu.RawAttr(a.Name, hostileLit(r, a.Kind)))
				}
			}
			got, err := rt.Execute(op.Name, in, nil, attrs...)
			var ds npu.Diagnostics
			switch {
			case err == nil:
				worked++
				for _, d := range got.Outputs {
					must(0, d.Free())
				}
			case !errors.As(err, &ds) || strings.Contains(err.Error(), "[internal]"):
				t.Errorf("%s of %d inputs: %v", op.Name, len(in), err)
			default:
				refused++
			}
		}
	}
	if worked < 300 || refused < 3000 {
		t.Errorf("%d calls worked, %d were refused", worked, refused)
	}
}

// hostileLit draws a value, of the right kind in three of four cases.
func hostileLit(r *rand.Rand, kind ir.AttrKind) ir.Lit {
	if r.IntN(4) == 0 {
		kind = ir.AttrKind(r.IntN(int(ir.KTensor)))
	}
	numbers := []int64{0, 0, 1, 1, 2, 3, 4, -1, -2, 1 << 20, math.MaxInt64, math.MinInt64}
	number := func() int64 { return numbers[r.IntN(len(numbers))] }
	list := make([]int64, r.IntN(4))
	dims := make([]ir.Dim, len(list))
	for i := range list {
		list[i] = number()
		dims[i] = ir.N(number())
	}
	switch kind {
	case ir.KInts:
		return ir.IntsLit(list...)
	case ir.KFloat:
		return ir.FloatLit([]float64{0, 1, -1, math.NaN(), math.Inf(1), 1e300}[r.IntN(6)])
	case ir.KBool:
		return ir.BoolLit(r.IntN(2) == 0)
	case ir.KString:
		return ir.StrLit([]string{"", "tanh", "ij,jk->ik", "->", "same_upper", "constant", "\x00"}[r.IntN(7)])
	case ir.KDType:
		return ir.DTypeLit([]npu.DType{npu.F32, npu.I8, npu.Bool, npu.DType(0), npu.DType(200)}[r.IntN(5)])
	case ir.KType:
		return ir.TypeLit(ir.T(npu.F32, dims...))
	case ir.KDim, ir.KNum:
		return ir.DimLit(ir.N(number()))
	case ir.KDims:
		return ir.DimsLit(dims...)
	}
	return ir.IntLit(number())
}
