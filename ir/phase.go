package ir

// A Phase is, along one axis, what every so-many-th result of a transposed convolution is:
// a convolution of x, without stride, by some elements of the window in reverse order.
//
// Of stride s, dilation d and padding p before, result o is the sum of x[i]*w[k] over all
// i and k with i*s + k*d = o + p; x is 0 outside. These k have one remainder of k*d by s,
// which is that of o + p, so they are k0, k0+s/g, ..., where g is the greatest common
// divisor of s and d; from one to the next i is less by d/g.
type Phase struct {
	First, Each int // the first element of the window that it sees, and the distance of others
	Size        int // how many there are; 0: its results are 0
	Spread      int // the dilation of its convolution
	Before      int // the padding before x; below 0: elements of x that are left out
}

// phase is that of the results p, p+step, ... of a bound axis.
func (s spatial) phase(p int) Phase {
	g, inverse := bezout(s.spread, s.step)
	f := Phase{Each: s.step / g, Spread: s.spread / g}
	at := p + s.before
	if at%g != 0 {
		return f
	}
	f.First = at / g % f.Each * inverse % f.Each
	if f.First < s.size {
		f.Size = (s.size - f.First + f.Each - 1) / f.Each
		f.Before = (f.Size-1)*f.Spread - (at-f.First*s.spread)/s.step
	}
	return f
}

// window is the convolution's window along an axis of x, with so many results.
func (f Phase) window(in, out int) spatial {
	return spatial{in: in, out: out, size: f.Size, step: 1, spread: f.Spread, before: f.Before}
}

// bezout finds the greatest common divisor g of two positive numbers, and x below m/g with
// a*x = g modulo m.
func bezout(a, m int) (g, x int) {
	g, x = a, 1
	for r, y := m, 0; r != 0; {
		q := g / r
		g, r = r, g-q*r
		x, y = y, x-q*y
	}
	n := m / g
	return g, (x%n + n) % n
}

// A Stretch is how a transposed convolution goes along one axis, of any size. Its phases
// all have In+Longer results, which become the whole ones in turns; of those the first
// Skip are left out, and what is behind the last one.
type Stretch struct {
	Phases []Phase // as many as the stride
	Longer int
	Skip   int
}

// maxPhases bounds the phases of an axis that StretchesOf lists.
const maxPhases = 64

// StretchesOf finds the phases of a call of conv_transpose, for each spatial axis. It is
// false if they depend on symbols, or are very many.
func StretchesOf(c *Call) ([]Stretch, bool) {
	stretches, err := stretchesOf(c)
	if err != nil {
		return nil, false
	}
	out := make([]Stretch, len(stretches))
	for i, s := range stretches {
		step, _ := s.step.Const()
		length, known := s.length(N(0)).Const()
		if !known || step > maxPhases {
			return nil, false
		}
		a := s.bind(N(0), N(0))
		skip := a.before % a.step
		a.before -= skip
		out[i].Skip = skip
		out[i].Longer = ceilQuotient(int(length)+skip, a.step)
		for p := range a.step {
			out[i].Phases = append(out[i].Phases, a.phase(p))
		}
	}
	return out, true
}

// ceilQuotient is a/b, rounded up, for a positive b.
func ceilQuotient(a, b int) int {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}
