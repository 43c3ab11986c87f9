package kernel_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel"
	"github.com/npulang/npu/vm/pages"
)

// moveCases are calls that give elements other places, as networks have them, each in
// two sizes: operands that lie in a core's second cache, and, from 8 MB on, in memory.
var moveCases = slices.Concat(
	transposed("0,2,1,3", "f32[1,64,16,64] f32[8,512,16,64] f32[32,512,16,64]"),
	// Images, channels first and last.
	transposed("0,2,1", "f32[1,3,12544] f32[1,16,3136] f32[1,64,784] f32[1,256,196] f32[104,3,50176] f32[80,16,12544] f32[80,64,3136] f32[80,256,784]"),
	transposed("0,2,1", "f32[1,12544,3] f32[1,3136,16] f32[1,784,64] f32[1,196,256] f32[104,50176,3] f32[80,12544,16] f32[80,3136,64] f32[80,784,256]"),
	transposed("0,2,1", "u8[1,3,50176] f16[1,3,25088] u8[104,3,200704] f16[104,3,100352] u8[1,50176,3] f16[1,25088,3] u8[104,200704,3] f16[104,100352,3]"),
	// Matrices by powers of two, and odd ones.
	transposed("1,0", "f32[256,256] f16[256,256] i8[512,512] i64[128,256] f32[4096,4096] f16[4096,8192] i8[8192,8192] i64[4096,2048]"),
	transposed("1,0", "f32[251,253] f16[251,253] i8[507,509] i64[127,255] f32[4003,4099] f16[4003,8191] i8[8191,8189] i64[4099,2047]"),
	// A few columns.
	transposed("1,0", "f32[32768,2] f32[21845,3] f32[16384,4] f32[5592405,3] f32[4194304,4] f16[43690,3] i8[87381,3] i8[65536,4] i64[10922,3]"),
	transposed("1,0", "f32[2,32768] f32[3,21845] f32[4,16384] f32[3,5592405] f32[4,4194304] f16[3,43690] i8[3,87381] i8[4,65536] i64[3,10922]"),
	[]opCase{
		{"gather", "axis=0", "f32[512,384] i64[512]", "f32[512,384]"},
		{"gather", "axis=0", "f32[30000,384] i64[512]", "f32[512,384]"},
		{"gather", "axis=0", "f32[30000,768] i64[512]", "f32[512,768]"},
		{"gather", "axis=0", "f32[30000,1024] i64[512]", "f32[512,1024]"},
		{"gather", "axis=0", "f32[65536] i64[32768]", "f32[32768]"},
		{"gather", "axis=0", "f32[65536] i32[32768]", "f32[32768]"},
		{"gather", "axis=0", "f16[65536] i64[32768]", "f16[32768]"},
		{"gather", "axis=0", "u8[65536] i64[32768]", "u8[32768]"},
		{"gather", "axis=0", "f32[65536] i64[4000000]", "f32[4000000]"},
		{"gather", "axis=0", "f32[16384,4] i64[16384]", "f32[16384,4]"},
		{"gather", "axis=0", "f32[16384,3] i64[16384]", "f32[16384,3]"},
		{"gather", "axis=0", "f32[4096,16] i64[4096]", "f32[4096,16]"},
		{"gather", "axis=1", "f32[128,512] i64[512]", "f32[128,512]"},
		{"take_along", "axis=1", "f32[128,512] i64[128,512]", "f32[128,512]"},
		{"gather_nd", "", "f32[256,256] i64[16384,2]", "f32[16384]"},
		{"one_hot", "n=1000", "i64[128]", "f32[128,1000]"},
		{"one_hot", "n=10", "i64[8192]", "f32[8192,10]"},
		{"scatter", "axis=1", "f32[128,512] i64[128,512] f32[128,512]", "f32[128,512]"},
		{"scatter", "axis=1, reduce=add", "f32[128,512] i64[128,512] f32[128,512]", "f32[128,512]"},
		{"scatter_nd", "", "f32[512,256] i64[256,1] f32[256,256]", "f32[512,256]"},
		{"scatter_nd", "", "f32[65536] i64[32768,1] f32[32768]", "f32[65536]"},

		{"concat", "axis=1", "f32[32768,1] f32[32768,1]", "f32[32768,2]"},
		{"concat", "axis=1", "f32[16384,1] f32[16384,3]", "f32[16384,4]"},
		{"concat", "axis=1", "f32[8192,4] f32[8192,4]", "f32[8192,8]"},
		{"concat", "axis=1", "f32[1024,64] f32[1024,64]", "f32[1024,128]"},
		{"concat", "axis=1", "f32[64,1,1024] f32[64,1,1024]", "f32[64,2,1024]"},
		{"concat", "axis=0", "f32[64,1024] f32[1,1024]", "f32[65,1024]"},
		{"concat", "axis=1", "f32[8388608,1] f32[8388608,1]", "f32[8388608,2]"},
		{"concat", "axis=1", "f32[2097152,4] f32[2097152,4]", "f32[2097152,8]"},
		{"concat", "axis=1", "f32[131072,64] f32[131072,64]", "f32[131072,128]"},
		{"stack", "axis=1", "u8[100000] u8[100000] u8[100000]", "u8[100000,3]"},
		{"split", "parts=3, axis=1", "f32[512,192]", "f32[512,64] f32[512,64] f32[512,64]"},
		{"split", "parts=2, axis=1", "f32[32768,2]", "f32[32768,1] f32[32768,1]"},
		{"split", "parts=4, axis=1", "f32[16384,16]", "f32[16384,4] f32[16384,4] f32[16384,4] f32[16384,4]"},
		{"pad", "pairs=[0,0,1,1,1,1]", "f32[64,28,28]", "f32[64,30,30]"},
		{"pad", "pairs=[0,0,1,1,1,1]", "f32[256,7,7]", "f32[256,9,9]"},
		{"pad", "pairs=[0,0,1,1,1,1]", "u8[64,56,56]", "u8[64,58,58]"},
		{"pad", "pairs=[0,0,1,1,1,1]", "f32[256,224,224]", "f32[256,226,226]"},
		{"pad", "pairs=[0,0,1,1,1,1], mode=reflect", "f32[64,28,28]", "f32[64,30,30]"},
		{"slice", "starts=[0,1], ends=[256,255]", "f32[256,256]", "f32[256,254]"},
		{"slice", "starts=[0,4], ends=[8192,8]", "f32[8192,16]", "f32[8192,4]"},
		{"slice", "starts=[0,0], ends=[16384,3]", "f32[16384,4]", "f32[16384,3]"},
		{"slice", "starts=[0,0], ends=[4096,16]", "f32[4096,24]", "f32[4096,16]"},
		{"slice", "starts=[0], ends=[65536], steps=[2]", "f32[65536]", "f32[32768]"},
		{"slice", "starts=[1], ends=[65536], steps=[2]", "f16[65536]", "f16[32768]"},
		{"slice", "starts=[0], ends=[262144], steps=[2]", "i8[262144]", "i8[131072]"},
		{"slice", "starts=[0], ends=[32768], steps=[2]", "i64[32768]", "i64[16384]"},
		{"slice", "starts=[0], ends=[65536], steps=[3]", "f32[65536]", "f32[21846]"},
		{"slice", "starts=[0], ends=[16777216], steps=[2]", "f32[16777216]", "f32[8388608]"},
		{"slice", "starts=[0,0,0], ends=[64,28,28], steps=[1,2,2]", "f32[64,28,28]", "f32[64,14,14]"},
	},
	flipped("0", "f32[65536] f16[131072] i8[262144] i64[32768] f32[16777216]"),
	flipped("1", "f32[16384,4] f32[4096,16] u8[87381,3]"),
	[]opCase{
		{"tile", "reps=[2,2]", "f32[128,128]", "f32[256,256]"},
		{"tile", "reps=[1,16]", "f32[4096,1]", "f32[4096,16]"},
		{"repeat", "n=2, axis=2", "f32[16,64,64]", "f32[16,64,128]"},
		{"repeat", "n=2, axis=1", "f32[16,64,64]", "f32[16,128,64]"},
		{"repeat", "n=2, axis=0", "u8[65536]", "u8[131072]"},
		{"repeat", "n=2, axis=0", "f16[65536]", "f16[131072]"},
		{"repeat", "n=3, axis=0", "f32[21845]", "f32[65535]"},
		{"repeat", "n=2, axis=2", "f32[64,256,256]", "f32[64,256,512]"},
		{"expand", "dims=[256,256]", "f32[256,1]", "f32[256,256]"},
		{"expand", "dims=[256,256]", "f32[256]", "f32[256,256]"},
		{"expand", "dims=[4096,4096]", "f32[4096]", "f32[4096,4096]"},
		{"expand", "dims=[16384,4]", "f32[4]", "f32[16384,4]"},
		{"expand", "dims=[16384,4]", "f32[16384,1]", "f32[16384,4]"},
		{"roll", "shift=[1], axis=[1]", "f32[256,256]", "f32[256,256]"},
		{"tril", "", "f32[256,256]", "f32[256,256]"},
		{"full", "type=f32[65536], value=2", "", "f32[65536]"},
		{"cumsum", "axis=1", "f32[64,1024]", "f32[64,1024]"},
		{"cumsum", "axis=0", "f32[1024,64]", "f32[1024,64]"},
		{"cast", "dtype=f16", "f32[65536]", "f16[65536]"},
		{"cast", "dtype=f32", "f16[65536]", "f32[65536]"},
		{"cast", "dtype=i64", "i32[65536]", "i64[65536]"},
		{"cast", "dtype=i32", "i64[65536]", "i32[65536]"},
		{"cast", "dtype=f32", "i64[65536]", "f32[65536]"},
		{"cast", "dtype=i64", "f32[65536]", "i64[65536]"},
		{"cast", "dtype=f32", "u8[131072]", "f32[131072]"},
		{"cast", "dtype=f32", "bool[131072]", "f32[131072]"},
		{"cast", "dtype=f32", "f16[16777216]", "f32[16777216]"},
	},
)

// readCases are calls that read large operands beside little arithmetic.
var readCases = slices.Concat(
	alike("f32[256,512]", "f32[512]", "sum max mean", "axis=[0]"),
	alike("f32[16384,1024]", "f32[1024]", "sum max mean", "axis=[0]"),
	alike("f32[8,64,256]", "f32[8,256]", "sum max", "axis=[1]"),
	alike("f32[64,256,1024]", "f32[64,1024]", "sum max", "axis=[1]"),
	alike("f32[256,512]", "f32[256]", "sum max", "axis=[1]"),
	alike("f32[16384,1024]", "f32[16384]", "sum max", "axis=[1]"),
	alike("f32[128,512]", "f32[128,512]", "softmax layernorm rmsnorm"),
	alike("f32[16384,1024]", "f32[16384,1024]", "softmax layernorm rmsnorm"),
	alike("f32[256,65536]", "f32[256,65536]", "softmax layernorm"),
	[]opCase{
		{"add", "", "f32[1,64,28,28] f32[64,1,1]", "f32[1,64,28,28]"},
		{"add", "", "f32[80,64,3136] f32[64,1]", "f32[80,64,3136]"},
		{"add", "", "f32[1,64,7,7] f32[64,1,1]", "f32[1,64,7,7]"},
		{"mul", "", "f32[128,512] f32[1]", "f32[128,512]"},
		{"mul", "", "f32[16384,1024] f32[1]", "f32[16384,1024]"},
		{"add", "", "f32[128,512] f32[512]", "f32[128,512]"},
		{"add", "", "f32[16384,1024] f32[1024]", "f32[16384,1024]"},
		{"add", "", "f32[128,512] f32[128,1]", "f32[128,512]"},
		{"add", "", "f32[8192,8] f32[8]", "f32[8192,8]"},
		{"add", "", "f32[21845,3] f32[3]", "f32[21845,3]"},
		{"add", "", "f16[128,512] f16[512]", "f16[128,512]"},
		{"add", "", "i64[128,256] i64[256]", "i64[128,256]"},
	},
)

// transposed are transpositions of tensors of some types, by an order of axes.
func transposed(perm, types string) []opCase {
	var list []opCase
	for _, in := range strings.Fields(types) {
		dtype, shape, _ := strings.Cut(strings.TrimSuffix(in, "]"), "[")
		sizes, out := strings.Split(shape, ","), []string{}
		for _, a := range strings.Split(perm, ",") {
			out = append(out, sizes[a[0]-'0'])
		}
		list = append(list, opCase{"transpose", "perm=[" + perm + "]", in, dtype + "[" + strings.Join(out, ",") + "]"})
	}
	return list
}

// flipped are tensors of some types, backwards along an axis.
func flipped(axis, types string) []opCase {
	var list []opCase
	for _, in := range strings.Fields(types) {
		list = append(list, opCase{"flip", "axis=[" + axis + "]", in, in})
	}
	return list
}

// BenchmarkMove measures what reads and writes much and computes little beside a copy
// of as many bytes, in turns, the median of each on one thread (copies), and of what is
// large on two (copies-2), a part each beside halves of the copy.
func BenchmarkMove(b *testing.B) {
	options := benchmarked(b)
	for _, o := range slices.Concat(moveCases, readCases) {
		b.Run(o.String(), func(b *testing.B) { o.benchMove(b, &options) })
	}
}

// TestMoveCases holds the benchmark's calls to being legal.
func TestMoveCases(t *testing.T) {
	for _, o := range slices.Concat(moveCases, readCases) {
		o.call(t)
	}
}

// onTwo is from how many bytes on a case is measured on two threads as well: behind it
// starting another goroutine is nothing.
const onTwo = 8 << 20

func (o *opCase) benchMove(b *testing.B, options *kernel.Options) {
	call := o.call(b)
	in, out := o.spread(call), make([]*tensor.T, len(call.Out))
	for i, typ := range call.Out {
		out[i] = inPages(typ)
	}
	k := kernel.Prepare(kernel.Single(call, nil, kernel.Absent), options)
	cost := call.Cost()
	bytes := int(cost.In+cost.Out) / 2
	to, from := inPages(ir.T(tensor.U8, ir.N(int64(bytes)))).Data, inPages(ir.T(tensor.U8, ir.N(int64(bytes)))).Data
	var x [2]kernel.Exec
	do := func(part, parts int) {
		if err := k.Do(&x[part], part, parts, out, in); err != nil {
			b.Error(err)
		}
	}
	halves := func(part, parts int) {
		copy(to[bytes*part/parts:bytes*(part+1)/parts], from[bytes*part/parts:])
	}
	var took, copied [2][]float64
	threads := 1
	if bytes >= onTwo && k.Parts(2) == 2 {
		threads = 2
	}
	for b.Loop() {
		for t := range threads {
			took[t], copied[t] = append(took[t], timed(t+1, bytes, do)), append(copied[t], timed(t+1, bytes, halves))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(copied[0])/1e3, "us/copy")
	for t, name := range []string{"copies", "copies-2"}[:threads] {
		b.ReportMetric(median(took[t])/median(copied[t]), name)
	}
	b.ReportMetric(2*float64(bytes)/median(took[0]), "GB/s")
}

// inPages is a tensor in large pages, as those of a program are.
func inPages(typ ir.Type) *tensor.T {
	t := &tensor.T{DType: typ.DType, Shape: typ.Ints()}
	floats := pages.Floats((t.Len()*typ.DType.Size() + 3) / 4)
	t.Data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(floats))), t.Len()*typ.DType.Size())
	clear(t.Data)
	return t
}

// timed is the nanoseconds of f on so many threads: small ones are done several times.
func timed(threads, bytes int, f func(part, parts int)) float64 {
	times := max(1, 1<<20/bytes)
	start := time.Now()
	for range times {
		if threads == 1 {
			f(0, 1)
			continue
		}
		var group sync.WaitGroup
		for part := range threads {
			group.Go(func() { f(part, threads) })
		}
		group.Wait()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(times)
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// spread are arguments with any bytes, small floats, and indices all over the axis of the
// first, which for all of them is the case's largest but for the last.
func (o *opCase) spread(c *ir.Call) []*tensor.T {
	r := rand.New(rand.NewPCG(1, 1))
	in := make([]*tensor.T, len(c.In))
	for i, typ := range c.In {
		in[i] = inPages(typ)
		below := 50
		if i > 0 {
			below = c.In[0].Ints()[0]
		}
		if o.op == "one_hot" {
			below = 10
		}
		for k := range min(in[i].Len(), 1<<16) {
			if typ.DType.IsInt() {
				in[i].SetInt(k, int64(r.IntN(below)))
			} else {
				in[i].SetFloat(k, r.Float64())
			}
		}
		all := in[i].Data
		for done := typ.DType.Size() << 16; done < len(all); done *= 2 {
			copy(all[done:], all[:done])
		}
	}
	return in
}
