package attn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestTiles: the generator of the kernels counts on these offsets.
func TestTiles(t *testing.T) {
	var w weightTile
	offsets(t, "weightTile", unsafe.Offsetof(w.q), unsafe.Offsetof(w.row), unsafe.Offsetof(w.k), unsafe.Offsetof(w.deep), unsafe.Offsetof(w.c), unsafe.Offsetof(w.ldc),
		unsafe.Offsetof(w.n), unsafe.Offsetof(w.seen), unsafe.Offsetof(w.step), unsafe.Offsetof(w.mask), unsafe.Offsetof(w.maskRow), unsafe.Offsetof(w.first),
		unsafe.Offsetof(w.magic), unsafe.Offsetof(w.sums), unsafe.Offsetof(w.ahead), unsafe.Offsetof(w.aheadRow))
	var v valueTile
	offsets(t, "valueTile", unsafe.Offsetof(v.a), unsafe.Offsetof(v.row), unsafe.Offsetof(v.b), unsafe.Offsetof(v.panel), unsafe.Offsetof(v.keys), unsafe.Offsetof(v.c),
		unsafe.Offsetof(v.ldc), unsafe.Offsetof(v.cols), unsafe.Offsetof(v.add), unsafe.Offsetof(v.sums), unsafe.Offsetof(v.factors))
}

func offsets(t *testing.T, name string, fields ...uintptr) {
	for i, at := range fields {
		if at != uintptr(8*i) {
			t.Errorf("field %d of %s lies at %d, the kernels look for it at %d", i, name, at, 8*i)
		}
	}
}

// stepwise is the plan without kernels of tiles.
func stepwise(p *Plan) *Plan {
	q, l := *p, *p.loops
	clear(l.weights[:])
	q.loops = &l
	return &q
}

// TestGuess: bases that were guessed leave the bits of those that were found, also where
// some or all guesses were bad: keys behind the first ones have much larger scores, the
// first ones are hidden, or scores are too large.
func TestGuess(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	s := Shape{Batch: 1, Heads: 2, Groups: 1, S: 25, T: 70, D: 18, E: 21}
	for _, level := range isa.Levels() {
		for _, c := range []struct {
			name   string
			far    float32 // scores of the last keys
			hidden int     // keys at the beginning
			long   float32 // queries, every seventh
			causal bool
			bad    bool // guesses
		}{
			{name: "good"}, {name: "good by order", causal: true},
			{name: "far", far: 20, bad: true}, {name: "far by order", far: 20, causal: true, bad: true},
			{name: "hidden", hidden: 20, bad: true}, {name: "nearly hidden", hidden: 15}, {name: "long", long: 1e6, bad: true},
		} {
			floats := func(n int) []float32 {
				x := make([]float32, n)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				return x
			}
			q, k := floats(s.Heads*s.S*s.D), floats(s.T*s.D)
			for i := range q {
				if i/s.D%7 == 3 && c.long != 0 {
					q[i] *= c.long
				}
			}
			for i := range k {
				if i/s.D >= 20 && c.far != 0 {
					k[i] *= c.far
				}
			}
			a := Args{
				Q: Operand{Data: q, Strides: Strides{Head: s.S * s.D, Row: s.D, Col: 1}},
				K: Operand{Data: k, Strides: Strides{Row: s.D, Col: 1}},
				V: Operand{Data: floats(s.T * s.E), Strides: Strides{Row: s.E, Col: 1}},
			}
			if c.hidden > 0 {
				a.Mask = Mask{Add: make([]float32, s.T), Strides: Strides{Col: 1}}
				for i := range c.hidden {
					a.Mask.Add[i] = []float32{float32(math.Inf(-1)), -1e4}[i%2]
				}
			}
			var x Scratch
			run := func(p *Plan) []float32 {
				x.Begin()
				a.Out = Operand{Data: make([]float32, s.Heads*s.S*s.E), Strides: Strides{Head: s.S * s.E, Row: s.E, Col: 1}}
				x.Run(p, &a, 0, p.Units())
				return a.Out.Data
			}
			p := New(level, s, 0.5, c.causal)
			want, got := run(stepwise(p)), run(p)
			if !slices.Equal(want, got) {
				t.Errorf("%v, %s: other bits", level, c.name)
			}
			if bad := len(x.again) > 0; bad != c.bad && p.loops.weights[1] != nil {
				t.Errorf("%v, %s: some rows were computed anew: %v", level, c.name, bad)
			}
		}
	}
}
