package gemm

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
)

// shapes are products with constant weights: of a large encoder, a small one, a
// perceptron, and of one row.
var shapes = []struct{ m, n, k int }{
	{512, 1024, 1024}, {512, 4096, 1024}, {512, 1024, 4096},
	{128, 128, 128}, {1024, 1024, 1024}, {2048, 2048, 2048},
	{128, 384, 384}, {128, 1536, 384}, {128, 384, 1536}, {12, 384, 384}, {12, 1536, 384}, {12, 384, 1536},
	{32, 512, 784}, {1, 512, 784}, {1, 1024, 1024}, {1, 4096, 1024}, {2, 1024, 1024}, {4, 1024, 1024}, {6, 1024, 1024},
}

// BenchmarkPacked multiplies by constant weights on one thread and reports, of the
// median, the rate, its share of the peak that is measured in turns with it, and the
// rate at which the weights go by; and, as the median of pairs, its share of the rate of
// products in registers for as long, which neighbours on the machine slow alike.
func BenchmarkPacked(b *testing.B) {
	for _, level := range isa.Levels() {
		for _, s := range shapes {
			b.Run(fmt.Sprintf("%v/%dx%dx%d", level, s.m, s.n, s.k), func(b *testing.B) {
				bench(b, level, s.m, s.n, s.k, 1)
			})
		}
	}
}

// BenchmarkDynamic multiplies by matrices that are packed on the way.
func BenchmarkDynamic(b *testing.B) {
	for _, s := range shapes {
		b.Run(fmt.Sprintf("%v/%dx%dx%d", isa.Best(), s.m, s.n, s.k), func(b *testing.B) {
			bench(b, isa.Best(), s.m, s.n, s.k, 0)
		})
	}
}

// BenchmarkTwo shares the rows, or if they are few the columns, among two threads. It
// reports how many times faster they are than one, and how many times faster two threads
// multiply in registers: all three are measured in turns, since processors that are two
// halves of a core, for as long as others are busy, do no more together than one of them.
func BenchmarkTwo(b *testing.B) {
	for _, s := range shapes {
		b.Run(fmt.Sprintf("%v/%dx%dx%d", isa.Best(), s.m, s.n, s.k), func(b *testing.B) {
			p, packs := benched(isa.Best(), s.m, s.n, s.k, 1)
			p.Panels = packs[0]
			benchTwo(b, isa.Best(), p, peak.FMA, repeats(s.m, s.n, s.k))
		})
	}
}

// BenchmarkCold multiplies by constant weights in turns, as layers of a network do: as
// many as no cache holds.
func BenchmarkCold(b *testing.B) {
	const bytes = 96 << 20
	for _, s := range shapes {
		b.Run(fmt.Sprintf("%v/%dx%dx%d", isa.Best(), s.m, s.n, s.k), func(b *testing.B) {
			bench(b, isa.Best(), s.m, s.n, s.k, bytes/(floatBytes*s.n*s.k)+1)
		})
	}
}

// bench multiplies by so many packed matrices in turns, on one thread; by one that is
// packed on the way, if weights is 0.
func bench(b *testing.B, level isa.Level, m, n, k, weights int) {
	p, packs := benched(level, m, n, k, weights)
	var x Scratch
	next, repeat := 0, repeats(m, n, k)
	flops := 2 * float64(m) * float64(n) * float64(k)
	var times, peaks, shares []float64
	for b.Loop() {
		peaks = append(peaks, peak.FMA(level))
		for range 4 {
			t := mean(repeat, func() {
				p.Panels, next = packs[next], (next+1)%len(packs)
				_ = x.Mul(level, p, Range{0, m}, Range{0, n})
			})
			times = append(times, t)
			shares = append(shares, flops/t/peak.FMAFor(level, time.Duration(t*float64(repeat))))
		}
	}
	rate := flops / median(times)
	b.ReportMetric(rate, "GFLOP/s")
	b.ReportMetric(100*rate/median(peaks), "%peak")
	b.ReportMetric(100*median(shares), "%registers")
	b.ReportMetric(4*float64(n)*float64(k)/median(times), "GB/s-of-B")
}

// benchTwo computes a product so many times on one thread and on two in turns.
func benchTwo(b *testing.B, level isa.Level, p *Product, peak func(isa.Level) float64, repeat int) {
	scratch := make([]Scratch, 2)
	h := help(1)
	defer h.end()
	var times, faster, registers []float64
	for b.Loop() {
		alone, rates := peak(level), [2]float64{}
		h.together(func(i int) { rates[i] = peak(level) })
		registers = append(registers, (rates[0]+rates[1])/alone)
		for range 4 {
			one := mean(repeat, func() { _ = scratch[0].Mul(level, p, Range{0, p.M}, Range{0, p.N}) })
			two := mean(repeat, func() { h.share(scratch, level, p) })
			times, faster = append(times, two), append(faster, one/two)
		}
	}
	b.ReportMetric(2*float64(p.M)*float64(p.N)*float64(p.deep())/median(times), "GFLOP/s")
	b.ReportMetric(median(faster), "times-one")
	b.ReportMetric(median(registers), "times-one-in-registers")
}

// benched is a product, and so many matrices packed for it; without any one that says that
// it is packed on the way.
func benched(level isa.Level, m, n, k, weights int) (*Product, []Panels) {
	a, w, c := Aligned(m*k), Aligned(k*n), Aligned(m*n)
	p := &Product{M: m, N: n, K: k, A: Matrix{Data: a, Row: k, Col: 1}, Matrix: Matrix{Data: w, Row: n, Col: 1}, C: c, Ldc: n}
	packs := make([]Panels, max(weights, 1))
	for i := range weights {
		data := Aligned(PackedLen(level, k, n))
		Pack(level, data, p.Matrix, k, n)
		packs[i] = PackedPanels(level, data, k)
	}
	return p, packs
}

// deep is how many elements a row of A has at most.
func (p *Product) deep() int {
	if p.format != nil {
		return p.K * p.format.deep
	}
	return p.K
}

// repeats is how many products take some hundred microseconds.
func repeats(m, n, k int) int { return 1 + 50e6/(2*m*n*k+1) }

// mean is how many nanoseconds f takes, of so many calls.
func mean(repeat int, f func()) float64 {
	start := time.Now()
	for range repeat {
		f()
	}
	return float64(time.Since(start)) / float64(repeat)
}

func median(x []float64) float64 {
	sort.Float64s(x)
	return x[len(x)/2]
}

// share computes a product by as many goroutines as there are scratches.
func (h *helpers) share(scratch []Scratch, level isa.Level, p *Product) {
	h.together(func(i int) {
		rows, cols := Range{i * p.M / len(scratch), (i + 1) * p.M / len(scratch)}, Range{0, p.N}
		if p.M < len(scratch)*Rows(level) {
			w := Width(level)
			panels := (p.N + w - 1) / w
			rows, cols = Range{0, p.M}, Range{i * panels / len(scratch) * w, min((i+1)*panels/len(scratch)*w, p.N)}
		}
		_ = scratch[i].Mul(level, p, rows, cols)
	})
}

// together does all parts at a time: the first by this goroutine, the others by helpers
// that are awake, as the workers of a run are.
func (h *helpers) together(part func(i int)) {
	h.part = part
	h.left.Store(h.count)
	h.round.Add(1)
	h.part(0)
	for h.left.Load() > 0 {
	}
}

// helpers look for the next round all the time.
type helpers struct {
	count       int32
	round, left atomic.Int32
	done        atomic.Bool
	part        func(i int)
	all         sync.WaitGroup
}

func help(n int) *helpers {
	h := &helpers{count: int32(n)}
	for i := 1; i <= n; i++ {
		h.all.Go(func() {
			for seen := int32(0); !h.done.Load(); {
				if now := h.round.Load(); now != seen {
					seen = now
					h.part(i)
					h.left.Add(-1)
				}
			}
		})
	}
	return h
}

func (h *helpers) end() {
	h.done.Store(true)
	h.all.Wait()
}
