package npu

import (
	"sync"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/peak"
)

// precisionNamed is a dtype as the precision of products is named: bytes with and
// without a sign are both int8.
func precisionNamed(dtype string) string {
	if dtype == I8.String() || dtype == U8.String() {
		return "int8"
	}
	return dtype
}

// peaks are the rates of products and sums by precision; that of f32 for those that are
// not here. f16 is computed in f32.
var peaks = map[string]func(isa.Level) float64{"bf16": peak.BF16, "int8": peak.Int8}

// peakOf is the rate of products and sums of a precision that so many threads reach
// together with an instruction set, in GFLOP/s.
func peakOf(level isa.Level, threads int, precision string) float64 {
	measure := peaks[precision]
	if measure == nil {
		measure = peak.FMA
	}
	return together(threads, func(start func()) float64 {
		start()
		return measure(level)
	})
}

// copyRate is how many 10^9 bytes a second so many threads read and write when they
// copy memory, of which source and target together have so many bytes: small ones
// lie in caches.
func copyRate(bytes int64, threads int) float64 {
	each := max(int(bytes)/2/threads, 64)
	return together(threads, func(start func()) float64 {
		from, to := tensor.AlignedBytes(each), tensor.AlignedBytes(each)
		copy(from, to) // so that the pages are there
		start()
		return fastest(float64(2*each)/1e9, func(times int) {
			for range times {
				copy(to, from)
			}
		})
	})
}

// readRate is how many 10^9 bytes a second so many threads read, of which there are so many.
func readRate(bytes int64, threads int) float64 {
	each := int(bytes) / threads
	return together(threads, func(start func()) float64 {
		data := tensor.AlignedBytes(each)
		clear(data) // so that each page is there, and not the one of zeros
		start()
		return fastest(float64(each)/1e9, func(times int) {
			for range times {
				peak.Read(isa.Best(), data)
			}
		})
	})
}

// together is the sum of what so many goroutines measure at a time. Each says when it is
// ready to start, and goes on when all are.
func together(threads int, measure func(start func()) float64) (sum float64) {
	rates := make([]float64, threads)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	for i := range rates {
		done.Go(func() {
			rates[i] = measure(func() {
				ready.Done()
				ready.Wait()
			})
		})
	}
	done.Wait()
	for _, r := range rates {
		sum += r
	}
	return sum
}

// measurePeaks measures both peaks, and keeps them where they are higher than before.
func (r *BenchReport) measurePeaks(threads int) {
	r.PeakGFlops = max(r.PeakGFlops, peakOf(isa.Best(), threads, F32.String()))
	if peaks[r.Precision] == nil {
		r.OwnPeakGFlops = r.PeakGFlops
		return
	}
	r.OwnPeakGFlops = max(r.OwnPeakGFlops, peakOf(isa.Best(), threads, r.Precision))
}
