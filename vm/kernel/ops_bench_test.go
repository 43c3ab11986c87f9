package kernel_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/kernel/isa"
)

// An opCase is a large call of an operator.
type opCase struct {
	op, attrs, in, out string
}

// million is a tensor of 4 MB, more than a core's second-level cache holds.
const million = "f32[1024,1024]"

// opCases has each operator of the table once at least.
var opCases = slices.Concat(
	alike(million, million, "abs acos acosh asin asinh atan atanh cbrt ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2 neg reciprocal round rsqrt sign sin sinh sqrt square tan tanh trunc "+
		"celu elu gelu hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu relu6 selu sigmoid silu softplus softsign copy"),
	alike(million, "bool[1024,1024]", "is_finite is_inf is_nan"),
	alike("i32[1024,1024]", "i32[1024,1024]", "neg bit_not"),
	alike("bool[1024,1024]", "bool[1024,1024]", "logical_not"),
	alike(million+" "+million, million, "add atan2 copysign div fmod hypot logaddexp maximum minimum mul pow rem sub"),
	alike(million+" "+million, "bool[1024,1024]", "equal greater greater_equal less less_equal not_equal"),
	alike("i64[1024,1024] i64[1024,1024]", "i64[1024,1024]", "add mul maximum div rem shift_left shift_right"),
	alike("i32[1024,1024] i32[1024,1024]", "i32[1024,1024]", "add mul bit_and bit_or bit_xor"),
	alike("f64[1024,512] f64[1024,512]", "f64[1024,512]", "add mul"),
	alike("f64[1024,512]", "f64[1024,512]", "relu sqrt exp abs floor log tanh sigmoid erf gelu silu sin reciprocal"),
	alike("f64[1024,512] f64[1024,512]", "f64[1024,512]", "div pow maximum"),
	alike("f64[1024,512]", "f64[1024]", "max mean min norm2 prod sum sum_square variance logsumexp", "axis=[1]"),
	alike("i64[1024,512]", "i64[1024]", "max min prod sum", "axis=[1]"),
	alike("i32[1024,1024]", "i32[1024]", "max min sum", "axis=[1]"),
	alike("f64[1024,512]", "f64[1024,512]", "softmax", "axis=-1"),
	alike("i64[1024,1024] i64[1024,1024]", "bool[1024,1024]", "equal less"),
	alike("bool[1024,1024] bool[1024,1024]", "bool[1024,1024]", "logical_and logical_or logical_xor"),
	[]opCase{
		{"clip", "", million + " f32 f32", million},
		{"clip", "", "i64[1024,1024] i64 i64", "i64[1024,1024]"},
		{"conv", "", "f16[1,32,56,56] f16[32,32,3,3]", "f16[1,32,54,54]"},
		{"max_pool", "kernel=[3,3], stride=[2,2]", "bf16[1,64,112,112]", "bf16[1,64,55,55]"},
		{"threshold", "t=0.5, v=0.0", million, million},
		{"prelu", "", million + " f32[1024]", million},
		{"bias_add", "", million + " f32[1024]", million},
		{"where", "", "bool[1024,1024] " + million + " " + million, million},
		{"where", "", "bool[1024,1024] i64[1024,1024] i64[1024,1024]", "i64[1024,1024]"},
		{"bitcast", "dtype=i32", million, "i32[1024,1024]"},
		{"cast", "dtype=f16", million, "f16[1024,1024]"},
		{"cast", "dtype=f32", "f16[1024,1024]", million},
		{"cast", "dtype=bf16", million, "bf16[1024,1024]"},
		{"cast", "dtype=f32", "bf16[1024,1024]", million},
		{"cast", "dtype=i32", million, "i32[1024,1024]"},
		{"cast", "dtype=f32", "i32[1024,1024]", million},
		{"cast", "dtype=i64", million, "i64[1024,1024]"},
		{"cast", "dtype=f32", "i64[1024,1024]", million},
		{"cast", "dtype=i32", "i64[1024,1024]", "i32[1024,1024]"},
		{"cast", "dtype=f32", "u8[1024,1024]", million},
		{"cast", "dtype=u8", million, "u8[1024,1024]"},
		{"cast", "dtype=i8", million, "i8[1024,1024]"},
		{"cast", "dtype=bool", million, "bool[1024,1024]"},
		{"cast", "dtype=f32", "bool[1024,1024]", million},
		{"cast", "dtype=f64", million, "f64[1024,1024]"},
		{"quantize_linear", "dtype=i8", million + " f32[1024,1]", "i8[1024,1024]"},
		{"quantize_linear", "", million + " f32 u8", "u8[1024,1024]"},
		{"dequantize_linear", "", "i8[1024,1024] f32[1024]", million},

		{"matmul", "", "f32[256,256] f32[256,256]", "f32[256,256]"},
		{"linear", "", "f32[256,256] f32[256,256]", "f32[256,256]"},
		{"matmul", "dtype=f32", "bf16[256,256] bf16[256,256]", "f32[256,256]"},
		{"matmul", "dtype=i32", "i8[256,256] i8[256,256]", "i32[256,256]"},
		{"matmul", "", "f64[256,256] f64[256,256]", "f64[256,256]"},
		{"matmul", "", "f64[1024,1024] f64[1024]", "f64[1024]"},
		{"matmul", "", "f64[1024] f64[1024,1024]", "f64[1024]"},
		{"linear", "", "f64[8,1024] f64[1024,1024]", "f64[8,1024]"},
		{"matmul", "", "i32[256,256] i32[256,256]", "i32[256,256]"},
		{"matmul", "", "i64[256,256] i64[256,256]", "i64[256,256]"},
		{"matmul", "", "u64[1024,1024] u64[1024]", "u64[1024]"},
		{"matmul", "", "i8[256,256] i8[256,256]", "i8[256,256]"},
		{"matmul", "dtype=i32", "u8[256,256] u8[256,256]", "i32[256,256]"},
		{"matmul", "", "i16[256,256] i16[256,256]", "i16[256,256]"},
		{"matmul", "", "i16[1024,1024] i16[1024]", "i16[1024]"},
		{"matmul", "", "i16[1024] i16[1024,1024]", "i16[1024]"},
		{"einsum", `spec="ij,kj->ik"`, "f32[256,256] f32[256,256]", "f32[256,256]"},
		{"dot", "", "f32[1000000] f32[1000000]", "f32"},
		{"dot", "", "f64[1000000] f64[1000000]", "f64"},
		{"dot", "", "i64[1000000] i64[1000000]", "i64"},
		{"dot", "", "i8[1000000] i8[1000000]", "i8"},
		{"outer", "", "f32[1024] f32[1024]", million},
		{"attention", "", "f32[4,256,64] f32[4,256,64] f32[4,256,64]", "f32[4,256,64]"},
		{"rope", "", "f32[16,1024,64] f32[1024,32] f32[1024,32]", "f32[16,1024,64]"},
		{"conv", "", "f32[1,32,56,56] f32[32,32,3,3]", "f32[1,32,54,54]"},
		{"conv_transpose", "stride=[2]", "f32[1,32,28,28] f32[32,32,2,2]", "f32[1,32,56,56]"},
		{"max_pool", "kernel=[3,3], stride=[2,2]", "f32[1,64,112,112]", "f32[1,64,55,55]"},
		{"avg_pool", "kernel=[3,3], stride=[2,2]", "f32[1,64,112,112]", "f32[1,64,55,55]"},
		{"global_avg_pool", "", "f32[4,256,28,28]", "f32[4,256,1,1]"},
		{"global_max_pool", "", "f32[4,256,28,28]", "f32[4,256,1,1]"},
	},
	alike(million, "f32[1024]", "max mean min norm1 norm2 prod std sum sum_square variance logsumexp", "axis=[1]"),
	alike(million, "f32[1024]", "sum max", "axis=[0]"),
	alike("i64[1024,1024]", "i64[1024]", "sum max", "axis=[1]"),
	alike("i64[1024,1024]", "i64[1024]", "argmax", "axis=1"),
	alike("i8[1024,1024]", "i8[1024,1024]", "relu sign bit_not"),
	alike("i64[1024,1024]", "bool[1024]", "any", "axis=[1]"),
	alike("f16[1024,1024]", "f16[1024]", "sum max logsumexp", "axis=[1]"),
	alike("bf16[1024,1024]", "bf16[1024]", "mean", "axis=[0]"),
	alike("f16[1024,1024]", "f16[1024,1024]", "softmax layernorm"),
	alike("f64[1024,512]", "f64[1024,512]", "sign leaky_relu"),
	alike("f64[1024,512]", "f64[1024]", "sum max", "axis=[1]"),
	alike(million, "bool[1024]", "all any", "axis=[1]"),
	alike("bool[1024,1024]", "bool[1024]", "all any", "axis=[1]"),
	alike(million, "i64[1024]", "argmax argmin", "axis=1"),
	alike(million, "i64[1024]", "argmax", "axis=0"),
	alike(million, "i64[1024]", "count_nonzero", "axis=[1]"),
	alike(million, million, "cumsum cumprod", "axis=1"),
	alike(million, million, "cumsum", "axis=0"),
	alike("i64[1024,1024]", "i64[1024,1024]", "cumsum", "axis=1"),
	alike(million, million, "softmax log_softmax l2_normalize layernorm rmsnorm"),
	[]opCase{
		{"batchnorm", "", "f32[4,64,64,64] f32[64] f32[64] f32[64] f32[64]", "f32[4,64,64,64]"},
		{"groupnorm", "groups=8", "f32[4,64,64,64] f32[64] f32[64]", "f32[4,64,64,64]"},
		{"instancenorm", "", "f32[4,64,64,64] f32[64] f32[64]", "f32[4,64,64,64]"},

		{"transpose", "perm=[1,0]", million, million},
		{"transpose", "perm=[1,0]", "f32[1000,1003]", "f32[1003,1000]"},
		{"transpose", "perm=[0,2,1,3]", "f32[1,512,16,64]", "f32[1,16,512,64]"},
		{"transpose", "perm=[0,2,3,1]", "f32[1,512,16,64]", "f32[1,16,64,512]"},
		{"transpose", "perm=[0,3,1,2]", "f32[1,224,224,3]", "f32[1,3,224,224]"},
		{"transpose", "perm=[0,2,3,1]", "f32[1,3,224,224]", "f32[1,224,224,3]"},
		{"transpose", "perm=[0,2,3,1]", "f32[1,64,112,112]", "f32[1,112,112,64]"},
		{"transpose", "perm=[1,0]", "u8[2048,2048]", "u8[2048,2048]"},
		{"transpose", "perm=[1,0]", "f16[2048,1024]", "f16[1024,2048]"},
		{"transpose", "perm=[1,0]", "i64[1024,1024]", "i64[1024,1024]"},
		{"concat", "axis=1", "f32[1024,512] f32[1024,512]", million},
		{"concat", "axis=2", "f32[1024,512,1] f32[1024,512,1]", "f32[1024,512,2]"},
		{"stack", "axis=2", "f32[1024,512] f32[1024,512]", "f32[1024,512,2]"},
		{"split", "parts=2, axis=1", million, "f32[1024,512] f32[1024,512]"},
		{"chunk", "n=2, axis=1", million, "f32[1024,512] f32[1024,512]"},
		{"slice", "starts=[0,1], ends=[1024,1023]", million, "f32[1024,1022]"},
		{"slice", "starts=[0,0], ends=[1024,1024], steps=[1,2]", million, "f32[1024,512]"},
		{"slice", "starts=[0,1023], ends=[1024,-4398046511104], steps=[1,-1]", million, million},
		{"flip", "axis=[1]", million, million},
		{"roll", "shift=[100], axis=[1]", million, million},
		{"pad", "pairs=[0,0,1,1,1,1]", "f32[64,112,112]", "f32[64,114,114]"},
		{"pad", "pairs=[0,0,1,1,1,1], mode=reflect", "f32[64,112,112]", "f32[64,114,114]"},
		{"expand", "dims=[1024,1024]", "f32[1024,1]", million},
		{"expand", "dims=[1024,1024]", "f32[1024]", million},
		{"tile", "reps=[2,2]", "f32[512,512]", million},
		{"repeat", "n=2, axis=1", "f32[1024,512]", million},
		{"repeat", "n=4, axis=0", "f32[256,1024]", million},
		{"reshape", "dims=[1048576]", million, "f32[1048576]"},
		{"flatten", "start=0", million, "f32[1048576]"},
		{"squeeze", "", "f32[1,1024,1024]", million},
		{"unsqueeze", "axis=[0]", million, "f32[1,1024,1024]"},
		{"tril", "", million, million},
		{"triu", "", million, million},

		{"gather", "axis=0", "f32[30000,768] i64[1024]", "f32[1024,768]"},
		{"gather", "axis=1", "f32[1024,1024] i64[1024]", million},
		{"embedding", "", "f32[30000,768] i64[1024]", "f32[1024,768]"},
		{"take_along", "axis=1", million + " i64[1024,1024]", million},
		{"gather_nd", "", million + " i64[100000,2]", "f32[100000]"},
		{"one_hot", "n=1000", "i64[1024]", "f32[1024,1000]"},
		{"scatter", "axis=1", million + " i64[1024,1024] " + million, million},
		{"scatter", "axis=1, reduce=add", million + " i64[1024,1024] " + million, million},
		{"scatter_nd", "", million + " i64[512,1] f32[512,1024]", million},
		{"sort", "", "f32[64,16384]", "f32[64,16384]"},
		{"sort", "axis=0", "f32[1024,64]", "f32[1024,64]"},
		{"argsort", "", "f32[64,16384]", "i64[64,16384]"},
		{"topk", "k=50", "f32[32,32000]", "f32[32,50] i64[32,50]"},

		{"zeros", "type=" + million, "", million},
		{"ones", "type=" + million, "", million},
		{"full", "type=" + million + ", value=2", "", million},
		{"eye", "n=1024", "", million},
		{"iota", "n=1048576", "", "i64[1048576]"},
		{"arange", "a=1048576", "", "i64[1048576]"},
		{"linspace", "a=0, b=1, n=1048576", "", "f32[1048576]"},
	},
)

// isaFlag is the instruction set of the kernels that are measured:
// go test ./vm/kernel -run - -bench Move -isa avx2
var isaFlag = flag.String("isa", "auto", "the instruction set of the kernels that BenchmarkOps and BenchmarkMove measure")

// benchmarked are the options of kernels of that instruction set.
func benchmarked(b *testing.B) kernel.Options {
	level, err := isa.Parse(*isaFlag)
	if err != nil {
		b.Fatal(err)
	}
	return kernel.Options{Kind: kernel.Fast, Level: level, Packs: new(kernel.Packs)}
}

// alike are calls of several operators with one shape.
func alike(in, out, ops string, attrs ...string) []opCase {
	var list []opCase
	for _, op := range strings.Fields(ops) {
		list = append(list, opCase{op, strings.Join(attrs, ""), in, out})
	}
	return list
}

func (o *opCase) String() string {
	return strings.Join(strings.Fields(o.op+" "+strings.ReplaceAll(o.attrs, " ", "")+" "+strings.ReplaceAll(o.in, " ", "_")), ":")
}

// arguments are tensors for a case: numbers as activations have them, indices that
// every axis has.
func (o *opCase) arguments(r *rand.Rand, c *ir.Call) []*tensor.T {
	in := make([]*tensor.T, len(c.In))
	for i, typ := range c.In {
		in[i] = tensor.New(typ.DType, typ.Ints()...)
		values := make([]float64, in[i].Len())
		for j := range values {
			if values[j] = r.NormFloat64(); typ.DType.IsInt() {
				values[j] = float64(1 + r.IntN(50))
			}
		}
		in[i].StoreFloats(0, values)
	}
	return in
}

// call is the case as the machine gets it.
func (o *opCase) call(t testing.TB) *ir.Call {
	t.Helper()
	c, err := kernel.Bind(o.op, o.attrs, typesOf(t, o.in), typesOf(t, o.out))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkOps measures, for a large call of each operator, the reference, the kernel
// that is chosen, and a copy of the bytes that are read and written, in turns, and
// reports the best of each:
//
//	reference-ns, ns    nanoseconds for each element of the first result
//	GB/s                bytes read and written by the kernel
//	copies              how many times as long as a copy the kernel takes
//	reference-copies    the same of the reference
func BenchmarkOps(b *testing.B) {
	options := benchmarked(b)
	for _, o := range opCases {
		b.Run(o.String(), func(b *testing.B) { o.bench(b, &options) })
	}
}

// A turn is one of the things that are measured in turns, and the best time of it.
type turn struct {
	run  func()
	best time.Duration
}

func (t *turn) take() {
	start := time.Now()
	t.run()
	if d := time.Since(start); t.best == 0 || d < t.best {
		t.best = d
	}
}

func (o *opCase) bench(b *testing.B, options *kernel.Options) {
	call := o.call(b)
	in := o.arguments(rand.New(rand.NewPCG(1, 1)), call)
	out := garbage(call)
	var x kernel.Exec
	by := func(options *kernel.Options) *turn {
		k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), options)
		t := &turn{run: func() {
			if err := k.Do(&x, 0, 1, out, in); err != nil {
				b.Fatal(err)
			}
		}}
		t.run()
		return t
	}
	cost := call.Cost()
	bytes := int(cost.In + cost.Out)
	from, to := make([]byte, bytes/2), make([]byte, bytes/2)
	chosen, reference, copied := by(options), by(&kernel.Options{}), &turn{run: func() { copy(to, from) }}
	for b.Loop() {
		chosen.take()
		reference.take()
		copied.take()
	}
	elements := float64(max(out[0].Len(), 1))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(chosen.best)/elements, "ns")
	b.ReportMetric(float64(reference.best)/elements, "reference-ns")
	b.ReportMetric(float64(bytes)/float64(chosen.best), "GB/s")
	b.ReportMetric(float64(chosen.best)/float64(copied.best), "copies")
	b.ReportMetric(float64(reference.best)/float64(copied.best), "reference-copies")
}

// TestOpCases holds the benchmark to having every operator that a kernel could run.
func TestOpCases(t *testing.T) {
	for _, op := range ir.Ops() {
		if op.Eval == nil || op.Class == ir.Region || op.Flags&(ir.Impure|ir.Projection|ir.Unbound) != 0 || op == ir.Const {
			continue
		}
		if !slices.ContainsFunc(opCases, func(o opCase) bool { return o.op == op.Name }) {
			t.Errorf("no case of %s is measured", op.Name)
		}
	}
	for _, o := range opCases {
		o.call(t)
	}
}
