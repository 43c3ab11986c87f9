package ir

import "strconv"

// A Dim is one size of a shape: an integer, or an integer expression over
// symbols whose values are known only when the program runs (each is at least
// 0). A Dim is kept in a normal form, a sum of products with rational
// coefficients. Two Dims of equal form have equal values under every binding
// under which both have one: equality is proved, never guessed. The zero Dim
// is 0.
//
// Division (Div) is exact: S/2 is a number of which twice is S. Whoever divides
// has to see to it that the remainder is 0, by an Assert of the function.
//
// Constants saturate at ±MaxDim instead of wrapping, and a saturated constant
// stands for infinity: MinOf, MaxOf and sums treat it so, no size comes near
// it, and Eval and Type.Check refuse it. Expressions that grow beyond the
// limits below, or divide by zero, become a Dim that has no value and equals
// nothing, itself included; Err says why.
type Dim struct {
	c int64 // the value, when p is nil
	p *poly
}

const (
	// MaxDim bounds the sizes that Dim's arithmetic can hold.
	MaxDim = 1 << 62
	// maxTerms, maxDegree and maxKey bound one normal form: sums of that many
	// products, each of that many factors, printed in that many bytes. They are
	// far above what models need (a rank-64 product of symbols has degree 64)
	// and keep repeated squaring from growing without end.
	maxTerms  = 128
	maxDegree = 64
	maxKey    = 4096
)

// Why a Dim may have no value.
const (
	tooLarge   = "the expression is too large"
	divideZero = "division by zero"
)

// An Env binds symbols to sizes.
type Env map[string]int64

// N is the constant n.
func N(n int64) Dim { return Dim{c: saturate(n)} }

// Sym is the symbol of that name.
func Sym(name string) Dim { return ofAtom(&atom{name: name, key: symbolKey(name)}) }

// Dims makes constants of a list of numbers.
func Dims[I int | int64](ns ...I) []Dim {
	ds := make([]Dim, len(ns))
	for i, n := range ns {
		ds[i] = N(int64(n))
	}
	return ds
}

// noValue is the Dim that has no value, because of why.
func noValue(why string) Dim { return Dim{p: &poly{key: "novalue()", bad: why}} }

// Const returns the value of a constant Dim.
func (d Dim) Const() (int64, bool) { return d.c, d.p == nil }

// IsConst reports whether d is a number known now.
func (d Dim) IsConst() bool { return d.p == nil }

// Is reports whether d is the constant n.
func (d Dim) Is(n int64) bool { return d.p == nil && d.c == n }

// Symbol returns the name when d is a bare symbol.
func (d Dim) Symbol() (string, bool) {
	if d.p == nil || len(d.p.terms) != 1 {
		return "", false
	}
	t := d.p.terms[0]
	bare := t.num == 1 && t.den == 1 && len(t.factors) == 1 && t.factors[0].exp == 1 && t.factors[0].a.fn == nil
	if !bare {
		return "", false
	}
	return t.factors[0].a.name, true
}

// Err says why d can have no value under any binding: it divides by zero, is a
// fraction, or is too large. It is nil for all others.
func (d Dim) Err() error {
	switch {
	case d.p == nil && isSaturated(d.c):
		return Errorf("limit", "the size is too large")
	case d.p == nil:
		return nil
	case d.p.bad == divideZero:
		return Errorf("out-of-range", "a size is divided by zero")
	case d.p.bad != "":
		return Errorf("limit", "the size is too large an expression")
	case len(d.p.terms) == 1 && len(d.p.terms[0].factors) == 0:
		t := d.p.terms[0]
		return Errorf("out-of-range", "%d does not divide by %d", t.num, t.den)
	}
	return nil
}

// Equal reports whether a and b are provably the same for every binding.
func (d Dim) Equal(b Dim) bool {
	if d.p == nil || b.p == nil {
		return d.p == nil && b.p == nil && d.c == b.c
	}
	return d.p.bad == "" && (d.p == b.p || d.p.key == b.p.key)
}

// String prints the normal form, which ParseDim reads back: "2*B*S+1".
func (d Dim) String() string {
	if d.p == nil {
		return strconv.FormatInt(d.c, 10)
	}
	return d.p.key
}

// Add returns d + b.
func (d Dim) Add(b Dim) Dim {
	switch {
	case d.p == nil && b.p == nil:
		return N(satAdd(d.c, b.c))
	case d.Is(0) || b.infinite():
		return b
	case b.Is(0) || d.infinite():
		return d
	case d.isBad() || b.isBad():
		return worse(d, b)
	}
	return fromTerms(append(append([]term{}, d.termList()...), b.termList()...))
}

// Sub returns d - b.
func (d Dim) Sub(b Dim) Dim { return d.Add(b.Mul(N(-1))) }

// Mul returns d * b.
func (d Dim) Mul(b Dim) Dim {
	switch {
	case d.p == nil && b.p == nil:
		return N(satMul(d.c, b.c))
	case d.Is(1):
		return b
	case b.Is(1):
		return d
	case d.isBad() || b.isBad():
		return worse(d, b)
	}
	ds, bs := d.termList(), b.termList()
	if len(ds)*len(bs) > maxTerms*maxTerms/4 {
		return noValue(tooLarge)
	}
	out := make([]term, 0, len(ds)*len(bs))
	for _, s := range ds {
		for _, t := range bs {
			out = append(out, mulTerm(s, t))
		}
	}
	return fromTerms(out)
}

// Div returns d / b, exact: see Dim. A constant that b does not divide keeps
// its fraction, and Eval refuses it; a division by the constant 0 has no value.
func (d Dim) Div(b Dim) Dim {
	if d.isBad() || b.isBad() {
		return worse(d, b)
	}
	if d.infinite() || b.infinite() {
		return noValue(tooLarge)
	}
	terms := b.termList()
	switch len(terms) {
	case 0:
		return noValue(divideZero)
	case 1:
		return d.Mul(ofTerm(invert(terms[0])))
	}
	if q, ok := quotient(d, b); ok {
		return q
	}
	return d.Mul(ofTerm(term{num: 1, den: 1, factors: []factor{{sumAtom(b), -1}}}))
}

// Bind puts numbers for the symbols of d.
func (d Dim) Bind(env Env) (Dim, error) {
	n, err := d.Eval(env)
	return N(n), err
}

// Symbols calls yield for each symbol in d, in order of appearance, perhaps
// more than once.
func (d Dim) Symbols(yield func(string)) {
	for _, t := range d.termList() {
		for _, f := range t.factors {
			if f.a.fn == nil {
				yield(f.a.name)
			}
			for _, arg := range f.a.args {
				arg.Symbols(yield)
			}
		}
	}
}

func (d Dim) isBad() bool    { return d.p != nil && d.p.bad != "" }
func (d Dim) infinite() bool { return d.p == nil && isSaturated(d.c) }

// worse returns the one of two Dims that has no value.
func worse(a, b Dim) Dim {
	if a.isBad() {
		return a
	}
	return b
}
