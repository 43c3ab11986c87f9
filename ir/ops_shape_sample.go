package ir

import (
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

// What the Samples of the shape, index, make and convolution operators draw
// from: small sizes, now and then 0 or 1, every dtype of a set.

// drawDim is a size of 0 to 5, 0 less often than the others.
func drawDim(r *rand.Rand) int64 { return min(int64(r.IntN(24)+3)/4, 5) }

func drawShape(r *rand.Rand, rank int) []Dim {
	shape := make([]Dim, rank)
	for i := range shape {
		shape[i] = N(drawDim(r))
	}
	return shape
}

func drawDType(r *rand.Rand, set DTypes) tensor.DType {
	for {
		if d := tensor.DTypes[r.IntN(len(tensor.DTypes))]; set.Has(d) {
			return d
		}
	}
}

// drawType is any type of the set with a rank of least to most.
func drawType(r *rand.Rand, set DTypes, least, most int) Type {
	return Type{drawDType(r, set), drawShape(r, least+r.IntN(most-least+1))}
}

// drawAxis is an axis of the rank, which is not 0, from either end.
func drawAxis(r *rand.Rand, rank int) int64 { return int64(r.IntN(2*rank) - rank) }

// drawAxes is some axes of the rank, each once, in any order, from either end.
func drawAxes(r *rand.Rand, rank int) []int64 {
	axes := []int64{}
	for _, a := range r.Perm(rank) {
		if r.IntN(2) == 0 {
			axes = append(axes, int64(a-rank*r.IntN(2)))
		}
	}
	return axes
}

// drawIndices is a tensor of integers lo to hi-1, and its type.
func drawIndices(r *rand.Rand, shape []Dim, lo, hi int64) (Type, *tensor.T) {
	t := Type{[]tensor.DType{tensor.I64, tensor.I32}[r.IntN(2)], shape}
	v := tensor.New(t.DType, t.Ints()...)
	for i := range v.Len() {
		v.SetInt(i, lo+r.Int64N(hi-lo))
	}
	return t, v
}

// orNone is l, or now and then None.
func orNone(r *rand.Rand, l Lit) Lit {
	if r.IntN(3) == 0 {
		return None
	}
	return l
}

func drawBool(r *rand.Rand) Lit { return BoolLit(r.IntN(2) == 0) }

// sampleOf is the call of one argument.
func sampleOf(x Type, attrs ...Lit) Call { return Call{In: []Type{x}, Attrs: attrs} }

func sampleReshape(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	n, _ := x.Elements().Const()
	a := int64(1)
	for k := int64(2); k <= 5; k++ {
		if n%k == 0 && r.IntN(2) == 0 {
			a = k
		}
	}
	shapes := [][]Dim{Dims(n), Dims(a, -1), Dims(n/a, 1, a), Dims(-1), append([]Dim{N(1)}, x.Shape...)}
	return sampleOf(x, DimsLit(shapes[r.IntN(len(shapes))]...))
}

func sampleFlatten(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	start := r.IntN(x.Rank() + 1)
	end := start
	if x.Rank() > start {
		end += r.IntN(x.Rank() - start)
	}
	return sampleOf(x, IntLit(int64(start)), IntLit(int64(end)))
}

func sampleTranspose(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	perm := make([]int64, x.Rank())
	for i, p := range r.Perm(x.Rank()) {
		perm[i] = int64(p - x.Rank()*r.IntN(2))
	}
	return sampleOf(x, orNone(r, IntsLit(perm...)))
}

func sampleSqueeze(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	axes := drawAxes(r, x.Rank())
	for _, a := range axes {
		axis, _ := axisOf(a, x.Rank())
		x.Shape[axis] = N(1)
	}
	return sampleOf(x, orNone(r, IntsLit(axes...)))
}

func sampleUnsqueeze(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 3)
	more := r.IntN(3)
	axes := r.Perm(x.Rank() + more)[:more]
	ints := make([]int64, more)
	for i, a := range axes {
		ints[i] = int64(a - (x.Rank()+more)*r.IntN(2))
	}
	return sampleOf(x, IntsLit(ints...))
}

func sampleExpand(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 3)
	shape := append(drawShape(r, r.IntN(2)), x.Shape...)
	for i, d := range x.Shape {
		to := len(shape) - x.Rank() + i
		if d.Is(1) || r.IntN(3) == 0 {
			x.Shape[i], shape[to] = N(1), N(drawDim(r))
		} else if r.IntN(3) == 0 {
			shape[to] = N(-1)
		}
	}
	return sampleOf(x, DimsLit(shape...))
}

func sampleConcat(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 1, 4)
	axis := drawAxis(r, x.Rank())
	at, _ := axisOf(axis, x.Rank())
	c := sampleOf(x, IntLit(axis))
	for range r.IntN(3) {
		c.In = append(c.In, partTypes(x, at, []Dim{N(drawDim(r))})...)
	}
	return c
}

func sampleStack(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 3)
	c := sampleOf(x, IntLit(drawAxis(r, x.Rank()+1)))
	for range r.IntN(3) {
		c.In = append(c.In, x)
	}
	return c
}

func sampleSplit(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 1, 4)
	axis := drawAxis(r, x.Rank())
	at, _ := axisOf(axis, x.Rank())
	if r.IntN(2) == 0 {
		n := int64(1 + r.IntN(3))
		x.Shape[at] = x.Shape[at].Mul(N(n))
		return sampleOf(x, IntLit(n), None, IntLit(axis))
	}
	sizes := drawShape(r, 1+r.IntN(3))
	x.Shape[at] = N(0)
	for _, d := range sizes {
		x.Shape[at] = x.Shape[at].Add(d)
	}
	return sampleOf(x, IntLit(0), DimsLit(sizes...), IntLit(axis))
}

func sampleChunk(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 1, 4)
	return sampleOf(x, IntLit(int64(1+r.IntN(4))), IntLit(drawAxis(r, x.Rank())))
}

func sampleTile(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 3)
	reps := make([]Dim, r.IntN(4))
	for i := range reps {
		reps[i] = N(int64(r.IntN(4)))
	}
	return sampleOf(x, DimsLit(reps...))
}

func sampleRepeat(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	axis := None
	if x.Rank() > 0 {
		axis = orNone(r, IntLit(drawAxis(r, x.Rank())))
	}
	return sampleOf(x, DimLit(N(int64(r.IntN(4)))), axis)
}

func sampleSlice(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	axes := drawAxes(r, x.Rank())
	var starts, ends []Dim
	steps := []int64{}
	for range axes {
		starts, ends = append(starts, drawBound(r)), append(ends, drawBound(r))
		step := int64(1 + r.IntN(3))
		steps = append(steps, step-2*step*int64(r.IntN(2)))
	}
	return sampleOf(x, DimsLit(starts...), DimsLit(ends...), IntsLit(axes...), IntsLit(steps...))
}

// drawBound is a bound of a slice, sometimes outside or as far as there is.
func drawBound(r *rand.Rand) Dim {
	if r.IntN(5) == 0 {
		return N(int64(r.IntN(3)-1) * farAway)
	}
	return N(int64(r.IntN(15) - 7))
}

func sampleFlip(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	return sampleOf(x, orNone(r, IntsLit(drawAxes(r, x.Rank())...)))
}

func sampleRoll(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	axes := drawAxes(r, x.Rank())
	if len(axes) == 0 || r.IntN(3) == 0 {
		return sampleOf(x, DimsLit(drawBound(r)), None)
	}
	shifts := make([]Dim, len(axes))
	for i := range shifts {
		shifts[i] = drawBound(r)
	}
	if r.IntN(4) == 0 {
		shifts = shifts[:1]
	}
	return sampleOf(x, DimsLit(shifts...), IntsLit(axes...))
}

// samplePad draws modes that take elements from x only where it has some.
func samplePad(r *rand.Rand) Call {
	x := drawType(r, AnyDType, 0, 4)
	mode := padModes[r.IntN(len(padModes))]
	pairs := make([]Dim, 2*x.Rank())
	for i, d := range x.Shape {
		n, _ := d.Const()
		if n == 0 && mode != "constant" {
			x.Shape[i], n = N(1), 1
		}
		// One side may be cut, and never all of it.
		pairs[2*i], pairs[2*i+1] = N(int64(r.IntN(5))-min(2, max(n-1, 0))), N(int64(r.IntN(8)))
	}
	return sampleOf(x, DimsLit(pairs...), StrLit(mode), DimLit(N(int64(r.IntN(2)))))
}
