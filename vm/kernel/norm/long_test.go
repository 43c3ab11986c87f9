package norm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// longRow is a row of three pieces, the last a short one, with odd elements at the seams.
func longRow() []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 2*long+77)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	x[long-1], x[long], x[2*long+76] = 9, -9, 9
	return x
}

// longCalls compute a row with all primitives that long rows are chopped for.
func longCalls(s *Scratch, l isa.Level, x []float32) map[string][]float32 {
	n := len(x)
	space, y := Space{1, n, 1}, &Layout{Space: Space{1, n, 1}, Times: 1}
	out := map[string][]float32{}
	one := func(name string, f func(dst []float32)) {
		dst := make([]float32, n)
		f(dst)
		out[name] = dst
	}
	w, b := make([]float32, n), make([]float32, n)
	for i := range w {
		w[i], b[i] = float32(i%7), float32(i%5)
	}
	one("softmax", func(dst []float32) { s.Softmax(l, space, 0, 1, dst, x) })
	one("log_softmax", func(dst []float32) { s.LogSoftmax(l, space, 0, 1, dst, x) })
	one("l2", func(dst []float32) { s.L2Normalize(l, space, 0, 1, dst, x, 1e-9) })
	one("layer", func(dst []float32) { s.LayerNorm(l, space, 0, 1, dst, x, Affine{}, 1e-5) })
	one("layer weight", func(dst []float32) { s.LayerNorm(l, space, 0, 1, dst, x, Affine{Weight: w}, 1e-5) })
	one("layer bias", func(dst []float32) { s.LayerNorm(l, space, 0, 1, dst, x, Affine{Bias: b}, 1e-5) })
	one("layer affine", func(dst []float32) { s.LayerNorm(l, space, 0, 1, dst, x, Affine{w, b}, 1e-5) })
	one("rms", func(dst []float32) { s.RMSNorm(l, space, 0, 1, dst, x, Affine{Weight: w}, 1e-5) })
	for f := Sum; f < reductions; f++ {
		var floats [1]float32
		var places [1]int64
		var truths [1]byte
		dst := Results{F32: floats[:]}
		switch f {
		case ArgMax, ArgMin, CountNonzero:
			dst = Results{I64: places[:]}
		case Any, All:
			dst = Results{Bool: truths[:]}
		}
		s.Fold(l, f, y, 0, 1, dst, x, 0)
		out["fold "+string('a'+rune(f))] = []float32{floats[0], float32(places[0]), float32(truths[0])}
	}
	return out
}

// TestLongRows: a row that is computed in pieces is that of one piece but for the last
// bits of sums, and the same at each level; places and extremes are those of the whole.
func TestLongRows(t *testing.T) {
	x := longRow()
	want := longCalls(new(Scratch), isa.Portable, x)
	for _, l := range append(Levels(), isa.Portable) {
		for name, got := range longCalls(new(Scratch), l, x) {
			for i, v := range got {
				if w := want[name][i]; math.Abs(float64(v-w)) > 1e-6*math.Abs(float64(w)) {
					t.Fatalf("%s at %v: element %d is %v, and %v in Go", name, l, i, v, w)
				}
			}
		}
	}
	sum, top := 0.0, math.Inf(-1)
	for _, v := range x {
		sum, top = sum+math.Exp(float64(v)), max(top, float64(v))
	}
	for _, i := range []int{0, long - 1, long, 2*long - 1, 2 * long, len(x) - 1} {
		if got, w := float64(want["softmax"][i]), math.Exp(float64(x[i]))/sum; math.Abs(got-w) > 1e-6*w {
			t.Errorf("softmax: element %d is %v, want %v", i, got, w)
		}
	}
	if got := want["fold "+string('a'+rune(ArgMax))][1]; got != long-1 {
		t.Errorf("the largest is at %v", got)
	}
	if got := want["fold "+string('a'+rune(ArgMin))][1]; got != long {
		t.Errorf("the smallest is at %v", got)
	}
	if got := want["fold "+string('a'+rune(Max))][0]; float64(got) != top {
		t.Errorf("the largest is %v, want %v", got, top)
	}
}

// TestHaltColumns: columns that are long together are left between two pieces, in
// mappings and reductions, and few elements in many stretches are too.
func TestHaltColumns(t *testing.T) {
	const rows, width = long / 2, 6
	x := make([]float32, rows*width)
	dst := make([]float32, len(x))
	asked := 0
	s := &Scratch{Halt: func() bool { asked++; return asked == 2 }}
	space := Space{1, rows, width}
	cases := map[string]func(){
		"softmax": func() { s.Softmax(isa.Best(), space, 0, space.Units(), dst, x) },
		"layernorm": func() {
			s.LayerNorm(isa.Best(), space, 0, space.Units(), dst, x, Affine{}, 1e-5)
		},
	}
	for f := range reductions {
		r := Results{F32: dst}
		if f >= ArgMax {
			r = Results{I64: make([]int64, width)}
		}
		y := Layout{space, 1, 0}
		cases[fmt.Sprint("fold ", f)] = func() { s.Fold(isa.Best(), f, &y, 0, y.Units(), r, x, 0) }
		if f < ArgMax {
			z := Layout{Space{2, 4, width}, rows / 8, 8 * width}
			cases[fmt.Sprint("stretches ", f)] = func() { s.Fold(isa.Best(), f, &z, 0, z.Units(), r, x, 0) }
		}
	}
	for name, run := range cases {
		asked = 0
		if run(); !s.Halted() || asked != 2 {
			t.Errorf("%s: halted %v, asked %d times", name, s.Halted(), asked)
		}
		if n := testing.AllocsPerRun(2, run); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// TestHalt: a long row is left between two pieces, which is told; a short one is not.
func TestHalt(t *testing.T) {
	x := longRow()
	asked := 0
	s := &Scratch{Halt: func() bool { asked++; return asked == 2 }}
	dst := make([]float32, len(x))
	s.Softmax(isa.Best(), Space{1, len(x), 1}, 0, 1, dst, x)
	if !s.Halted() || asked != 2 {
		t.Errorf("halted: %v, asked %d times", s.Halted(), asked)
	}
	s.Softmax(isa.Best(), Space{1, long, 1}, 0, 1, dst[:long], x[:long])
	if s.Halted() || asked != 2 {
		t.Errorf("a short row: halted %v, asked %d times", s.Halted(), asked)
	}
	if n := testing.AllocsPerRun(3, func() { s.Softmax(isa.Best(), Space{1, len(x), 1}, 0, 1, dst, x) }); n != 0 {
		t.Errorf("a long row allocates %v times", n)
	}
}
