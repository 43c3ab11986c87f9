package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/passes/rewrite"
)

// A polynomial in x, of degree 3 at most: the coefficients of 1, x, x**2 and x**3.
//
//	%0 = square %x
//	%1 = mul %0, 0.044715
//	%2 = add %1, 1.0             =>   0.797885*x + 0.0356774*x**3
//	%3 = mul %x, 0.797885
//	%u = mul %3, %2
//
// Products and sums may be written in any order. The coefficients are computed from
// the constants as they are stored, in float64; those of which they are made by one
// product are the same in every order.
type polynomial [4]float64

// maxPolynomial bounds how far back a polynomial is looked at.
const maxPolynomial = 8

// polynomialOf reads u as a polynomial in x. Nothing else reads a step of it, and
// all have the annotations of the root.
func polynomialOf(m *rewrite.Match) (polynomial, bool) {
	r := &polynomialReader{m, m.Value("x")}
	return r.read(m.Value("u"), maxPolynomial)
}

type polynomialReader struct {
	m *rewrite.Match
	x *ir.Value
}

func (r *polynomialReader) read(v *ir.Value, depth int) (polynomial, bool) {
	if v == r.x {
		return polynomial{1: 1}, true
	}
	if c, ok := floatOf(v); ok {
		return polynomial{c}, true
	}
	combine := steps[v.Op]
	if depth == 0 || combine == nil || r.m.Uses(v) != 1 || !r.m.Alike(v) {
		return polynomial{}, false
	}
	args := [2]polynomial{}
	for i, a := range v.Args {
		p, ok := r.read(a, depth-1)
		if !ok {
			return polynomial{}, false
		}
		args[i] = p
	}
	return combine(args[0], args[1])
}

// steps are the operators of which polynomials are made.
var steps = map[*ir.Op]func(p, q polynomial) (polynomial, bool){
	ir.Add:    polynomial.plus,
	ir.Mul:    polynomial.times,
	ir.Square: func(p, _ polynomial) (polynomial, bool) { return p.times(p) },
	ir.Div:    func(p, q polynomial) (polynomial, bool) { return p.scaled(1 / q[0]), q == polynomial{q[0]} },
	ir.Pow: func(p, q polynomial) (polynomial, bool) {
		square, ok := p.times(p)
		cube, ok2 := square.times(p)
		return cube, ok && ok2 && q == polynomial{3}
	},
}

func (p polynomial) plus(q polynomial) (polynomial, bool) {
	for i := range p {
		p[i] += q[i]
	}
	return p, true
}

func (p polynomial) scaled(c float64) polynomial {
	for i := range p {
		if p[i] != 0 {
			p[i] *= c
		}
	}
	return p
}

// times is the product, if it has no higher degree.
func (p polynomial) times(q polynomial) (polynomial, bool) {
	var out polynomial
	for i, a := range p {
		for j, b := range q {
			switch {
			case a == 0 || b == 0:
			case i+j >= len(out):
				return out, false
			default:
				out[i+j] += a * b
			}
		}
	}
	return out, true
}
