package ir

import (
	"maps"
	"slices"
	"strconv"

	"github.com/npulang/npu/ir/diag"
)

// maxDimNesting bounds the brackets of one dimension.
const maxDimNesting = 200

// ParseDim reads the text form of a dimension: whole numbers, symbols (in
// quotes when their names are not plain), + - * /, brackets, and the functions
// floordiv, ceildiv, mod, max, min. The error is a *diag.Diagnostic.
func ParseDim(text string) (Dim, error) {
	p := newParser(diag.NewSource("dimension", text))
	d := p.dim()
	if p.tok.kind != tokEOF {
		p.expected("an operator or the end")
	}
	if p.err != nil {
		return Dim{}, p.err.Diagnostic
	}
	return d, nil
}

// dim reads a sum.
func (p *parser) dim() Dim {
	p.nesting++
	defer func() { p.nesting-- }()
	if p.nesting > maxDimNesting {
		p.fail(p.tok, "limit", "brackets are nested more than %d deep", maxDimNesting)
		return Dim{}
	}
	d := p.product()
	for {
		switch {
		case p.accept("+"):
			d = d.Add(p.product())
		case p.accept("-"):
			d = d.Sub(p.product())
		default:
			return d
		}
	}
}

func (p *parser) product() Dim {
	d := p.signed()
	for {
		switch {
		case p.accept("*"):
			d = d.Mul(p.signed())
		case p.accept("/"):
			d = d.Div(p.signed())
		default:
			return d
		}
	}
}

func (p *parser) signed() Dim {
	negative := false
	for p.accept("-") {
		negative = !negative
	}
	d := p.dimAtom()
	if negative {
		d = d.Mul(N(-1))
	}
	return d
}

func (p *parser) dimAtom() Dim {
	t := p.tok
	switch {
	case t.kind == tokNumber:
		p.next()
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil {
			p.fail(t, "bad-ir", "%s is not a whole number of 64 bits", t.text)
		}
		return N(n)
	case t.kind == tokString:
		p.next()
		return Sym(t.text)
	case t.kind == tokWord && !notSymbols[t.text]:
		p.next()
		if p.is("(") {
			return p.dimCall(t)
		}
		return Sym(t.text)
	case p.accept("("):
		d := p.dim()
		p.expect(")")
		return d
	}
	p.expected("a dimension")
	return Dim{}
}

func (p *parser) dimCall(name token) Dim {
	fn := DimFuncs[name.text]
	if fn == nil {
		p.fail(name, "bad-ir", "unknown function %s of dimensions", name.text).suggest(name.text, slices.Sorted(maps.Keys(DimFuncs)))
		return Dim{}
	}
	p.expect("(")
	a := p.dim()
	p.expect(",")
	b := p.dim()
	p.expect(")")
	return fn(a, b)
}
