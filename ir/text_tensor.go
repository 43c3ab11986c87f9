package ir

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir/tensor"
)

const (
	// inlineElements is how many elements a constant may have to be printed as
	// a list; larger ones are printed as the base64 of their bytes, or, when all
	// elements are the same, as one: [0.0 ...].
	inlineElements = 16
	// maxFill bounds the bytes that [x ...] may ask for in one text, since there
	// a few characters stand for any number of bytes.
	maxFill = 1 << 28
)

// A tensorText is a tensor's elements as written; its type comes apart.
type tensorText struct {
	words  []string // of a list, a scalar or a fill
	scalar bool
	fill   bool
	base64 string
	coded  bool // base64 holds the bytes
	at     token
}

// elementsText prints the elements of t so that they read back bit for bit.
func elementsText(t *tensor.T) string {
	n := t.Len()
	if n > inlineElements && !uniform(t) {
		return codedText(t)
	}
	w := tensorText{scalar: len(t.Shape) == 0, fill: n > inlineElements}
	if w.fill {
		n = 1
	}
	for i := range n {
		w.words = append(w.words, elementText(t, i))
	}
	// Not every bit pattern has a number: NaNs differ in their payload.
	back, err := w.build(TypeOf(t))
	if err != nil || !bytes.Equal(back.Data, t.Data) {
		return codedText(t)
	}
	return w.String()
}

func codedText(t *tensor.T) string {
	return `"` + base64.StdEncoding.EncodeToString(t.Data) + `"`
}

func (w tensorText) String() string {
	switch {
	case w.scalar:
		return w.words[0]
	case w.fill:
		return "[" + w.words[0] + " ...]"
	}
	return "[" + strings.Join(w.words, ", ") + "]"
}

// typedTensorText prints an attribute that is a tensor: f32[2] [1.0, 2.0].
func typedTensorText(t *tensor.T) string { return TypeOf(t).String() + " " + elementsText(t) }

// uniform reports whether all elements have the same bits.
func uniform(t *tensor.T) bool {
	size := t.DType.Size()
	return bytes.Equal(t.Data[size:], t.Data[:len(t.Data)-size])
}

// elementText prints one element in the shortest form of its dtype, a float
// with a point or an exponent.
func elementText(t *tensor.T, i int) string {
	if t.DType.IsFloat() {
		return pointed(t.Text(i))
	}
	return t.Text(i)
}

// tensor reads the elements of a tensor of a type that is known.
func (p *parser) tensor(t Type) *tensor.T { return p.finishTensor(p.tensorText(), t) }

// tensorText reads elements: a scalar, [x, y], [x ...], or "base64".
func (p *parser) tensorText() tensorText {
	w := tensorText{at: p.tok}
	switch {
	case p.tok.kind == tokString:
		w.coded, w.base64 = true, p.tok.text
		p.next()
	case p.accept("["):
		for !p.is("]") && p.err == nil {
			w.words = append(w.words, p.element())
			if len(w.words) == 1 && p.accept("...") {
				w.fill = true
				break
			}
			if !p.accept(",") {
				break
			}
		}
		p.expect("]")
	default:
		w.scalar = true
		w.words = []string{p.element()}
	}
	return w
}

func (p *parser) element() string {
	if t := p.tok; t.kind == tokWord && (t.text == "true" || t.text == "false") {
		p.next()
		return t.text
	}
	return p.signedNumber()
}

// finishTensor makes the tensor once its type is known.
func (p *parser) finishTensor(w tensorText, t Type) *tensor.T {
	if p.err != nil {
		return nil
	}
	if w.fill {
		n, _ := t.Bytes().Const()
		p.filled += n
		if p.filled > maxFill {
			p.fail(w.at, "limit", "the text fills more than %d bytes of constants", maxFill)
			return nil
		}
	}
	v, err := w.build(t)
	if err != nil {
		p.fail(w.at, "bad-ir", "%s", err.Error())
	}
	return v
}

// build makes the tensor that the text stands for, exactly.
func (w tensorText) build(t Type) (*tensor.T, error) {
	if !t.IsConst() || t.Check() != nil {
		return nil, fmt.Errorf("%s is not the type of a constant", t)
	}
	want, _ := t.Elements().Const()
	if w.coded {
		return w.decode(t)
	}
	if w.scalar && len(t.Shape) > 0 {
		return nil, fmt.Errorf("one number is not a %s: write a list", t)
	}
	if !w.fill && int64(len(w.words)) != want {
		return nil, fmt.Errorf("%s has %s, but %d are written", t, plural(int(want), "element"), len(w.words))
	}
	v := tensor.New(t.DType, t.Ints()...)
	if want == 0 {
		return v, nil
	}
	for i, word := range w.words {
		if err := setElement(v, i, word); err != nil {
			return nil, err
		}
	}
	if w.fill {
		for n := t.DType.Size(); n < len(v.Data); n *= 2 {
			copy(v.Data[n:], v.Data[:n])
		}
	}
	return v, nil
}

func (w tensorText) decode(t Type) (*tensor.T, error) {
	data, err := base64.StdEncoding.DecodeString(w.base64)
	if err != nil {
		return nil, errors.New("the constant's base64 is broken")
	}
	if want, _ := t.Bytes().Const(); int64(len(data)) != want {
		return nil, fmt.Errorf("%s has %s, but %d are written", t, plural(int(want), "byte"), len(data))
	}
	v := tensor.New(t.DType, t.Ints()...)
	copy(v.Data, data)
	return v, nil
}

// setElement stores the number that word says. Integers must fit the dtype;
// floats are rounded to nearest.
func setElement(v *tensor.T, i int, word string) error {
	bits := 8 * v.DType.Size()
	var err error
	switch v.DType.Kind() {
	case tensor.Float:
		return setFloat(v, i, word)
	case tensor.Signed:
		var n int64
		n, err = strconv.ParseInt(word, 10, bits)
		v.SetInt(i, n)
	case tensor.Unsigned:
		var n uint64
		n, err = strconv.ParseUint(word, 10, bits)
		v.SetUint(i, n)
	default:
		if word != "true" && word != "false" {
			return fmt.Errorf("%s is not true or false", word)
		}
		v.SetBool(i, word == "true")
	}
	if err != nil {
		return fmt.Errorf("%s is not a number of dtype %s", word, v.DType)
	}
	return nil
}

// setFloat refuses a finite number that would become infinite.
func setFloat(v *tensor.T, i int, word string) error {
	bits := 64
	if v.DType == tensor.F32 {
		bits = 32 // straight to the dtype: not rounded twice
	}
	f, err := strconv.ParseFloat(word, bits)
	v.SetFloat(i, f)
	if err != nil || math.IsInf(v.FloatAt(i), 0) && !math.IsInf(f, 0) {
		return fmt.Errorf("%s is not a number of dtype %s", word, v.DType)
	}
	return nil
}
