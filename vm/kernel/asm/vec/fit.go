package main

import (
	"math"
)

// minimax finds the polynomial c[0] + c[1]*x + ... of a degree whose largest error
// against f, times the weight w, is least on [lo, hi]: Remez's exchange in float64.
func minimax(f, w func(x float64) float64, lo, hi float64, degree int) []float64 {
	n := degree + 2
	at := make([]float64, n)
	for i := range at {
		at[i] = (lo+hi)/2 - (hi-lo)/2*math.Cos(math.Pi*float64(i)/float64(n-1))
	}
	var c []float64
	for range 40 {
		c = levelled(f, w, at)
		next := extrema(func(x float64) float64 { return (horner(c, x) - f(x)) * w(x) }, lo, hi, n)
		if next == nil {
			break
		}
		at = next
	}
	return c
}

// quotient finds polynomials p of a degree n and q of a degree m, with q(0) = 1, whose
// quotient is f at n+m+1 points from 0 to hi. These are Chebyshev's of x/(x+c), for
// functions that change most within c of 0: an error about twice the least possible.
func quotient(f func(x float64) float64, n, m int, c, hi float64) (p, q []float64) {
	k := n + m + 1
	rows := make([][]float64, k)
	for i := range rows {
		v := hi / (hi + c) / 2 * (1 - math.Cos(math.Pi*(float64(i)+0.5)/float64(k)))
		x := c * v / (1 - v)
		row := make([]float64, k+1)
		for j := range n + 1 {
			row[j] = math.Pow(x, float64(j)) / f(x)
		}
		for j := range m {
			row[n+1+j] = -math.Pow(x, float64(j+1))
		}
		row[k] = 1
		rows[i] = row
	}
	both := solve(rows)
	return both[:n+1], append([]float64{1}, both[n+1:]...)
}

func horner(c []float64, x float64) float64 {
	p := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		p = float64(p*x) + c[i]
	}
	return p
}

// levelled solves for the polynomial whose weighted errors at the points are equal,
// with alternating signs.
func levelled(f, w func(float64) float64, at []float64) []float64 {
	n := len(at)
	m := make([][]float64, n)
	for i, x := range at {
		m[i] = make([]float64, n+1)
		p := 1.0
		for j := range n - 1 {
			m[i][j] = p
			p *= x
		}
		m[i][n-1] = 1 / w(x)
		if i%2 == 1 {
			m[i][n-1] = -m[i][n-1]
		}
		m[i][n] = f(x)
	}
	return solve(m)[:n-1]
}

// solve is Gauss's elimination with pivots; the last column is the right side.
func solve(m [][]float64) []float64 {
	n := len(m)
	for k := range n {
		best := k
		for i := k; i < n; i++ {
			if math.Abs(m[i][k]) > math.Abs(m[best][k]) {
				best = i
			}
		}
		m[k], m[best] = m[best], m[k]
		for i := k + 1; i < n; i++ {
			q := m[i][k] / m[k][k]
			for j := k; j <= n; j++ {
				m[i][j] -= float64(q * m[k][j])
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		s := m[i][n]
		for j := i + 1; j < n; j++ {
			s -= float64(m[i][j] * x[j])
		}
		x[i] = s / m[i][i]
	}
	return x
}

// extrema finds n points of alternating error, the largest of each run of one sign;
// nil if there are fewer.
func extrema(e func(float64) float64, lo, hi float64, n int) []float64 {
	const steps = 4000
	var at, size []float64
	for i := range steps + 1 {
		x := (lo+hi)/2 - (hi-lo)/2*math.Cos(math.Pi*float64(i)/steps)
		v := e(x)
		if k := len(at) - 1; k >= 0 && (v < 0) == (size[k] < 0) {
			if math.Abs(v) > math.Abs(size[k]) {
				at[k], size[k] = x, v
			}
			continue
		}
		at, size = append(at, x), append(size, v)
	}
	for len(at) > n { // drop the smaller end
		if math.Abs(size[0]) < math.Abs(size[len(size)-1]) {
			at, size = at[1:], size[1:]
			continue
		}
		at, size = at[:len(at)-1], size[:len(size)-1]
	}
	if len(at) < n {
		return nil
	}
	return at
}

func one(float64) float64 { return 1 }
