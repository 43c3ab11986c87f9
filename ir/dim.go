package ir

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// A Dim is one size of a shape: an integer, or an integer expression over
// symbols whose values are known only when the program runs (each is at least
// 0). A Dim is kept in a normal form, a sum of products with rational
// coefficients, so that two Dims are equal for every binding that the form can
// show iff their forms are equal: equality is proved, never guessed. The zero
// Dim is 0.
//
// Division (Div) is exact: S/2 is a number of which twice is S. Whoever divides
// has to see to it that the remainder is 0, by an Assert of the function.
//
// Constants saturate at ±MaxDim instead of wrapping; a type with such a size is
// refused by Type.Check.
type Dim struct {
	c int64 // the value, when p is nil
	p *poly
}

// MaxDim bounds the sizes that Dim's arithmetic can hold.
const MaxDim = 1 << 62

// An Env binds symbols to sizes.
type Env map[string]int64

// A poly is a sum of terms in canonical order, at least one of them not
// constant.
type poly struct {
	terms []term
	key   string // the printed form, which is unique
}

// A term is num/den times the product of its factors; den is positive and the
// fraction is reduced. No factors: the constant term, printed last.
type term struct {
	num, den int64
	factors  []factor // sorted by the atom's key, no atom twice, no exponent 0
	key      string   // of the factors alone
}

type factor struct {
	a   *atom
	exp int
}

// An atom is what the algebra does not look into: a symbol, or a function of
// Dims that has no polynomial form.
type atom struct {
	fn   *dimFunc // nil for a symbol
	args []Dim
	key  string
}

// A dimFunc is a row of the table of functions over Dims.
type dimFunc struct {
	name string
	eval func(a, b int64) (int64, error)
	// nonNeg tells whether the value is at least 0, given which arguments are.
	nonNeg func(a, b bool) bool
}

var (
	fnFloorDiv = &dimFunc{"floordiv", evalFloorDiv, bothNonNeg}
	fnMod      = &dimFunc{"mod", evalMod, func(a, _ bool) bool { return a }}
	fnMax      = &dimFunc{"max", func(a, b int64) (int64, error) { return max(a, b), nil }, func(a, b bool) bool { return a || b }}
	fnMin      = &dimFunc{"min", func(a, b int64) (int64, error) { return min(a, b), nil }, bothNonNeg}
	// fnSum wraps a sum of several terms so that it can be divided by.
	fnSum = &dimFunc{"sum", func(a, _ int64) (int64, error) { return a, nil }, bothNonNeg}

	// DimFuncs names the functions that the text form of a Dim may call.
	DimFuncs = map[string]func(a, b Dim) Dim{"floordiv": FloorDiv, "ceildiv": CeilDiv, "mod": Mod, "max": MaxOf, "min": MinOf}
)

func bothNonNeg(a, b bool) bool { return a && b }

// N is the constant n.
func N(n int64) Dim { return Dim{c: saturate(n)} }

// Sym is the symbol of that name.
func Sym(name string) Dim { return ofAtom(&atom{key: name}) }

// Dims makes constants of a list of numbers.
func Dims[I int | int64](ns ...I) []Dim {
	ds := make([]Dim, len(ns))
	for i, n := range ns {
		ds[i] = N(int64(n))
	}
	return ds
}

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
	return t.factors[0].a.key, true
}

// Equal reports whether a and b are provably the same for every binding.
func (d Dim) Equal(b Dim) bool {
	if d.p == nil || b.p == nil {
		return d.p == nil && b.p == nil && d.c == b.c
	}
	return d.p == b.p || d.p.key == b.p.key
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
	if d.p == nil && b.p == nil {
		return N(satAdd(d.c, b.c))
	}
	return fromTerms(append(append([]term{}, d.termList()...), b.termList()...))
}

// Sub returns d - b.
func (d Dim) Sub(b Dim) Dim { return d.Add(b.Mul(N(-1))) }

// Mul returns d * b.
func (d Dim) Mul(b Dim) Dim {
	if d.p == nil && b.p == nil {
		return N(satMul(d.c, b.c))
	}
	var out []term
	for _, s := range d.termList() {
		for _, t := range b.termList() {
			out = append(out, mulTerm(s, t))
		}
	}
	return fromTerms(out)
}

// Div returns d / b, exact: see Dim. A constant that b does not divide keeps
// its fraction, and Eval refuses it; so does a division by the constant 0.
func (d Dim) Div(b Dim) Dim {
	terms := b.termList()
	switch len(terms) {
	case 0:
		return Sym("division by zero")
	case 1:
		return d.mulTerms(invert(terms[0]))
	}
	if q, ok := divides(d, b); ok {
		return q
	}
	return d.mulTerms(term{num: 1, den: 1, factors: []factor{{sumAtom(b), -1}}})
}

func (d Dim) mulTerms(t term) Dim {
	var out []term
	for _, s := range d.termList() {
		out = append(out, mulTerm(s, t))
	}
	return fromTerms(out)
}

// divides finds the constant or single-term q with d = q*b, when there is one:
// enough for (A+B)*C/(A+B).
func divides(d, b Dim) (Dim, bool) {
	ts := d.termList()
	if len(ts) == 0 {
		return N(0), true
	}
	q := fromTerms([]term{mulTerm(ts[0], invert(b.termList()[0]))})
	return q, q.Mul(b).Equal(d)
}

// FloorDiv returns the largest integer at most a/b, for b > 0.
func FloorDiv(a, b Dim) Dim {
	whole, rest, c, ok := splitMultiples(a, b)
	if !ok {
		return call(fnFloorDiv, a, b)
	}
	quotient := whole.Div(N(c))
	if r, isConst := rest.Const(); isConst {
		q, _ := evalFloorDiv(r, c)
		return quotient.Add(N(q))
	}
	return quotient.Add(call(fnFloorDiv, rest, b))
}

// CeilDiv returns the smallest integer at least a/b, for b > 0.
func CeilDiv(a, b Dim) Dim { return FloorDiv(a.Add(b).Sub(N(1)), b) }

// Mod returns the remainder of a by b, with the sign of a as Go's % has it.
func Mod(a, b Dim) Dim {
	if x, ok := a.Const(); ok {
		if y, ok := b.Const(); ok && y != 0 {
			return N(x % y)
		}
	}
	_, rest, c, ok := splitMultiples(a, b)
	if !ok || !a.NonNeg() {
		return call(fnMod, a, b)
	}
	if r, isConst := rest.Const(); isConst {
		return N(((r % c) + c) % c)
	}
	if !rest.NonNeg() {
		return call(fnMod, a, b)
	}
	return call(fnMod, rest, b)
}

// splitMultiples parts a into terms that the constant b surely divides, and
// the rest.
func splitMultiples(a, b Dim) (whole, rest Dim, c int64, ok bool) {
	c, isConst := b.Const()
	if !isConst || c <= 0 {
		return Dim{}, Dim{}, 0, false
	}
	var ws, rs []term
	for _, t := range a.termList() {
		if t.den == 1 && t.num%c == 0 && integral(t) {
			ws = append(ws, t)
		} else {
			rs = append(rs, t)
		}
	}
	return fromTerms(ws), fromTerms(rs), c, true
}

// integral reports whether the factors of t are whole numbers.
func integral(t term) bool {
	for _, f := range t.factors {
		if f.exp < 0 {
			return false
		}
	}
	return true
}

// MaxOf returns the larger of a and b.
func MaxOf(a, b Dim) Dim { return extreme(fnMax, a, b) }

// MinOf returns the smaller of a and b.
func MinOf(a, b Dim) Dim { return extreme(fnMin, a, b) }

func extreme(fn *dimFunc, a, b Dim) Dim {
	larger, smaller := a, b
	switch {
	case a.Sub(b).NonNeg():
	case b.Sub(a).NonNeg():
		larger, smaller = b, a
	case a.String() > b.String(): // commutative: one order for both
		return call(fn, b, a)
	default:
		return call(fn, a, b)
	}
	if fn == fnMax {
		return larger
	}
	return smaller
}

// NonNeg reports whether d is provably at least 0.
func (d Dim) NonNeg() bool {
	for _, t := range d.termList() {
		if t.num < 0 {
			return false
		}
		for _, f := range t.factors {
			if !f.a.nonNeg() && f.exp%2 != 0 {
				return false
			}
		}
	}
	return true
}

// LessEq reports whether a <= b is proved.
func LessEq(a, b Dim) bool { return b.Sub(a).NonNeg() }

func (a *atom) nonNeg() bool {
	if a.fn == nil {
		return true
	}
	return a.fn.nonNeg(a.args[0].NonNeg(), len(a.args) < 2 || a.args[1].NonNeg())
}

// Eval computes d under a binding. It fails on an unbound symbol, on a division
// that leaves a remainder and on overflow.
func (d Dim) Eval(env Env) (int64, error) {
	if d.p == nil {
		return d.c, nil
	}
	// The sum is one fraction, since S/2 + S/2 is whole where S/2 is not.
	num, den := int64(0), int64(1)
	for _, t := range d.p.terms {
		n, m, err := t.eval(env)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", d, err)
		}
		num, den = reduce(satAdd(satMul(num, m), satMul(n, den)), satMul(den, m))
	}
	if den != 1 {
		return 0, fmt.Errorf("%s: %d does not divide by %d", d, num, den)
	}
	if num >= MaxDim || num <= -MaxDim {
		return 0, fmt.Errorf("%s: the value is too large", d)
	}
	return num, nil
}

func (t term) eval(env Env) (num, den int64, err error) {
	num, den = t.num, t.den
	for _, f := range t.factors {
		v, err := f.a.eval(env)
		if err != nil {
			return 0, 0, err
		}
		for range f.exp {
			num = satMul(num, v)
		}
		for range -f.exp {
			den = satMul(den, v)
		}
	}
	if den == 0 {
		return 0, 0, fmt.Errorf("division by zero")
	}
	num, den = reduce(num, den)
	return num, den, nil
}

func (a *atom) eval(env Env) (int64, error) {
	if a.fn == nil {
		v, ok := env[a.key]
		if !ok {
			return 0, fmt.Errorf("dimension %s is not bound", a.key)
		}
		return v, nil
	}
	var v [2]int64
	for i, d := range a.args {
		x, err := d.Eval(env)
		if err != nil {
			return 0, err
		}
		v[i] = x
	}
	return a.fn.eval(v[0], v[1])
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
				yield(f.a.key)
			}
			for _, arg := range f.a.args {
				arg.Symbols(yield)
			}
		}
	}
}

func evalFloorDiv(a, b int64) (int64, error) {
	if b == 0 {
		return 0, fmt.Errorf("division by zero")
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
}

func evalMod(a, b int64) (int64, error) {
	if b == 0 {
		return 0, fmt.Errorf("division by zero")
	}
	return a % b, nil
}

// call makes fn(a, b), computed when both are constants.
func call(fn *dimFunc, a, b Dim) Dim {
	x, aConst := a.Const()
	y, bConst := b.Const()
	if aConst && bConst {
		if v, err := fn.eval(x, y); err == nil {
			return N(v)
		}
	}
	return ofAtom(&atom{fn: fn, args: []Dim{a, b}, key: fn.name + "(" + a.String() + "," + b.String() + ")"})
}

// sumAtom makes one factor of a sum, so that it can have the exponent -1.
func sumAtom(d Dim) *atom {
	return &atom{fn: fnSum, args: []Dim{d}, key: "(" + d.String() + ")"}
}

func ofAtom(a *atom) Dim {
	return fromTerms([]term{{num: 1, den: 1, factors: []factor{{a, 1}}}})
}

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
		ts[i].key = factorKey(ts[i].factors)
	}
	sort.SliceStable(ts, func(i, j int) bool { return termLess(ts[i], ts[j]) })
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
	switch {
	case len(out) == 0:
		return Dim{}
	case len(out) == 1 && out[0].key == "" && out[0].den == 1:
		return N(out[0].num)
	}
	return Dim{p: &poly{terms: out, key: printTerms(out)}}
}

// termLess orders terms by their factors, the constant last.
func termLess(a, b term) bool {
	if (a.key == "") != (b.key == "") {
		return b.key == ""
	}
	return a.key < b.key
}

func addTerm(a, b term) term {
	a.num, a.den = reduce(satAdd(satMul(a.num, b.den), satMul(b.num, a.den)), satMul(a.den, b.den))
	return a
}

func mulTerm(a, b term) term {
	t := term{factors: mulFactors(a.factors, b.factors)}
	t.num, t.den = reduce(satMul(a.num, b.num), satMul(a.den, b.den))
	return t
}

// mulFactors merges two sorted products and adds exponents.
func mulFactors(a, b []factor) []factor {
	out := make([]factor, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || (len(a) > 0 && a[0].a.key < b[0].a.key):
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0].a.key < a[0].a.key:
			out, b = append(out, b[0]), b[1:]
		default:
			if e := a[0].exp + b[0].exp; e != 0 {
				out = append(out, factor{a[0].a, e})
			}
			a, b = a[1:], b[1:]
		}
	}
	return out
}

func invert(t term) term {
	inv := term{num: t.den, den: t.num, factors: make([]factor, len(t.factors))}
	inv.num, inv.den = reduce(inv.num, inv.den)
	for i, f := range t.factors {
		inv.factors[i] = factor{f.a, -f.exp}
	}
	return inv
}

// reduce makes den positive and the fraction lowest. den is not 0.
func reduce(num, den int64) (int64, int64) {
	if den < 0 {
		num, den = -num, -den
	}
	a, b := max(num, -num), den
	for b != 0 {
		a, b = b, a%b
	}
	if a > 1 {
		return num / a, den / a
	}
	return num, den
}

func saturate(n int64) int64 { return max(-MaxDim, min(MaxDim, n)) }

func satAdd(a, b int64) int64 { return saturate(saturate(a) + saturate(b)) }

func satMul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if p := a * b; p/b == a && p > -MaxDim && p < MaxDim {
		return p
	}
	if (a < 0) == (b < 0) {
		return MaxDim
	}
	return -MaxDim
}

// factorKey prints a product without its coefficient: "B*S", "B*B/(H+1)".
func factorKey(fs []factor) string {
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
