package ir

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A poly is a sum of terms in canonical order, at least one of them not an
// integer constant.
type poly struct {
	terms []term
	key   string // the printed form, which is unique
	bad   string // why there is no value; then there are no terms
}

// A term is num/den times the product of its factors; den is positive and the
// fraction is reduced. No factors: the constant term, printed last.
type term struct {
	num, den int64
	factors  []factor // sorted by the atom's key, no atom twice, no exponent 0
	key      string   // of the factors alone
}

// A factor is an atom to a power, below the fraction line when negative.
type factor struct {
	a   *atom
	exp int
}

// An atom is what the algebra does not look into: a symbol, or a function of
// Dims that has no polynomial form.
type atom struct {
	fn   *dimFunc // nil for a symbol
	name string   // of a symbol
	args []Dim
	key  string // printed form
}

// sumAtom makes one factor of a sum, so that it can have the exponent -1.
func sumAtom(d Dim) *atom {
	return &atom{fn: fnSum, args: []Dim{d}, key: "(" + d.String() + ")"}
}

func ofAtom(a *atom) Dim {
	return fromTerms([]term{{num: 1, den: 1, factors: []factor{{a, 1}}}})
}

func ofTerm(t term) Dim { return fromTerms([]term{t}) }

// termList views d as terms; 0 has none.
func (d Dim) termList() []term {
	switch {
	case d.p != nil:
		return d.p.terms
	case d.c == 0:
		return nil
	}
	return []term{{num: d.c, den: 1}}
}

// fromTerms brings a sum into normal form. It owns its argument.
func fromTerms(ts []term) Dim {
	for i := range ts {
		if ts[i].degree() > maxDegree {
			return noValue(tooLarge)
		}
		if at := slices.IndexFunc(ts[i].factors, isSum); at >= 0 {
			return expandSum(ts, i, at)
		}
		ts[i].key = factorKey(ts[i].factors)
	}
	slices.SortStableFunc(ts, compareTerms)
	out := ts[:0]
	for _, t := range ts {
		if n := len(out); n > 0 && out[n-1].key == t.key {
			out[n-1] = addTerm(out[n-1], t)
		} else {
			out = append(out, t)
		}
		if out[len(out)-1].num == 0 {
			out = out[:len(out)-1]
		}
	}
	return normal(out)
}

// isSum finds a sum that has come up from below the fraction line: there is one
// form for it, the sum itself.
func isSum(f factor) bool { return f.a.fn == fnSum && f.exp > 0 }

// expandSum multiplies out the sum that is factor at of term i.
func expandSum(ts []term, i, at int) Dim {
	t := ts[i]
	sum := t.factors[at]
	t.factors = slices.Delete(slices.Clone(t.factors), at, at+1)
	part := ofTerm(t)
	for range sum.exp {
		part = part.Mul(sum.a.args[0])
	}
	return fromTerms(slices.Delete(ts, i, i+1)).Add(part)
}

// normal wraps sorted, collected terms, if they are within the limits.
func normal(ts []term) Dim {
	switch {
	case len(ts) == 0:
		return Dim{}
	case len(ts) == 1 && ts[0].key == "" && ts[0].den == 1:
		return N(ts[0].num)
	case len(ts) > maxTerms:
		return noValue(tooLarge)
	}
	for _, t := range ts {
		if isSaturated(t.num) || isSaturated(t.den) {
			return noValue(tooLarge)
		}
	}
	key := printTerms(ts)
	if len(key) > maxKey {
		return noValue(tooLarge)
	}
	return Dim{p: &poly{terms: ts, key: key}}
}

// compareTerms orders terms by their factors, the constant last.
func compareTerms(a, b term) int {
	if (a.key == "") != (b.key == "") {
		return len(b.key) - len(a.key)
	}
	return strings.Compare(a.key, b.key)
}

// degree is the number of factors, those below the fraction line included.
func (t term) degree() int {
	n := 0
	for _, f := range t.factors {
		n += max(f.exp, -f.exp)
	}
	return n
}

func addTerm(a, b term) term {
	a.num, a.den = fraction(satAdd(satMul(a.num, b.den), satMul(b.num, a.den)), satMul(a.den, b.den))
	return a
}

func mulTerm(a, b term) term {
	t := term{factors: mulFactors(a.factors, b.factors)}
	t.num, t.den = fraction(satMul(a.num, b.num), satMul(a.den, b.den))
	return t
}

// mulFactors merges two sorted products and adds exponents.
func mulFactors(a, b []factor) []factor {
	out := make([]factor, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch order := strings.Compare(a[0].a.key, b[0].a.key); {
		case order < 0:
			out, a = append(out, a[0]), a[1:]
		case order > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			if e := a[0].exp + b[0].exp; e != 0 {
				out = append(out, factor{a[0].a, e})
			}
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// invert returns 1/t.
func invert(t term) term {
	inv := term{factors: make([]factor, len(t.factors))}
	inv.num, inv.den = fraction(t.den, t.num)
	for i, f := range t.factors {
		inv.factors[i] = factor{f.a, -f.exp}
	}
	return inv
}

// quotient finds the polynomial q with d = q*b, when there is one, by long
// division. Each step cancels the leading term of the rest; the leading terms
// only fall, and no quotient within the limits takes more than maxTerms steps.
func quotient(d, b Dim) (Dim, bool) {
	lead := leading(b.termList())
	q, rest := Dim{}, d
	for range maxTerms {
		if rest.Is(0) {
			return q, true
		}
		if rest.isBad() {
			return Dim{}, false
		}
		step := ofTerm(mulTerm(leading(rest.termList()), invert(lead)))
		if !step.polynomial() {
			return Dim{}, false
		}
		q, rest = q.Add(step), rest.Sub(step.Mul(b))
	}
	return Dim{}, false
}

// polynomial reports whether nothing but numbers is below a fraction line.
func (d Dim) polynomial() bool {
	for _, t := range d.termList() {
		if !t.polynomial() {
			return false
		}
	}
	return !d.isBad()
}

func (t term) polynomial() bool {
	for _, f := range t.factors {
		if f.exp < 0 {
			return false
		}
	}
	return true
}

// leading is the greatest term in the lexical order of exponents, an order that
// multiplication keeps.
func leading(ts []term) term {
	return slices.MaxFunc(ts, func(a, b term) int { return compareFactors(a.factors, b.factors) })
}

func compareFactors(a, b []factor) int {
	for i := range min(len(a), len(b)) {
		if order := strings.Compare(b[i].a.key, a[i].a.key); order != 0 {
			return order
		}
		if order := cmp.Compare(a[i].exp, b[i].exp); order != 0 {
			return order
		}
	}
	return len(a) - len(b)
}

// fraction makes den positive and the fraction lowest. den is not 0. One that
// has saturated stays so, for normal to see.
func fraction(num, den int64) (int64, int64) {
	if isSaturated(num) || isSaturated(den) {
		return MaxDim, 1
	}
	if den < 0 {
		num, den = -num, -den
	}
	a, b := max(num, -num), den
	for b != 0 {
		a, b = b, a%b
	}
	return num / a, den / a
}

func isSaturated(n int64) bool { return n >= MaxDim || n <= -MaxDim }

func saturate(n int64) int64 { return max(-MaxDim, min(MaxDim, n)) }

// satAdd adds; what has saturated stays so.
func satAdd(a, b int64) int64 {
	switch {
	case isSaturated(a):
		return saturate(a)
	case isSaturated(b):
		return saturate(b)
	}
	return saturate(a + b)
}

func satMul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if p := a * b; !isSaturated(a) && !isSaturated(b) && p/b == a && !isSaturated(p) {
		return p
	}
	if (a < 0) == (b < 0) {
		return MaxDim
	}
	return -MaxDim
}

// factorKey prints a product without its coefficient: "B*S", "B*B/(H+1)".
func factorKey(fs []factor) string {
	if len(fs) == 1 && fs[0].exp == 1 {
		return fs[0].a.key
	}
	var over, under []string
	for _, f := range fs {
		for range f.exp {
			over = append(over, f.a.key)
		}
		for range -f.exp {
			under = append(under, f.a.key)
		}
	}
	key := strings.Join(over, "*")
	if len(under) > 0 {
		if key == "" {
			key = "1"
		}
		key += "/" + strings.Join(under, "/")
	}
	return key
}

func printTerms(ts []term) string {
	if len(ts) == 1 {
		return ts[0].String()
	}
	var b strings.Builder
	for i, t := range ts {
		s := t.String()
		if i > 0 && s[0] != '-' {
			b.WriteByte('+')
		}
		b.WriteString(s)
	}
	return b.String()
}

func (t term) String() string {
	s := t.key
	switch {
	case s == "":
		s = strconv.FormatInt(t.num, 10)
	case t.num == -1:
		s = "-" + s
	case t.num != 1:
		s = strconv.FormatInt(t.num, 10) + "*" + s
	}
	if t.den != 1 {
		s += "/" + strconv.FormatInt(t.den, 10)
	}
	return s
}
