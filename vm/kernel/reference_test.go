package kernel_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
)

// byReference has the operators that only the reference computes, with the dtypes of their
// first arguments, or of their results if they have none; all: for every dtype.
var byReference = func() map[string]string {
	of := map[string]string{
		"conv":              "f64 i16 i32 i64 i8 u16 u32 u64 u8",
		"max_pool":          "f64 i16 i32 i64 u16 u32 u64",
		"global_max_pool":   "f64 i16 i32 i64 u16 u32 u64",
		"dequantize_linear": "i16 u16",
		"sort":              "f64 i64 u64", "argsort": "f64 i64 u64", "topk": "f64 i64 u64",
		// Passes make other operators of most, and constants of these.
		"conv_transpose": "all", "einsum": "all", "arange": "all", "eye": "all", "iota": "all", "linspace": "all",
	}
	for name := range strings.FieldsSeq("acos acosh asin asinh atan atanh cbrt cos cosh erf exp2 expm1 log10 log1p log2 sin sinh tan tanh " +
		"celu elu gelu log_sigmoid mish selu softplus atan2 fmod hypot logaddexp pow rem quantize_linear outer " +
		"logsumexp norm2 batchnorm groupnorm instancenorm l2_normalize layernorm log_softmax rmsnorm softmax " +
		"attention rope avg_pool global_avg_pool") {
		of[name] = "f64"
	}
	return of
}()

// TestByReference samples calls of every operator and dtype, and holds all but those above
// to having a kernel for some shapes at least.
func TestByReference(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 30))
	options := kernel.Best()
	for _, op := range sampledOps {
		asked, taken := map[tensor.DType]int{}, map[tensor.DType]int{}
		for range 600 {
			c := op.Sample(r)
			if c.Op = op; ir.InferCall(&c) != nil {
				continue
			}
			d := c.Out[0].DType
			if len(c.In) > 0 {
				d = c.In[0].DType
			}
			asked[d]++
			if kernel.Prepare(kernel.Single(&c, nil, kernel.Absent), &options).Kind != kernel.Reference {
				taken[d]++
			}
		}
		var left []string
		for d, n := range asked {
			if n >= 8 && taken[d] == 0 {
				left = append(left, d.String())
			}
		}
		slices.Sort(left)
		got := strings.Join(left, " ")
		if len(left) == len(asked) {
			got = "all"
		}
		if want := byReference[op.Name]; got != want {
			t.Errorf("%q: %q, want %q", op.Name, got, want)
		}
	}
}
