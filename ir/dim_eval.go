package ir

import (
	"errors"
	"fmt"
)

var errTooLarge = errors.New("the value is too large")

// Eval computes d under a binding. It fails on an unbound symbol, on a division
// that leaves a remainder and on overflow.
func (d Dim) Eval(env Env) (int64, error) {
	if d.p == nil {
		if isSaturated(d.c) {
			return 0, fmt.Errorf("%s: %w", d, errTooLarge)
		}
		return d.c, nil
	}
	if d.p.bad != "" {
		return 0, errors.New(d.p.bad)
	}
	if name, ok := d.Symbol(); ok {
		return lookup(env, name)
	}
	num, den, err := d.p.eval(env)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", d, err)
	case den != 1:
		return 0, fmt.Errorf("%s: %d does not divide by %d", d, num, den)
	}
	return num, nil
}

// eval sums in one fraction, since S/2 + S/2 is whole where S/2 is not.
func (p *poly) eval(env Env) (num, den int64, err error) {
	num, den = 0, 1
	for _, t := range p.terms {
		n, m, err := t.eval(env)
		if err != nil {
			return 0, 0, err
		}
		a, b, c := satMul(num, m), satMul(n, den), satMul(den, m)
		if isSaturated(a) || isSaturated(b) || isSaturated(c) || isSaturated(a+b) {
			return 0, 0, errTooLarge
		}
		num, den = fraction(a+b, c)
	}
	return num, den, nil
}

func (t term) eval(env Env) (num, den int64, err error) {
	num, den = t.num, t.den
	for _, f := range t.factors {
		n, m, err := f.a.eval(env)
		if err != nil {
			return 0, 0, err
		}
		if f.exp < 0 {
			n, m = m, n
		}
		for range max(f.exp, -f.exp) {
			num, den = satMul(num, n), satMul(den, m)
		}
	}
	if isSaturated(num) || isSaturated(den) {
		return 0, 0, errTooLarge
	}
	if den == 0 {
		return 0, 0, errors.New(divideZero)
	}
	num, den = fraction(num, den)
	return num, den, nil
}

// eval computes an atom: a whole number, but for a sum below a fraction line.
func (a *atom) eval(env Env) (num, den int64, err error) {
	switch {
	case a.fn == nil:
		num, err = lookup(env, a.name)
		return num, 1, err
	case a.fn == fnSum:
		return a.args[0].p.eval(env)
	}
	var v [2]int64
	for i, d := range a.args {
		if v[i], err = d.Eval(env); err != nil {
			return 0, 0, err
		}
	}
	num, err = a.fn.eval(v[0], v[1])
	return num, 1, err
}

func lookup(env Env, name string) (int64, error) {
	v, ok := env[name]
	switch {
	case !ok:
		return 0, fmt.Errorf("dimension %s is not bound", symbolKey(name))
	case isSaturated(v):
		return 0, fmt.Errorf("dimension %s: %w", symbolKey(name), errTooLarge)
	}
	return v, nil
}
