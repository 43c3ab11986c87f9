package conv_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/npulang/npu/vm/kernel/conv"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
	"github.com/npulang/npu/vm/pages"
)

func square(images, groups, channels, filters, in, size, step, pad int) conv.Shape {
	a := axis(in, size, step, 1, pad, pad)
	return conv.Shape{Images: images, Groups: groups, Channels: channels, Filters: filters, Axes: []conv.Axis{a, a}}
}

// layers are those of ResNet-18 at 224x224, and some of other networks.
var layers = []struct {
	name string
	conv.Shape
}{
	{"stem7x7", square(1, 1, 3, 64, 224, 7, 2, 3)},
	{"56x56x64", square(1, 1, 64, 64, 56, 3, 1, 1)},
	{"down28", square(1, 1, 64, 128, 56, 3, 2, 1)},
	{"skip28", square(1, 1, 64, 128, 56, 1, 2, 0)},
	{"28x28x128", square(1, 1, 128, 128, 28, 3, 1, 1)},
	{"down14", square(1, 1, 128, 256, 28, 3, 2, 1)},
	{"14x14x256", square(1, 1, 256, 256, 14, 3, 1, 1)},
	{"down7", square(1, 1, 256, 512, 14, 3, 2, 1)},
	{"7x7x512", square(1, 1, 512, 512, 7, 3, 1, 1)},
	{"1x1/56x56x64x256", square(1, 1, 64, 256, 56, 1, 1, 0)},
	{"1x1/14x14x1024x256", square(1, 1, 1024, 256, 14, 1, 1, 0)},
	{"56x56x128", square(1, 1, 128, 128, 56, 3, 1, 1)},
	{"28x28x256", square(1, 1, 256, 256, 28, 3, 1, 1)},
	{"112x112x64", square(1, 1, 64, 64, 112, 3, 1, 1)},
	{"112x112x32", square(1, 1, 32, 32, 112, 3, 1, 1)},
	{"56x56x16", square(1, 1, 16, 16, 56, 3, 1, 1)},
	{"14x14x64", square(1, 1, 64, 64, 14, 3, 1, 1)},
	{"7x7x128", square(1, 1, 128, 128, 7, 3, 1, 1)},
	{"4x4x512", square(1, 1, 512, 512, 4, 3, 1, 1)},
	{"6x6x512", square(1, 1, 512, 512, 6, 3, 1, 1)},
	{"10x10x512", square(1, 1, 512, 512, 10, 3, 1, 1)},
	{"3x3/224x224x3x16", square(1, 1, 3, 16, 224, 3, 2, 1)},
}

// share reports the rate of run beside that of the peak, both the best of many runs
// in turns, in the thread's own time.
func share(b *testing.B, level isa.Level, flops float64, run func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(1 << 62)
	top := 0.0
	for b.Loop() {
		start := now()
		run()
		least = min(least, now()-start)
		top = max(top, peak.FMA(level))
	}
	rate := flops / float64(least)
	b.ReportMetric(rate, "GFLOP/s")
	b.ReportMetric(100*rate/top, "%peak")
	b.ReportMetric(float64(least)/1e3, "µs-best")
}

func BenchmarkDense(b *testing.B) {
	for _, l := range layers {
		b.Run(l.name, func(b *testing.B) { benchmarkPacked(b, l.Shape, dense) })
	}
}

// BenchmarkWinograd counts the products that a direct convolution takes, so that more than
// the peak is what it should reach.
func BenchmarkWinograd(b *testing.B) {
	for _, l := range layers {
		if conv.WinogradAt(l.Shape) {
			b.Run(l.name, func(b *testing.B) { benchmarkPacked(b, l.Shape, winograd) })
		}
	}
}

// BenchmarkFlat is of windows of one element and of stems, whose sums go to y directly.
func BenchmarkFlat(b *testing.B) {
	for _, s := range []conv.Shape{
		square(1, 1, 3, 32, 224, 3, 2, 1), square(1, 1, 3, 64, 224, 7, 2, 3),
		square(1, 1, 32, 16, 112, 1, 1, 0), square(1, 1, 16, 96, 112, 1, 1, 0), square(1, 1, 96, 24, 56, 1, 1, 0),
		square(1, 1, 24, 144, 56, 1, 1, 0), square(1, 1, 144, 24, 56, 1, 1, 0), square(1, 1, 32, 192, 28, 1, 1, 0),
		square(1, 1, 192, 32, 28, 1, 1, 0), square(1, 1, 64, 384, 14, 1, 1, 0), square(1, 1, 384, 64, 14, 1, 1, 0),
		square(1, 1, 96, 576, 14, 1, 1, 0), square(1, 1, 576, 96, 14, 1, 1, 0), square(1, 1, 160, 960, 7, 1, 1, 0),
		square(1, 1, 960, 160, 7, 1, 1, 0), square(1, 1, 64, 64, 56, 1, 1, 0), square(1, 1, 64, 256, 56, 1, 1, 0),
		square(1, 1, 256, 64, 56, 1, 1, 0), square(1, 1, 256, 512, 56, 1, 2, 0), square(1, 1, 128, 512, 28, 1, 1, 0),
		square(1, 1, 512, 128, 28, 1, 1, 0), square(1, 1, 256, 1024, 14, 1, 1, 0), square(1, 1, 1024, 256, 14, 1, 1, 0),
		square(1, 1, 128, 128, 56, 3, 2, 1),
	} {
		a := s.Axes[0]
		name := fmt.Sprintf("k%ds%d/%d/%dx%d", a.Size, a.Step, a.In, s.Channels, s.Filters)
		b.Run(name+"/flat", func(b *testing.B) { benchmarkStored(b, s) })
		b.Run(name+"/dense", func(b *testing.B) { benchmarkPacked(b, s, dense) })
	}
}

func benchmarkStored(b *testing.B, s conv.Shape) {
	r := rand.New(rand.NewPCG(1, 1))
	nx, nw, size := count(s)
	x, w := floats(r, nx), floats(r, nw)
	k, filters := flat(isa.Best(), s, w)
	f := k.(*conv.Flat)
	packed := pages.Floats(len(filters))
	copy(packed, filters)
	work := conv.Work{Room: gemm.Aligned(k.Room()), Gemm: new(gemm.Scratch), Plain: w}
	y := make([]float32, s.Images*s.Groups*s.Filters*size)
	flops := 2 * float64(len(y)) * float64(nw) / float64(s.Groups*s.Filters)
	share(b, isa.Best(), flops, func() {
		for u := range f.Units() {
			f.Store(&work, u, x, packed, asIs, y, nil)
		}
	})
	b.ReportMetric(float64(f.Units()), "units")
}

func benchmarkPacked(b *testing.B, s conv.Shape, of func(isa.Level, conv.Shape, []float32) (kernel, []float32)) {
	r := rand.New(rand.NewPCG(1, 1))
	nx, nw, size := count(s)
	x, w := floats(r, nx), floats(r, nw)
	k, filters := of(isa.Best(), s, w)
	packed := pages.Floats(len(filters))
	copy(packed, filters)
	work := conv.Work{Room: gemm.Aligned(k.Room()), Gemm: new(gemm.Scratch), Plain: w}
	y := make([]float32, s.Images*s.Groups*s.Filters*size)
	flops := 2 * float64(len(y)) * float64(nw) / float64(s.Groups*s.Filters)
	share(b, isa.Best(), flops, func() {
		for u := range k.Units() {
			tile := k.Compute(&work, u, x, packed)
			tile.Store(&work, isa.Best(), asIs, y, nil, s.Groups*s.Filters, size)
		}
	})
	b.ReportMetric(float64(k.Units()), "units")
}

func BenchmarkThin(b *testing.B) {
	for _, l := range []struct {
		name string
		conv.Shape
	}{
		{"112x112x32", square(1, 32, 1, 1, 112, 3, 1, 1)},
		{"112x112x64/2", square(1, 64, 1, 1, 112, 3, 2, 1)},
		{"56x56x144", square(1, 144, 1, 1, 56, 3, 1, 1)},
		{"28x28x240k5", square(1, 240, 1, 1, 28, 5, 1, 2)},
		{"56x56x144k5/2", square(1, 144, 1, 1, 56, 5, 2, 2)},
		{"14x14x512", square(1, 512, 1, 1, 14, 3, 1, 1)},
		{"7x7x960k5", square(1, 960, 1, 1, 7, 5, 1, 2)},
	} {
		b.Run(l.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			nx, nw, size := count(l.Shape)
			x, w := floats(r, nx), floats(r, nw)
			k := conv.NewThin(isa.Best(), l.Shape)
			work := conv.Work{Room: gemm.Aligned(k.Room())}
			y := make([]float32, l.Groups*size)
			share(b, isa.Best(), 2*float64(size*nw), func() {
				for u := range k.Units() {
					k.Store(&work, u, x, w, asIs, y, nil)
				}
			})
		})
	}
}

// BenchmarkPool reports the rate at which the input is read, and that of a copy of it.
func BenchmarkPool(b *testing.B) {
	const planes = 64
	a := axis(112, 3, 2, 1, 1, 1)
	axes := []conv.Axis{a, a}
	x := floats(rand.New(rand.NewPCG(1, 1)), planes*112*112)
	y := make([]float32, planes*a.Out*a.Out)
	same := make([]float32, len(x))
	counts := a.Counts(false)
	for _, p := range []struct {
		name string
		*conv.Pool
	}{
		{"max", conv.NewMaxPool(isa.Best(), planes, axes)},
		{"mean", conv.NewMeanPool(isa.Best(), planes, axes, [][]int{counts, counts})},
	} {
		b.Run(p.name, func(b *testing.B) {
			work := conv.Work{Room: gemm.Aligned(p.Room())}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			least, copied := time.Duration(1<<62), time.Duration(1<<62)
			for b.Loop() {
				start := now()
				for u := range p.Units() {
					p.Compute(&work, u, x, y)
				}
				middle := now()
				copy(same, x)
				least, copied = min(least, middle-start), min(copied, now()-middle)
			}
			b.ReportMetric(4*float64(len(x))/float64(least), "GB/s")
			b.ReportMetric(float64(least)/float64(copied), "copies")
		})
	}
}
