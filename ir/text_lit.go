package ir

import (
	"math"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir/tensor"
)

// litTexts prints a literal by its kind. How it is read is decided by the kind
// that the attribute declares, so that words need no quotes.
var litTexts = map[AttrKind]func(Lit) string{
	KNone:   func(Lit) string { return "none" },
	KInt:    func(l Lit) string { return strconv.FormatInt(l.Int, 10) },
	KInts:   func(l Lit) string { return intsText(l.Ints) },
	KFloat:  func(l Lit) string { return floatText(l.Float) },
	KBool:   func(l Lit) string { return strconv.FormatBool(l.Int != 0) },
	KString: func(l Lit) string { return stringText(l.Str) },
	KDType:  func(l Lit) string { return l.DType.String() },
	KType:   func(l Lit) string { return l.Type().String() },
	KDim:    func(l Lit) string { return dimText(l.Dims) },
	KDims:   func(l Lit) string { return ShapeString(l.Dims) },
	KTensor: func(l Lit) string { return typedTensorText(l.Tensor) },
}

// String prints the literal as the text form has it.
func (l Lit) String() string { return litTexts[l.Kind](l) }

// litReaders reads a literal of a declared kind.
var litReaders = map[AttrKind]func(*parser) Lit{
	KInt:    func(p *parser) Lit { return IntLit(p.integer()) },
	KInts:   func(p *parser) Lit { return IntsLit(list(p, (*parser).integer)...) },
	KFloat:  func(p *parser) Lit { return FloatLit(p.float()) },
	KBool:   func(p *parser) Lit { return BoolLit(p.boolean()) },
	KString: func(p *parser) Lit { return StrLit(p.str()) },
	KDType:  func(p *parser) Lit { return DTypeLit(p.dtype()) },
	KType:   func(p *parser) Lit { return TypeLit(p.typ()) },
	KDim:    func(p *parser) Lit { return DimLit(p.dim()) },
	KDims:   func(p *parser) Lit { return DimsLit(list(p, (*parser).dim)...) },
	KNum:    (*parser).number,
	KTensor: func(p *parser) Lit { return TensorLit(p.tensor(p.typ())) },
}

func intsText(ns []int64) string {
	parts := make([]string, len(ns))
	for i, n := range ns {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// floatText is the shortest form that reads back as the same float, with a
// point or an exponent, so that it is not taken for an integer.
func floatText(f float64) string { return pointed(tensor.FormatFloat(tensor.F64, f)) }

// pointed gives a printed float its point, unless it has one or an exponent or
// is nan or inf.
func pointed(s string) string {
	if strings.ContainsAny(s, ".en") {
		return s
	}
	return s + ".0"
}

func stringText(s string) string {
	if plain(s) && s != "none" {
		return s
	}
	return strconv.Quote(s)
}

func dimText(ds []Dim) string {
	if len(ds) != 1 {
		return ShapeString(ds) // not a legal literal
	}
	return ds[0].String()
}

// list reads [x,y,...].
func list[E any](p *parser, element func(*parser) E) []E {
	out := []E{}
	p.expect("[")
	for !p.is("]") && p.err == nil {
		out = append(out, element(p))
		if !p.accept(",") {
			break
		}
	}
	p.expect("]")
	return out
}

func (p *parser) integer() int64 {
	t := p.tok
	text := p.signedNumber()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail(t, "bad-ir", "%s is not a whole number of 64 bits", text)
	}
	return n
}

// signedNumber reads [-] and a number, or one of the special floats.
func (p *parser) signedNumber() string {
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	t := p.tok
	if t.kind == tokNumber || t.kind == tokWord && (t.text == "inf" || t.text == "nan") {
		p.next()
		return sign + t.text
	}
	p.expected("a number")
	return "0"
}

func (p *parser) float() float64 {
	t := p.tok
	text := p.signedNumber()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.fail(t, "bad-ir", "%s is not a float", text)
	}
	if math.IsNaN(f) {
		return math.NaN()
	}
	return f
}

func (p *parser) boolean() bool {
	switch {
	case p.acceptWord("true"):
		return true
	case p.acceptWord("false"):
	default:
		p.expected("true or false")
	}
	return false
}

func (p *parser) str() string {
	t := p.tok
	if t.kind != tokString && t.kind != tokWord {
		p.expected("a string")
	}
	p.next()
	return t.text
}

// number reads a float where one is written, else a dimension.
func (p *parser) number() Lit {
	mark := *p
	p.accept("-")
	t := p.tok
	if t.kind == tokWord && (t.text == "inf" || t.text == "nan") || t.kind == tokNumber && strings.ContainsAny(t.text, ".eE") {
		p.rewind(mark)
		return FloatLit(p.float())
	}
	p.rewind(mark)
	return DimLit(p.dim())
}
