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
	n, err := d.p.eval(env)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", d, err)
	}
	return n, nil
}

// eval sums in one fraction, since S/2 + S/2 is whole where S/2 is not.
func (p *poly) eval(env Env) (int64, error) {
	num, den := int64(0), int64(1)
	for _, t := range p.terms {
		n, m, err := t.eval(env)
		if err != nil {
			return 0, err
		}
		a, b, c := satMul(num, m), satMul(n, den), satMul(den, m)
		if isSaturated(a) || isSaturated(b) || isSaturated(c) || isSaturated(a+b) {
			return 0, errTooLarge
		}
		num, den = fraction(a+b, c)
	}
	if den != 1 {
		return 0, fmt.Errorf("%d does not divide by %d", num, den)
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
	if isSaturated(num) || isSaturated(den) {
		return 0, 0, errTooLarge
	}
	if den == 0 {
		return 0, 0, errors.New(divideZero)
	}
	num, den = fraction(num, den)
	return num, den, nil
}

func (a *atom) eval(env Env) (int64, error) {
	if a.fn == nil {
		return lookup(env, a.name)
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
