package tensor

import (
	"math"
	"strconv"
)

// Type is the dtype and shape as the language writes them: f32[2,3].
func (t *T) Type() string { return t.DType.String() + bracket(t.Shape, ",") }

// Text is one element, by its position in memory: an integer, true or false,
// or the shortest decimal that reads back as the same value of the dtype.
func (t *T) Text(i int) string { return string(t.appendElement(nil, i)) }

// FormatFloat is the shortest decimal that rounds to v in the float dtype d;
// v must be a value of d.
func FormatFloat(d DType, v float64) string { return string(appendFloat(nil, d, v)) }

func (t *T) appendElement(b []byte, i int) []byte {
	switch t.DType.Kind() {
	case Float:
		return appendFloat(b, t.DType, t.FloatAt(i))
	case Signed:
		return strconv.AppendInt(b, t.IntAt(i), 10)
	case Unsigned:
		return strconv.AppendUint(b, t.UintAt(i), 10)
	}
	return strconv.AppendBool(b, t.IntAt(i) != 0)
}

func appendFloat(b []byte, d DType, v float64) []byte {
	switch {
	case v != v:
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	case d == F32:
		return strconv.AppendFloat(b, v, 'g', -1, 32)
	case d == F16 || d == BF16:
		v = shortest(d, v)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// shortest is the decimal with the fewest digits that rounds to v in a half
// dtype, as the float64 that prints as that decimal. Five digits always do: a
// binary16 has 11 bits, and 10**4 > 2**11 with one digit for the offset of the
// two grids.
//
// Integers that are printed without an exponent keep all their digits: 65504,
// not 65500, which rounds to it.
func shortest(d DType, v float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return v
	}
	var buf [32]byte
	for digits := range 5 {
		text := strconv.AppendFloat(buf[:0], v, 'e', digits, 64)
		short, err := strconv.ParseFloat(string(text), 64)
		if err == nil && Round(d, short) == v {
			return short
		}
	}
	return v
}

// bracket writes integers as a list: [2, 3].
func bracket(list []int, sep string) string {
	b := []byte{'['}
	for i, v := range list {
		if i > 0 {
			b = append(b, sep...)
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return string(append(b, ']'))
}

// AppendLiteral writes the whole tensor as the language's nested bracket
// list: [[1, 2], [3, nan]], a scalar as the bare number. ParseLiteral reads it
// back.
func AppendLiteral(b []byte, t *T) []byte { return appendNested(b, t, t.appendElement) }

// AppendJSON is AppendLiteral in strict JSON, which has no nan and inf: they
// are the strings "nan", "inf" and "-inf".
func AppendJSON(b []byte, t *T) []byte {
	return appendNested(b, t, func(b []byte, i int) []byte {
		if v := t.FloatAt(i); t.DType.IsFloat() && (v != v || math.IsInf(v, 0)) {
			return append(appendFloat(append(b, '"'), t.DType, v), '"')
		}
		return t.appendElement(b, i)
	})
}

// Before element i open the lists that begin there, after it close those that
// end: an axis' list spans stride * size elements.
func appendNested(b []byte, t *T, element func(b []byte, i int) []byte) []byte {
	n := t.Len()
	if n == 0 {
		return appendEmpty(b, t.Shape)
	}
	strides := Strides(t.Shape)
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		for k, s := range strides {
			if i%(s*t.Shape[k]) == 0 {
				b = append(b, '[')
			}
		}
		b = element(b, i)
		for k, s := range strides {
			if (i+1)%(s*t.Shape[k]) == 0 {
				b = append(b, ']')
			}
		}
	}
	return b
}

// maxEmptyLists bounds the text of a tensor without elements, whose other
// dimensions may be of any size: past it, and for an outermost 0, it is [].
const maxEmptyLists = 4096

func appendEmpty(b []byte, shape []int) []byte {
	outer := 1 // lists that the dimensions before the first 0 make
	depth := 0
	for ; shape[depth] != 0; depth++ {
		if outer > maxEmptyLists/shape[depth] {
			return append(b, "[]"...)
		}
		outer *= shape[depth]
	}
	t := &T{Shape: shape[:depth]}
	return appendNested(b, t, func(b []byte, _ int) []byte { return append(b, "[]"...) })
}
