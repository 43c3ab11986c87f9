package ir

import (
	"fmt"

	"github.com/npulang/npu/ir/tensor"
)

// maxFill bounds the bytes that [x ...] may ask for in one text, since there a
// few characters stand for any number of bytes.
const maxFill = 1 << 28

// A tensorText is a tensor's elements as written; its type comes apart.
type tensorText struct {
	tensor.Values
	at token
}

// elementsText prints the elements of t so that they read back bit for bit.
func elementsText(t *tensor.T) string { return tensor.ValuesOf(t).String() }

// typedTensorText prints an attribute that is a tensor: f32[2] [1.0, 2.0].
func typedTensorText(t *tensor.T) string { return TypeOf(t).String() + " " + elementsText(t) }

// tensor reads the elements of a tensor of a type that is known.
func (p *parser) tensor(t Type) *tensor.T { return p.finishTensor(p.tensorText(), t) }

// tensorText reads elements: a scalar, [x, y], [x ...], or "base64".
func (p *parser) tensorText() tensorText {
	w := tensorText{at: p.tok}
	switch {
	case p.tok.kind == tokString:
		w.Coded, w.Base64 = true, p.tok.text
		p.next()
	case p.accept("["):
		for !p.is("]") && p.err == nil {
			w.Words = append(w.Words, p.element())
			if len(w.Words) == 1 && p.accept("...") {
				w.Fill = true
				break
			}
			if !p.accept(",") {
				break
			}
		}
		p.expect("]")
	default:
		w.Scalar = true
		w.Words = []string{p.element()}
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
	if w.Fill {
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
	return w.Tensor(t.DType, t.Ints())
}
