package norm

import "math"

// The exponential of rows. x - top is taken with what its rounding loses, multiplied
// by log2(e) in two parts, and split into an integer and f in [-0.5, 0.5]; 2**f is a
// polynomial of degree six with a relative error below 2.6e-9. With that the result is
// within 2 ulp of exp(x - top), for every distance. x may be up to top; -Inf gives 0,
// NaN and a top that is infinite give NaN.

// A power says by which power of two exponentials are larger than they are, and from
// where on they are 0.
type power struct {
	magic float32 // 1.5 * 2**23 + 127 + the exponent
	cut   float32 // the least distance from top
}

var (
	// as it is: what lies below 2**-126 is 0, and nothing is a subnormal number.
	unscaled = power{12582912 + 127, -87.33654}
	// raised by 2**64: so that what is subnormal once it has been divided by the sum
	// keeps its bits until then. exp(-104) is below half the least number.
	raised = power{12582912 + 127 + 64, -104}
)

var (
	log2e    = float32(math.Log2E)
	log2eLow = float32(math.Log2E - float64(log2e))
	series   = [...]float32{0.000155946770151, 0.00134066438475, 0.00961769297614, 0.0555031055121, 0.240226527829, 0.693147214968, 1}
)

// fma is a*b + c, where the product is exact and the sum is rounded twice.
func fma(a, b, c float32) float32 {
	return float32(float64(float64(a)*float64(b)) + float64(c))
}

func expOf(x, top, magic, cut float32) float32 {
	d := x - top
	if d < cut {
		return 0
	}
	b := d - x
	lost := (x - (d - b)) - (top + b)
	t := fma(log2e, d, magic)
	f := fma(log2e, d, -(t - magic))
	return raise(t, fma(log2e, lost, fma(log2eLow, d, f)))
}

// raise is 2**f times the power of two that the low bits of t say.
func raise(t, f float32) float32 {
	p := series[0]
	for _, c := range series[1:] {
		p = fma(f, p, c)
	}
	return p * math.Float32frombits(math.Float32bits(t)<<23)
}

// expBlock computes up to rowLanes elements and brings them to eight: the upper half
// of the lanes is added to the lower until eight are left. dst may be nil.
func expBlock(acc *[8]float64, dst, x []float32, top, magic, cut float32) {
	var e [rowLanes]float32
	for i, v := range x {
		e[i] = expOf(v, top, magic, cut)
	}
	if dst != nil {
		copy(dst, e[:len(x)])
	}
	for i := range acc {
		acc[i] += float64((e[i] + e[i+16]) + (e[i+8] + e[i+24]))
	}
}

func expGo(dst, x []float32, top, magic, cut float32) float64 {
	var acc [8]float64
	for len(x) > 0 {
		n := min(rowLanes, len(x))
		expBlock(&acc, dst[:n], x[:n], top, magic, cut)
		dst, x = dst[n:], x[n:]
	}
	return foldedEight(&acc)
}

func expSumGo(x []float32, top, magic, cut float32) float64 {
	var acc [8]float64
	for len(x) > 0 {
		n := min(rowLanes, len(x))
		expBlock(&acc, nil, x[:n], top, magic, cut)
		x = x[n:]
	}
	return foldedEight(&acc)
}

func foldedEight(acc *[8]float64) float64 {
	for n := 4; n > 0; n /= 2 {
		for i := range n {
			acc[i] += acc[i+n]
		}
	}
	return acc[0]
}

func expColumnsGo(dst []float32, acc []float64, x, top []float32, magic, cut float32) {
	dst, acc, top = dst[:len(x)], acc[:len(x)], top[:len(x)]
	for i, v := range x {
		e := expOf(v, top[i], magic, cut)
		dst[i] = e
		acc[i] += float64(e)
	}
}
