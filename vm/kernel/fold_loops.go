package kernel

import (
	"math"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
)

// The loops of foldRow. Each is written out for its operator: a function for each element
// would take longer than all the rest.

// fourOf shows four rows of n elements.
func fourOf[E any](from [4]unsafe.Pointer, n int) (a, b, c, d []E) {
	return elements[E](from[0], n), elements[E](from[1], n), elements[E](from[2], n), elements[E](from[3], n)
}

func sumRows[E anyNumber](to unsafe.Pointer, from [4]unsafe.Pointer, n int) {
	s := (*[4]E)(to)
	a, b, c, d := fourOf[E](from, n)
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i, v := range a {
		s0 += v
		s1 += b[i]
		s2 += c[i]
		s3 += d[i]
	}
	*s = [4]E{s0, s1, s2, s3}
}

func sumColumns[E anyNumber](to, from unsafe.Pointer, n int) {
	s, x := elements[E](to, n), elements[E](from, n)
	for i, v := range x {
		s[i] += v
	}
}

func productRows[E anyNumber](to unsafe.Pointer, from [4]unsafe.Pointer, n int) {
	s := (*[4]E)(to)
	a, b, c, d := fourOf[E](from, n)
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i, v := range a {
		s0 *= v
		s1 *= b[i]
		s2 *= c[i]
		s3 *= d[i]
	}
	*s = [4]E{s0, s1, s2, s3}
}

func productColumns[E anyNumber](to, from unsafe.Pointer, n int) {
	s, x := elements[E](to, n), elements[E](from, n)
	for i, v := range x {
		s[i] *= v
	}
}

func squareRows[E anyNumber](to unsafe.Pointer, from [4]unsafe.Pointer, n int) {
	s := (*[4]E)(to)
	a, b, c, d := fourOf[E](from, n)
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i, v := range a {
		s0 += E(v * v)
		s1 += E(b[i] * b[i])
		s2 += E(c[i] * c[i])
		s3 += E(d[i] * d[i])
	}
	*s = [4]E{s0, s1, s2, s3}
}

func squareColumns[E anyNumber](to, from unsafe.Pointer, n int) {
	s, x := elements[E](to, n), elements[E](from, n)
	for i, v := range x {
		s[i] += E(v * v)
	}
}

func mostRows[E anyNumber](to unsafe.Pointer, from [4]unsafe.Pointer, n int) {
	s := (*[4]E)(to)
	a, b, c, d := fourOf[E](from, n)
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i, v := range a {
		s0 = max(s0, v)
		s1 = max(s1, b[i])
		s2 = max(s2, c[i])
		s3 = max(s3, d[i])
	}
	*s = [4]E{s0, s1, s2, s3}
}

func mostColumns[E anyNumber](to, from unsafe.Pointer, n int) {
	s, x := elements[E](to, n), elements[E](from, n)
	for i, v := range x {
		s[i] = max(s[i], v)
	}
}

func leastRows[E anyNumber](to unsafe.Pointer, from [4]unsafe.Pointer, n int) {
	s := (*[4]E)(to)
	a, b, c, d := fourOf[E](from, n)
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i, v := range a {
		s0 = min(s0, v)
		s1 = min(s1, b[i])
		s2 = min(s2, c[i])
		s3 = min(s3, d[i])
	}
	*s = [4]E{s0, s1, s2, s3}
}

func leastColumns[E anyNumber](to, from unsafe.Pointer, n int) {
	s, x := elements[E](to, n), elements[E](from, n)
	for i, v := range x {
		s[i] = min(s[i], v)
	}
}

// magnitude is that of a number; the smallest integer stays what it is.
func magnitude[E anyNumber](v E) E {
	if v < 0 {
		return -v
	}
	return v
}

func magnitudeRows[E anyNumber](to unsafe.Pointer, from [4]unsafe.Pointer, n int) {
	s := (*[4]E)(to)
	a, b, c, d := fourOf[E](from, n)
	for i, v := range a {
		s[0] += magnitude(v)
		s[1] += magnitude(b[i])
		s[2] += magnitude(c[i])
		s[3] += magnitude(d[i])
	}
}

func magnitudeColumns[E anyNumber](to, from unsafe.Pointer, n int) {
	s, x := elements[E](to, n), elements[E](from, n)
	for i, v := range x {
		s[i] += magnitude(v)
	}
}

// startAt starts results with a number.
func startAt[E anyNumber](v E) func(to unsafe.Pointer, n int) {
	return func(to unsafe.Pointer, n int) {
		s := elements[E](to, n)
		for i := range s {
			s[i] = v
		}
	}
}

func meanOf(to unsafe.Pointer, n, of int) {
	s := elements[float64](to, n)
	for i := range s {
		s[i] /= float64(of)
	}
}

// A spreadLoop is the loops of sums of square distances from means: for rows and for
// columns as in foldLoop, and what makes results of n sums of so many elements.
type spreadLoop struct {
	rows    func(to, means unsafe.Pointer, from [4]unsafe.Pointer, n int)
	columns func(to, means, from unsafe.Pointer, n int)
	end     func(to unsafe.Pointer, n, of, correction int)
}

func spreadRows(to, means unsafe.Pointer, from [4]unsafe.Pointer, n int) {
	s, m := (*[4]float64)(to), (*[4]float64)(means)
	a, b, c, d := fourOf[float64](from, n)
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i, v := range a {
		v, w, x, y := v-m[0], b[i]-m[1], c[i]-m[2], d[i]-m[3]
		s0 += float64(v * v)
		s1 += float64(w * w)
		s2 += float64(x * x)
		s3 += float64(y * y)
	}
	*s = [4]float64{s0, s1, s2, s3}
}

func spreadColumns(to, means, from unsafe.Pointer, n int) {
	s, m, x := elements[float64](to, n), elements[float64](means, n), elements[float64](from, n)
	for i, v := range x {
		v -= m[i]
		s[i] += float64(v * v)
	}
}

// varianceOf divides by what the correction leaves; nothing has no variance.
func varianceOf(to unsafe.Pointer, n, of, correction int) {
	left := max(float64(of)-float64(correction), 0)
	for i, s := range elements[float64](to, n) {
		if s /= left; left == 0 {
			s = math.NaN()
		}
		elements[float64](to, n)[i] = s
	}
}

func deviationOf(to unsafe.Pointer, n, of, correction int) {
	varianceOf(to, n, of, correction)
	sqrtFloats(to, [3]unsafe.Pointer{to}, n)
}

// foldLoopsOf are the loops of a type with its least and greatest number.
func foldLoopsOf[E anyNumber](lowest, highest E) map[string]foldLoop {
	return map[string]foldLoop{
		"sum":        {rows: sumRows[E], columns: sumColumns[E], start: startAt[E](0)},
		"prod":       {rows: productRows[E], columns: productColumns[E], start: startAt[E](1)},
		"sum_square": {rows: squareRows[E], columns: squareColumns[E], start: startAt[E](0)},
		"norm1":      {rows: magnitudeRows[E], columns: magnitudeColumns[E], start: startAt[E](0)},
		"max":        {rows: mostRows[E], columns: mostColumns[E], start: startAt(lowest)},
		"min":        {rows: leastRows[E], columns: leastColumns[E], start: startAt(highest)},
	}
}

// wideFolds are the loops of floats of eight bytes.
func wideFolds() map[string]foldLoop {
	loops := foldLoopsOf(math.Inf(-1), math.Inf(1))
	mean := loops["sum"]
	mean.end = meanOf
	loops["mean"] = mean
	mean.spread = &spreadLoop{spreadRows, spreadColumns, varianceOf}
	loops["variance"] = mean
	mean.spread = &spreadLoop{spreadRows, spreadColumns, deviationOf}
	loops["std"] = mean
	return loops
}

// foldings are the loops by dtype and operator.
var foldings = map[tensor.DType]map[string]foldLoop{
	tensor.F64: wideFolds(),
	tensor.I64: foldLoopsOf[int64](math.MinInt64, math.MaxInt64), tensor.U64: foldLoopsOf[uint64](0, math.MaxUint64),
	tensor.I32: foldLoopsOf[int32](math.MinInt32, math.MaxInt32), tensor.U32: foldLoopsOf[uint32](0, math.MaxUint32),
	tensor.I16: foldLoopsOf[int16](math.MinInt16, math.MaxInt16), tensor.U16: foldLoopsOf[uint16](0, math.MaxUint16),
	tensor.I8: foldLoopsOf[int8](math.MinInt8, math.MaxInt8), tensor.U8: foldLoopsOf[uint8](0, math.MaxUint8),
}
