package ir

import "errors"

// A dimFunc is a row of the table of functions over Dims.
type dimFunc struct {
	name string
	eval func(a, b int64) (int64, error)
	// bounds lists Dims that the value is at least, and at most.
	bounds func(pr *prover, a, b Dim) (lower, upper []Dim)
	// oneOf tells that the value is always one of the arguments, floor that it
	// is their quotient rounded down.
	oneOf, floor bool
}

var (
	fnFloorDiv = &dimFunc{name: "floordiv", eval: evalFloorDiv, bounds: floorDivBounds, floor: true}
	fnMod      = &dimFunc{name: "mod", eval: evalMod, bounds: modBounds}
	fnMax      = &dimFunc{name: "max", eval: evalMax, bounds: maxBounds, oneOf: true}
	fnMin      = &dimFunc{name: "min", eval: evalMin, bounds: minBounds, oneOf: true}
	// fnSum wraps a sum of several terms so that it can be divided by.
	fnSum = &dimFunc{name: "sum", bounds: sumBounds}

	// DimFuncs names the functions that the text form of a Dim may call.
	DimFuncs = map[string]func(a, b Dim) Dim{"floordiv": FloorDiv, "ceildiv": CeilDiv, "mod": Mod, "max": MaxOf, "min": MinOf}
)

// FloorDiv returns the largest integer at most a/b. It has no value for b = 0.
func FloorDiv(a, b Dim) Dim {
	if bad, ok := unusable(a, b); ok {
		return bad
	}
	c, isConst := b.Const()
	switch {
	case !isConst:
		if q, ok := quotient(a, b); ok && q.integral() {
			return q
		}
		return call(fnFloorDiv, a, b)
	case c == 1:
		return a
	case c < 0:
		return FloorDiv(a.Mul(N(-1)), N(-c))
	}
	whole, rest := splitMultiples(a, c)
	if rest.IsConst() {
		return whole // what is left is less than c
	}
	if x, by, ok := floorDivPlus(rest); ok && satMul(by, c) < MaxDim {
		return whole.Add(FloorDiv(x, N(by*c)))
	}
	return whole.Add(call(fnFloorDiv, rest, b))
}

// floorDivPlus sees floordiv(x,by)+r, which is floordiv(x+r*by,by): a chain of
// strided convolutions stays one division.
func floorDivPlus(d Dim) (x Dim, by int64, ok bool) {
	ts := d.termList()
	if len(ts) > 2 || len(ts) == 2 && (len(ts[1].factors) > 0 || ts[1].den != 1) {
		return Dim{}, 0, false
	}
	t := ts[0]
	if t.num != 1 || t.den != 1 || len(t.factors) != 1 || t.factors[0].exp != 1 || t.factors[0].a.fn != fnFloorDiv {
		return Dim{}, 0, false
	}
	a := t.factors[0].a
	by, ok = a.args[1].Const()
	if !ok || by <= 0 {
		return Dim{}, 0, false
	}
	rest := d.Sub(ofAtom(a))
	return a.args[0].Add(rest.Mul(N(by))), by, true
}

// CeilDiv returns the smallest integer at least a/b, for b > 0.
func CeilDiv(a, b Dim) Dim { return FloorDiv(a.Add(b).Sub(N(1)), b) }

// Mod returns the remainder of a by b, with the sign of a as Go's % has it.
func Mod(a, b Dim) Dim {
	if bad, ok := unusable(a, b); ok {
		return bad
	}
	c, isConst := b.Const()
	if !isConst || c < 0 || !a.NonNeg() {
		return call(fnMod, a, b)
	}
	_, rest := splitMultiples(a, c)
	if rest.IsConst() {
		return rest
	}
	if !rest.NonNeg() {
		return call(fnMod, a, b)
	}
	return call(fnMod, rest, b)
}

// unusable finds what makes a/b pointless: operands without a value.
func unusable(a, b Dim) (Dim, bool) {
	switch {
	case a.isBad() || b.isBad():
		return worse(a, b), true
	case b.Is(0):
		return noValue(divideZero), true
	case a.infinite() || b.infinite():
		return noValue(tooLarge), true
	}
	return Dim{}, false
}

// splitMultiples writes a as whole*c + rest, where the coefficients of rest are
// in 0 .. c-1 as far as they are whole numbers, and returns whole and rest.
func splitMultiples(a Dim, c int64) (whole, rest Dim) {
	var ws, rs []term
	for _, t := range a.termList() {
		if t.den != 1 || !t.polynomial() {
			rs = append(rs, t)
			continue
		}
		q, _ := evalFloorDiv(t.num, c)
		ws = append(ws, term{num: q, den: 1, factors: t.factors})
		rs = append(rs, term{num: t.num - q*c, den: 1, factors: t.factors})
	}
	return fromTerms(ws), fromTerms(rs)
}

// integral reports whether d is a whole number under every binding.
func (d Dim) integral() bool {
	for _, t := range d.termList() {
		if t.den != 1 {
			return false
		}
	}
	return d.polynomial()
}

// MaxOf returns the larger of a and b.
func MaxOf(a, b Dim) Dim { return extreme(fnMax, a, b) }

// MinOf returns the smaller of a and b.
func MinOf(a, b Dim) Dim { return extreme(fnMin, a, b) }

// extreme takes what is common to a and b out of the function, so that
// max(S,1)-1 and max(S-1,0) have one form: the terms of a-b that are positive
// stay on one side, the others on the other.
func extreme(fn *dimFunc, a, b Dim) Dim {
	if a.isBad() || b.isBad() {
		return worse(a, b)
	}
	if a.infinite() || b.infinite() {
		return extremeInfinite(fn, a, b)
	}
	diff := a.Sub(b)
	larger, smaller := a, b
	switch {
	case diff.isBad():
		return diff
	case diff.NonNeg():
	case b.Sub(a).NonNeg():
		larger, smaller = b, a
	case !diff.integral(): // the parts of a whole number need not be whole
		return callSorted(fn, a, b)
	default:
		left, right := signs(diff)
		return a.Sub(left).Add(callSorted(fn, left, right))
	}
	if fn == fnMax {
		return larger
	}
	return smaller
}

// extremeInfinite decides when one side is a saturated constant.
func extremeInfinite(fn *dimFunc, a, b Dim) Dim {
	if !a.infinite() {
		a, b = b, a
	}
	if (a.c > 0) == (fn == fnMax) {
		return a
	}
	return b
}

// signs splits d = left - right, all coefficients of both being positive.
func signs(d Dim) (left, right Dim) {
	var ls, rs []term
	for _, t := range d.termList() {
		if t.num > 0 {
			ls = append(ls, t)
		} else {
			t.num = -t.num
			rs = append(rs, t)
		}
	}
	return fromTerms(ls), fromTerms(rs)
}

// callSorted calls a commutative function with its arguments in one order, a
// constant last.
func callSorted(fn *dimFunc, a, b Dim) Dim {
	if a.IsConst() || !b.IsConst() && a.String() > b.String() {
		a, b = b, a
	}
	return call(fn, a, b)
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

func evalFloorDiv(a, b int64) (int64, error) {
	if b == 0 {
		return 0, errors.New(divideZero)
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
}

func evalMod(a, b int64) (int64, error) {
	if b == 0 {
		return 0, errors.New(divideZero)
	}
	return a % b, nil
}

func evalMax(a, b int64) (int64, error) { return max(a, b), nil }
func evalMin(a, b int64) (int64, error) { return min(a, b), nil }

func floorDivBounds(pr *prover, a, b Dim) (lower, upper []Dim) {
	if c, ok := b.Const(); ok && c > 0 {
		upper = []Dim{a.Div(b)}
		lower = []Dim{a.Sub(b).Add(N(1)).Div(b)}
	}
	if pr.nonNeg(a) && pr.nonNeg(b) {
		lower = append(lower, N(0))
	}
	return lower, upper
}

func modBounds(pr *prover, a, b Dim) (lower, upper []Dim) {
	if !pr.nonNeg(a) {
		return nil, nil
	}
	upper = []Dim{a}
	if c, ok := b.Const(); ok && c > 0 {
		upper = append(upper, N(c-1))
	}
	return []Dim{N(0)}, upper
}

func maxBounds(_ *prover, a, b Dim) (lower, upper []Dim) { return []Dim{a, b}, nil }
func minBounds(_ *prover, a, b Dim) (lower, upper []Dim) { return nil, []Dim{a, b} }
func sumBounds(_ *prover, a, _ Dim) (lower, upper []Dim) { return []Dim{a}, []Dim{a} }
