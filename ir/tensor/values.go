package tensor

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// inlineElements is how many elements a tensor may have to be printed as a
// list; larger ones are printed as the base64 of their bytes, or, when all
// elements are the same, as one: [0.0 ...].
const inlineElements = 16

// Values is the text of a tensor's elements in listings, flat and without its
// type. It keeps every bit:
//
//	2.5           Scalar, one word
//	[1.0, nan]    words
//	[0.0 ...]     Fill: all elements are the one word
//	"AACAPw=="    Coded: the bytes in base64
type Values struct {
	Words        []string
	Scalar, Fill bool
	Coded        bool
	Base64       string
}

// ValuesOf gives the elements of t as text.
func ValuesOf(t *T) Values {
	n := t.Len()
	if n > inlineElements && !uniform(t) {
		return coded(t)
	}
	v := Values{Scalar: len(t.Shape) == 0, Fill: n > inlineElements}
	if v.Fill {
		n = 1
	}
	for i := range n {
		v.Words = append(v.Words, elementText(t, i))
	}
	// Not every bit pattern has a number: NaNs differ in their payload.
	back, err := v.Tensor(t.DType, t.Shape)
	if err != nil || !bytes.Equal(back.Data, t.Data) {
		return coded(t)
	}
	return v
}

func coded(t *T) Values {
	return Values{Coded: true, Base64: base64.StdEncoding.EncodeToString(t.Data)}
}

// String prints the elements.
func (v Values) String() string {
	switch {
	case v.Coded:
		return `"` + v.Base64 + `"`
	case v.Scalar:
		return v.Words[0]
	case v.Fill:
		return "[" + v.Words[0] + " ...]"
	}
	return "[" + strings.Join(v.Words, ", ") + "]"
}

// uniform reports whether all elements have the same bits.
func uniform(t *T) bool {
	size := t.DType.Size()
	return bytes.Equal(t.Data[size:], t.Data[:len(t.Data)-size])
}

// elementText prints one element in the shortest form of its dtype, a float
// with a point or an exponent.
func elementText(t *T, i int) string {
	s := t.Text(i)
	if t.DType.IsFloat() && !strings.ContainsAny(s, ".en") {
		return s + ".0"
	}
	return s
}

// Tensor makes the tensor that the text stands for, exactly. There is an error
// for a number that the dtype does not have, and for more or fewer elements than
// the shape, which must be that of a tensor.
func (v Values) Tensor(d DType, shape []int) (*T, error) {
	t := &T{DType: d, Shape: shape}
	want := t.Len()
	switch {
	case v.Coded:
		return v.decode(t, want)
	case v.Scalar && len(shape) > 0:
		return nil, fmt.Errorf("one number is not a %s: write a list", t.Type())
	case !v.Fill && len(v.Words) != want:
		return nil, fmt.Errorf("%s has %s, but %d are written", t.Type(), plural(want, "element"), len(v.Words))
	}
	t = New(d, shape...)
	if want == 0 {
		return t, nil
	}
	for i, word := range v.Words {
		if err := setElement(t, i, word); err != nil {
			return nil, err
		}
	}
	if v.Fill {
		for n := d.Size(); n < len(t.Data); n *= 2 {
			copy(t.Data[n:], t.Data[:n])
		}
	}
	return t, nil
}

func (v Values) decode(t *T, elements int) (*T, error) {
	data, err := base64.StdEncoding.DecodeString(v.Base64)
	if err != nil {
		return nil, errors.New("the constant's base64 is broken")
	}
	if want := elements * t.DType.Size(); len(data) != want {
		return nil, fmt.Errorf("%s has %s, but %d are written", t.Type(), plural(want, "byte"), len(data))
	}
	t = New(t.DType, t.Shape...)
	copy(t.Data, data)
	return t, nil
}

func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// setElement stores the number that word says. Integers must fit the dtype;
// floats are rounded to nearest.
func setElement(t *T, i int, word string) error {
	bits := 8 * t.DType.Size()
	var err error
	switch t.DType.Kind() {
	case Float:
		return setFloat(t, i, word)
	case Signed:
		var n int64
		n, err = strconv.ParseInt(word, 10, bits)
		t.SetInt(i, n)
	case Unsigned:
		var n uint64
		n, err = strconv.ParseUint(word, 10, bits)
		t.SetUint(i, n)
	default:
		if word != "true" && word != "false" {
			return fmt.Errorf("%s is not true or false", word)
		}
		t.SetBool(i, word == "true")
	}
	if err != nil {
		return fmt.Errorf("%s is not a number of dtype %s", word, t.DType)
	}
	return nil
}

// setFloat refuses a finite number that would become infinite.
func setFloat(t *T, i int, word string) error {
	bits := 64
	if t.DType == F32 {
		bits = 32 // straight to the dtype: not rounded twice
	}
	f, err := strconv.ParseFloat(word, bits)
	t.SetFloat(i, f)
	if err != nil || math.IsInf(t.FloatAt(i), 0) && !math.IsInf(f, 0) {
		return fmt.Errorf("%s is not a number of dtype %s", word, t.DType)
	}
	return nil
}
