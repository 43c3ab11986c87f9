package npu

import (
	"math"
	"slices"
)

// stable reports whether the median of samples is known: whether the interval that
// holds it is narrow.
func stable(samples []float64) bool {
	v := slices.Sorted(slices.Values(samples))
	low, high := medianInterval(v)
	m := quantile(v, 0.5)
	return high-m <= stableShare*m && m-low <= stableShare*m
}

// medianInterval holds the median of what sorted samples are of with 95 % confidence. Of
// n samples, the bounds are those 0.98 roots of n away from the middle, as the normal
// approximation of the binomial distribution gives.
func medianInterval(sorted []float64) (low, high float64) {
	n := float64(len(sorted))
	half := 0.98 * math.Sqrt(n)
	return sorted[max(int(math.Floor(n/2-half)), 0)], sorted[min(int(math.Ceil(n/2+half)), len(sorted)-1)]
}

// quantile is the least of sorted samples that a share of them does not exceed; the
// median of an even number is the mean of both in the middle.
func quantile(sorted []float64, share float64) float64 {
	n := len(sorted)
	if share == 0.5 {
		return (sorted[(n-1)/2] + sorted[n/2]) / 2
	}
	return sorted[min(max(int(math.Ceil(share*float64(n)))-1, 0), n-1)]
}

// medianOf is the median of some numbers; 0 of none.
func medianOf(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return quantile(slices.Sorted(slices.Values(list)), 0.5)
}

// surelyBelow reports whether the median of what the samples are of is below a bound
// with 95 % confidence, as the order of at least five gives it.
func surelyBelow(samples []float64, bound float64) bool {
	if len(samples) < leastPairs {
		return false
	}
	_, high := medianInterval(slices.Sorted(slices.Values(samples)))
	return high < bound
}
