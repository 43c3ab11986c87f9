package gemm

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
)

// peakOf is what the rate of a kind is a share of.
var peakOf = [kinds]func(isa.Level) float64{BF16: peak.BF16, F16: peak.FMA, Int8: peak.Int8}

// rateFor is what it does for so long, in turns with the kind.
var rateFor = [kinds]func(isa.Level, time.Duration) float64{BF16: peak.BF16For, F16: peak.FMAFor, Int8: peak.Int8For}

// BenchmarkFormat multiplies by packed constants on one thread, the left operand
// laid out before: bytes as those of numbers that are distributed normally. It reports, of
// the best run, the rate, its share of the best peak that is measured in turns with it, and
// the rate at which the weights go by; and the share of registers, as BenchmarkPacked does.
func BenchmarkFormat(b *testing.B) {
	for kind, name := range []string{BF16: "bf16", F16: "f16", Int8: "int8"} {
		for _, level := range isa.Levels() {
			f := FormatOf(level, Kind(kind))
			for _, s := range shapes {
				b.Run(fmt.Sprintf("%v/%s/%dx%dx%d", level, name, s.m, s.n, s.k), func(b *testing.B) {
					benchFormat(b, f, s.m, s.n, s.k, normalBytes)
				})
			}
		}
	}
}

// BenchmarkSpread is BenchmarkFormat for left operands of bytes that are spread evenly over
// their range: taken apart as all others, and as integers of 16 bits.
func BenchmarkSpread(b *testing.B) {
	f := *FormatOf(isa.Best(), Int8)
	for _, wide := range []*Format{nil, f.wide} {
		f.wide = wide
		for _, s := range shapes {
			b.Run(fmt.Sprintf("wide=%v/%dx%dx%d", wide != nil, s.m, s.n, s.k), func(b *testing.B) {
				benchFormat(b, &f, s.m, s.n, s.k, spreadBytes)
			})
		}
	}
}

// spreadBytes are all bytes, as often as one another.
func spreadBytes(m, k int) View[int8] {
	rnd := rand.New(rand.NewSource(2))
	bytes := make([]int8, m*k)
	for i := range bytes {
		bytes[i] = int8(rnd.Intn(256) - 128)
	}
	return View[int8]{bytes, k, 1}
}

// BenchmarkFormatTwo shares the products of BenchmarkFormat as BenchmarkTwo does.
func BenchmarkFormatTwo(b *testing.B) {
	for kind, name := range []string{BF16: "bf16", F16: "f16", Int8: "int8"} {
		for _, s := range shapes {
			b.Run(fmt.Sprintf("%v/%s/%dx%dx%d", isa.Best(), name, s.m, s.n, s.k), func(b *testing.B) {
				f := FormatOf(isa.Best(), Kind(kind))
				p := formatProduct(f, s.m, s.n, s.k, normalBytes)
				benchTwo(b, f.level, &p, peakOf[kind], repeats(s.m, s.n, s.k))
			})
		}
	}
}

// formatProduct is one by packed constants, of zeros where they are no bytes.
func formatProduct(f *Format, m, n, k int, left func(m, k int) View[int8]) Product {
	packed := Aligned(f.PackedLen(k, n))
	a := Matrix{Data: Aligned(f.LeftLen(m, k)), Row: f.leftRow(k), Col: 1}
	if f.kind == Int8 {
		turned := normalBytes(n, k)
		f.PackBytes(packed, View[int8]{turned.Data, 1, k}, k, n)
		a = f.LeftSigned(a.Data, left(m, k), m, k, packed)
	}
	p := f.Product(m, n, k, a, packed)
	p.C, p.Ldc = Aligned(m*n), n
	return p
}

func benchFormat(b *testing.B, f *Format, m, n, k int, left func(m, k int) View[int8]) {
	p := formatProduct(f, m, n, k, left)
	var x Scratch
	repeat := repeats(m, n, k)
	flops := 2 * float64(m) * float64(n) * float64(k)
	var times, peaks, shares []float64
	for b.Loop() {
		peaks = append(peaks, peakOf[f.kind](f.level))
		for range 10 {
			start := time.Now()
			for range repeat {
				_ = x.Mul(f.level, &p, Range{0, m}, Range{0, n})
			}
			took := time.Since(start)
			t := float64(took) / float64(repeat)
			times = append(times, t)
			shares = append(shares, flops/t/rateFor[f.kind](f.level, took))
		}
	}
	best := slices.Min(times)
	rate := flops / best
	b.ReportMetric(rate, "GFLOP/s")
	b.ReportMetric(100*rate/slices.Max(peaks), "%peak")
	b.ReportMetric(100*median(shares), "%registers")
	b.ReportMetric(4*float64(f.PackedLen(k, n))/best, "GB/s-of-B")
}

// normalBytes are as int8 has them: the largest of a row is 127 or -127.
func normalBytes(m, k int) View[int8] {
	rnd := rand.New(rand.NewSource(1))
	bytes, row := make([]int8, m*k), make([]float64, k)
	for i := range m {
		most := 0.0
		for j := range row {
			row[j] = rnd.NormFloat64()
			most = max(most, math.Abs(row[j]))
		}
		for j, x := range row {
			bytes[i*k+j] = int8(math.RoundToEven(x / most * 127))
		}
	}
	return View[int8]{bytes, k, 1}
}
