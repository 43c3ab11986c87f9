package rewrite

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A term is the value of a part of a where-test. What cannot be told before the
// symbols are bound is unknown, and so is what is made of it: a test holds only
// if it is known to be true.
type term struct {
	kind  termKind
	known bool
	yes   bool
	dim   ir.Dim // of a number without a point
	isDim bool
	f     float64 // of one with a point
	list  []ir.Dim
	dtype tensor.DType
	text  string
}

// A termKind is the type of a term; tests are checked when they are compiled.
type termKind uint8

const (
	anyTerm termKind = iota // an attribute whose kind says nothing
	boolTerm
	numberTerm
	listTerm
	dtypeTerm
	textTerm
)

var termNames = map[termKind]string{
	anyTerm: "a value", boolTerm: "a bool", numberTerm: "a number",
	listTerm: "a list", dtypeTerm: "a dtype", textTerm: "a string",
}

func truth(yes bool) term       { return term{kind: boolTerm, known: true, yes: yes} }
func dimTerm(d ir.Dim) term     { return term{kind: numberTerm, known: true, dim: d, isDim: true} }
func floatTerm(f float64) term  { return term{kind: numberTerm, known: true, f: f} }
func unknown(k termKind) term   { return term{kind: k} }
func shapeTerm(s []ir.Dim) term { return term{kind: listTerm, known: true, list: s} }

func (n number) term() term {
	if n.isFloat {
		return floatTerm(n.f)
	}
	return dimTerm(ir.N(n.i))
}

// float is a number's value, if no symbol hides it.
func (t term) float() (float64, bool) {
	if !t.isDim {
		return t.f, t.known
	}
	n, ok := t.dim.Const()
	return float64(n), ok && t.known
}

// attrKinds says which kind of term an attribute is.
var attrKinds = map[ir.AttrKind]termKind{
	ir.KInt: numberTerm, ir.KDim: numberTerm, ir.KFloat: numberTerm, ir.KNum: numberTerm,
	ir.KInts: listTerm, ir.KDims: listTerm, ir.KBool: boolTerm, ir.KString: textTerm, ir.KDType: dtypeTerm,
}

// litTerm is an attribute as a term; an absent one is unknown.
func litTerm(l ir.Lit) term {
	switch l.Kind {
	case ir.KInt:
		return dimTerm(ir.N(l.Int))
	case ir.KDim:
		return dimTerm(l.Dims[0])
	case ir.KFloat:
		return floatTerm(l.Float)
	case ir.KInts:
		return shapeTerm(ir.Dims(l.Ints...))
	case ir.KDims:
		return shapeTerm(l.Dims)
	case ir.KBool:
		return truth(l.Int != 0)
	case ir.KString:
		return term{kind: textTerm, known: true, text: l.Str}
	case ir.KDType:
		return term{kind: dtypeTerm, known: true, dtype: l.DType}
	}
	return term{}
}

// A tri is an answer that may be unknown.
type tri int8

const (
	no tri = iota - 1
	maybe
	yes
)

func (t tri) not() tri { return -t }

func (t tri) term() term { return term{kind: boolTerm, known: t != maybe, yes: t == yes} }

func triOf(b bool) tri {
	if b {
		return yes
	}
	return no
}

func (t term) tri() tri {
	if !t.known {
		return maybe
	}
	return triOf(t.yes)
}

// equal compares terms of one kind.
func (t term) equal(u term) tri {
	if !t.known || !u.known || t.kind != u.kind {
		return maybe
	}
	switch t.kind {
	case boolTerm:
		return triOf(t.yes == u.yes)
	case dtypeTerm:
		return triOf(t.dtype == u.dtype)
	case textTerm:
		return triOf(t.text == u.text)
	case listTerm:
		return equalLists(t.list, u.list)
	}
	return t.compare(u, func(a, b float64) bool { return a == b }, equalDims)
}

// compare applies a relation to two numbers: to Dims by proof, else to their
// values.
func (t term) compare(u term, floats func(a, b float64) bool, dims func(a, b ir.Dim) tri) tri {
	if !t.known || !u.known {
		return maybe
	}
	if t.isDim && u.isDim {
		return dims(t.dim, u.dim)
	}
	a, ok := t.float()
	b, ok2 := u.float()
	if !ok || !ok2 {
		return maybe
	}
	return triOf(floats(a, b))
}

// equalDims is no for sizes that differ for every binding: those with a
// constant difference.
func equalDims(a, b ir.Dim) tri {
	if a.Equal(b) {
		return yes
	}
	if a.Sub(b).IsConst() {
		return no
	}
	return maybe
}

func lessEqual(a, b ir.Dim) tri {
	switch {
	case ir.LessEq(a, b):
		return yes
	case ir.LessEq(b.Add(ir.N(1)), a):
		return no
	}
	return maybe
}

func less(a, b ir.Dim) tri { return lessEqual(b, a).not() }

func equalLists(a, b []ir.Dim) tri {
	if len(a) != len(b) {
		return no
	}
	all := yes
	for i := range a {
		all = min(all, equalDims(a[i], b[i]))
	}
	return all
}
