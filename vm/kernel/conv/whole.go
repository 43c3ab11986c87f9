package conv

import (
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// What a whole plane comes to: sixteen sums, each of every sixteenth element, for
// stretches of 1024, which are then added in float64; or sixteen largest ones.
const (
	wholeLanes = 16
	wholeTaps  = 64
)

// steps is the taps of a stretch, in bytes.
var steps = func() (t [wholeTaps]int) {
	for i := range t {
		t[i] = 4 * wholeLanes * i
	}
	return t
}()

// firsts choose the first of sixteen lanes, by how many.
var firsts = func() (t [wholeLanes][wholeLanes]int32) {
	for n := range t {
		for i := range n {
			t[n][i] = -1
		}
	}
	return t
}()

// MeansOf writes the means of planes of size floats each, by the sums of SumOf.
func MeansOf(level isa.Level, lanes *[16]float32, dst, x []float32, size int) {
	fast := of(level)
	if fast.planeSums == nil || size == 0 || size > wholeLanes*wholeTaps {
		for i := range dst {
			dst[i] = float32(SumOf(level, lanes, x[i*size:(i+1)*size]) / float64(size))
		}
		return
	}
	if len(dst) == 0 {
		return
	}
	rest := size % wholeLanes
	fast.planeSums(&dst[0], &x[0], len(dst), size/wholeLanes, rest, &firsts[rest])
	for i, sum := range dst {
		if dst[i] = float32(float64(sum) / float64(size)); sum-sum != 0 {
			dst[i] = float32(SumOf(level, lanes, x[i*size:(i+1)*size]) / float64(size))
		}
	}
}

// SumOf is the sum of some floats, by way of lanes, within 0.5e-5 of the sum of their magnitudes.
func SumOf(level isa.Level, lanes *[16]float32, x []float32) float64 {
	if sum := sumOf(of(level), lanes, x); sum-sum == 0 {
		return sum
	}
	var sum float64 // of floats it has no number
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

func sumOf(fast *kernels, lanes *[16]float32, x []float32) (sum float64) {
	for len(x) > 0 {
		n := min(len(x)/wholeLanes, wholeTaps)
		*lanes = [wholeLanes]float32{}
		if n > 0 {
			fast.sums(&lanes[0], unsafe.SliceData(x), wholeLanes/fast.lanes, &steps[0], n)
		}
		x = x[n*wholeLanes:]
		if len(x) < wholeLanes {
			for i, v := range x {
				lanes[i] += v
			}
			x = nil
		}
		sum += float64(tree(lanes))
	}
	return sum
}

// tree adds up neighbours of neighbours.
func tree(lanes *[wholeLanes]float32) float32 {
	for n := wholeLanes / 2; n > 0; n /= 2 {
		for i := range n {
			lanes[i] += lanes[i+n]
		}
	}
	return lanes[0]
}

// MostOf is the largest of some floats, by way of lanes, NaN if one is; -inf of none.
func MostOf(level isa.Level, lanes *[16]float32, x []float32) float32 {
	fast := of(level)
	most := lowest
	for len(x) >= wholeLanes {
		n := min(len(x)/wholeLanes, wholeTaps)
		fast.most(&lanes[0], unsafe.SliceData(x), wholeLanes/fast.lanes, &steps[0], n, &lowest)
		for _, v := range lanes[:] {
			most = max(most, v)
		}
		x = x[n*wholeLanes:]
	}
	for _, v := range x {
		most = max(most, v)
	}
	return most
}
