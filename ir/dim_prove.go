package ir

// A prover looks for a proof that a Dim is at least 0. It gives up, answering
// no, when its fuel is spent or functions nest too deep: a wrong no costs a
// simplification, never correctness.
type prover struct {
	fuel  int // terms that it may still look at
	depth int
}

const (
	proofFuel  = 4096
	proofDepth = 6
	// proofWidth bounds the functions of one sum that are looked into.
	proofWidth = 4
)

// NonNeg reports whether d is provably at least 0, under every binding under
// which it has a value.
func (d Dim) NonNeg() bool {
	if d.p == nil {
		return d.c >= 0
	}
	return (&prover{fuel: proofFuel}).nonNeg(d)
}

// LessEq reports whether a <= b is proved.
func LessEq(a, b Dim) bool { return b.Sub(a).NonNeg() }

// nonNeg first asks whether every term is at least 0. If not, it puts a bound
// for one function that d rises or falls with (d >= d[f := bound]), or, where f
// is always one of its arguments, each of these in turn.
func (pr *prover) nonNeg(d Dim) bool {
	terms := d.termList()
	pr.fuel -= 1 + len(terms)
	if d.isBad() || pr.fuel < 0 || pr.depth >= proofDepth {
		return false
	}
	pr.depth++
	defer func() { pr.depth-- }()
	if pr.termsNonNeg(terms) {
		return true
	}
	for _, a := range functions(d) {
		if x, ok := withoutFloor(d, a); ok && pr.nonNeg(x) {
			return true
		}
		lower, upper := a.bounds(pr)
		bounds := map[int][]Dim{1: lower, -1: upper}[pr.direction(d, a)]
		for _, b := range bounds {
			if pr.nonNeg(substitute(d, a, b)) {
				return true
			}
		}
		if a.fn.oneOf && len(bounds) == 0 {
			// One such split decides: further ones would multiply the work.
			return pr.nonNeg(substitute(d, a, a.args[0])) && pr.nonNeg(substitute(d, a, a.args[1]))
		}
	}
	return false
}

// withoutFloor rids d = r + floordiv(x, c) or d = r - floordiv(x, c) of the
// function, for a whole number d: then d >= 0 means r + x/c >= 0, or
// r - (x-c+1)/c >= 0, neither more nor less.
func withoutFloor(d Dim, a *atom) (Dim, bool) {
	if !a.fn.floor || !d.integral() {
		return Dim{}, false
	}
	c, ok := a.args[1].Const()
	if !ok || c <= 0 || !a.args[0].integral() {
		return Dim{}, false
	}
	sign := int64(0)
	for _, t := range d.termList() {
		exp, others := partFactors(t.factors, a)
		if exp == 0 {
			continue
		}
		if exp != 1 || len(others) > 0 || t.num != 1 && t.num != -1 {
			return Dim{}, false
		}
		sign = t.num
	}
	x := a.args[0]
	if sign < 0 {
		x = x.Sub(N(c - 1))
	}
	return substitute(d, a, x.Div(N(c))), true
}

func (pr *prover) termsNonNeg(ts []term) bool {
	for _, t := range ts {
		if t.num < 0 {
			return false
		}
	}
	for _, t := range ts {
		if !pr.factorsNonNeg(t.factors) {
			return false
		}
	}
	return true
}

// factorsNonNeg reports whether a product is at least 0.
func (pr *prover) factorsNonNeg(fs []factor) bool {
	for _, f := range fs {
		if f.exp%2 != 0 && !pr.atomNonNeg(f.a) {
			return false
		}
	}
	return true
}

func (pr *prover) atomNonNeg(a *atom) bool {
	if a.fn == nil {
		return true
	}
	if pr.fuel < 0 || pr.depth >= proofDepth {
		return false
	}
	lower, _ := a.bounds(pr)
	for _, b := range lower {
		if pr.nonNeg(b) {
			return true
		}
	}
	return a.fn.oneOf && pr.nonNeg(a.args[0]) && pr.nonNeg(a.args[1])
}

func (a *atom) bounds(pr *prover) (lower, upper []Dim) {
	if len(a.args) == 1 {
		return a.fn.bounds(pr, a.args[0], Dim{})
	}
	return a.fn.bounds(pr, a.args[0], a.args[1])
}

// functions lists the functions among d's factors that no term divides by, each
// once, at most proofWidth of them.
func functions(d Dim) []*atom {
	var out []*atom
	seen := map[string]bool{}
	for _, t := range d.termList() {
		for _, f := range t.factors {
			if f.a.fn != nil && f.exp > 0 && !seen[f.a.key] && len(out) < proofWidth {
				seen[f.a.key] = true
				out = append(out, f.a)
			}
		}
	}
	return out
}

// direction tells whether d rises (1) or falls (-1) with a, if it is clear.
func (pr *prover) direction(d Dim, a *atom) int {
	dir := 0
	for _, t := range d.termList() {
		exp, others := partFactors(t.factors, a)
		if exp == 0 {
			continue
		}
		sign := 1
		if t.num < 0 {
			sign = -1
		}
		if exp != 1 || dir == -sign || !pr.factorsNonNeg(others) {
			return 0
		}
		dir = sign
	}
	return dir
}

// partFactors returns the exponent of a in a product, and the other factors.
func partFactors(fs []factor, a *atom) (exp int, others []factor) {
	for i, f := range fs {
		if f.a.key == a.key {
			return f.exp, append(append([]factor{}, fs[:i]...), fs[i+1:]...)
		}
	}
	return 0, fs
}

// substitute puts x for a in the terms of d, not inside other functions.
func substitute(d Dim, a *atom, x Dim) Dim {
	sum := Dim{}
	for _, t := range d.termList() {
		exp, others := partFactors(t.factors, a)
		if exp <= 0 {
			sum = sum.Add(ofTerm(t))
			continue
		}
		part := ofTerm(term{num: t.num, den: t.den, factors: others})
		for range exp {
			part = part.Mul(x)
		}
		sum = sum.Add(part)
	}
	return sum
}
