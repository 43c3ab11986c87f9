package ir

import "math/rand/v2"

// sampleOf is the call of one argument.
func sampleOf(x Type, attrs ...Lit) Call { return Call{In: []Type{x}, Attrs: attrs} }

func sampleReshape(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	n, _ := x.Elements().Const()
	a := int64(1)
	for k := int64(2); k <= 5; k++ {
		if n%k == 0 && s.chance(2) {
			a = k
		}
	}
	shapes := [][]Dim{Dims(n), Dims(a, -1), Dims(n/a, 1, a), Dims(-1), append([]Dim{N(1)}, x.Shape...)}
	return sampleOf(x, DimsLit(shapes[s.IntN(len(shapes))]...))
}

func sampleFlatten(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	start := s.IntN(x.Rank() + 1)
	end := start
	if x.Rank() > start {
		end += s.IntN(x.Rank() - start)
	}
	return sampleOf(x, IntLit(int64(start)), IntLit(int64(end)))
}

func sampleTranspose(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	perm := make([]int64, x.Rank())
	for i, p := range s.Perm(x.Rank()) {
		perm[i] = int64(p - x.Rank()*s.IntN(2))
	}
	return sampleOf(x, s.orNone(IntsLit(perm...)))
}

func sampleSqueeze(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	axes := s.axes(x.Rank())
	for _, a := range axes {
		axis, _ := axisOf(a, x.Rank())
		x.Shape[axis] = N(1)
	}
	return sampleOf(x, s.orNone(IntsLit(axes...)))
}

func sampleUnsqueeze(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 3)
	more := s.IntN(3)
	axes := s.Perm(x.Rank() + more)[:more]
	ints := make([]int64, more)
	for i, a := range axes {
		ints[i] = int64(a - (x.Rank()+more)*s.IntN(2))
	}
	return sampleOf(x, IntsLit(ints...))
}

func sampleExpand(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 3)
	shape := append(s.dims(s.IntN(2)), x.Shape...)
	for i, d := range x.Shape {
		to := len(shape) - x.Rank() + i
		if d.Is(1) || s.chance(3) {
			x.Shape[i], shape[to] = N(1), s.dim()
		} else if s.chance(3) {
			shape[to] = N(-1)
		}
	}
	return sampleOf(x, DimsLit(shape...))
}

func sampleConcat(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	axis := s.axis(x.Rank())
	at, _ := axisOf(axis, x.Rank())
	c := sampleOf(x, IntLit(axis))
	for range s.IntN(3) {
		c.In = append(c.In, partTypes(x, at, []Dim{s.dim()})...)
	}
	return c
}

func sampleStack(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 3)
	c := sampleOf(x, IntLit(s.axis(x.Rank()+1)))
	for range s.IntN(3) {
		c.In = append(c.In, x)
	}
	return c
}

func sampleSplit(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	axis := s.axis(x.Rank())
	at, _ := axisOf(axis, x.Rank())
	if s.chance(2) {
		n := int64(1 + s.IntN(3))
		x.Shape[at] = x.Shape[at].Mul(N(n))
		return sampleOf(x, IntLit(n), None, IntLit(axis))
	}
	sizes := s.dims(1 + s.IntN(3))
	x.Shape[at] = N(0)
	for _, d := range sizes {
		x.Shape[at] = x.Shape[at].Add(d)
	}
	return sampleOf(x, IntLit(0), DimsLit(sizes...), IntLit(axis))
}

func sampleChunk(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 1, 4)
	return sampleOf(x, IntLit(int64(1+s.IntN(4))), IntLit(s.axis(x.Rank())))
}

func sampleTile(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 3)
	reps := make([]Dim, s.IntN(4))
	for i := range reps {
		reps[i] = N(int64(s.IntN(4)))
	}
	return sampleOf(x, DimsLit(reps...))
}

func sampleRepeat(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	axis := None
	if x.Rank() > 0 {
		axis = s.orNone(IntLit(s.axis(x.Rank())))
	}
	return sampleOf(x, DimLit(N(int64(s.IntN(4)))), axis)
}

func sampleSlice(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	axes := s.axes(x.Rank())
	var starts, ends []Dim
	steps := []int64{}
	for range axes {
		starts, ends = append(starts, s.bound()), append(ends, s.bound())
		step := int64(1 + s.IntN(3))
		steps = append(steps, step-2*step*int64(s.IntN(2)))
	}
	return sampleOf(x, DimsLit(starts...), DimsLit(ends...), IntsLit(axes...), IntsLit(steps...))
}

// bound draws a bound of a slice, sometimes outside or as far as there is.
func (s *sampler) bound() Dim {
	if s.chance(5) {
		return N(int64(s.IntN(3)-1) * farAway)
	}
	return N(int64(s.IntN(15) - 7))
}

func sampleFlip(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	return sampleOf(x, s.orNone(IntsLit(s.axes(x.Rank())...)))
}

func sampleRoll(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	axes := s.axes(x.Rank())
	if len(axes) == 0 || s.chance(3) {
		return sampleOf(x, DimsLit(s.bound()), None)
	}
	shifts := make([]Dim, len(axes))
	for i := range shifts {
		shifts[i] = s.bound()
	}
	if s.chance(4) {
		shifts = shifts[:1]
	}
	return sampleOf(x, DimsLit(shifts...), IntsLit(axes...))
}

// samplePad draws modes that take elements from x only where it has some.
func samplePad(r *rand.Rand) Call {
	s := &sampler{r}
	x := s.typ(AnyDType, 0, 4)
	mode := padModes[s.IntN(len(padModes))]
	pairs := make([]Dim, 2*x.Rank())
	for i, d := range x.Shape {
		n, _ := d.Const()
		if n == 0 && mode != "constant" {
			x.Shape[i], n = N(1), 1
		}
		// One side may be cut, and never all of it.
		pairs[2*i], pairs[2*i+1] = N(int64(s.IntN(5))-min(2, max(n-1, 0))), N(int64(s.IntN(8)))
	}
	return sampleOf(x, DimsLit(pairs...), StrLit(mode), DimLit(N(int64(s.IntN(2)))))
}
