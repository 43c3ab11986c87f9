package attn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/attn"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A problem is an attention with operands.
type problem struct {
	attn.Shape
	scale  float32
	causal bool
	args   attn.Args
	out    int // floats of the result's memory
}

const guard = 31

// laid makes an operand of [batch, heads, rows, cols] whose axes lie in memory in the
// given order, behind some other floats.
func laid(r *rand.Rand, dims [4]int, order []int) attn.Operand {
	s, n := strides(dims, order)
	data := make([]float32, n+guard)
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	return attn.Operand{Data: data[r.IntN(guard):][:n:n], Strides: s}
}

func strides(dims [4]int, order []int) (attn.Strides, int) {
	var at [4]int
	n := 1
	for i := 3; i >= 0; i-- {
		at[order[i]] = n
		n *= dims[order[i]]
	}
	return attn.Strides{Batch: at[0], Head: at[1], Row: at[2], Col: at[3]}, n
}

// orders are how operands lie: as they are, with heads beside each other in a row, and
// transposed.
var orders = [][]int{{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 3, 2}, {3, 2, 1, 0}}

type maskKind int

const (
	noMask maskKind = iota
	addRows
	addAll
	allowRows
	allowAll
	maskKinds
)

func newProblem(r *rand.Rand, s attn.Shape, causal bool, kind maskKind) *problem {
	order := func() []int { return orders[r.IntN(len(orders))] }
	p := &problem{Shape: s, causal: causal, scale: 1 / float32(math.Sqrt(float64(max(s.D, 1))))}
	p.args.Q = laid(r, [4]int{s.Batch, s.Heads, s.S, s.D}, order())
	p.args.K = laid(r, [4]int{s.Batch, s.Groups, s.T, s.D}, order())
	p.args.V = laid(r, [4]int{s.Batch, s.Groups, s.T, s.E}, order())
	out := [4]int{s.Batch, s.Heads, s.S, s.E}
	p.args.Out.Strides, p.out = strides(out, order())
	dims := [4]int{s.Batch, s.Heads, s.S, s.T}
	if kind == addRows || kind == allowRows {
		dims[1], dims[2] = 1, 1
	}
	m := laid(r, dims, orders[2*r.IntN(2)])
	if dims[2] == 1 {
		m.Head, m.Row = 0, 0
	}
	p.args.Mask.Strides = m.Strides
	hidden := func() bool { return r.IntN(3) == 0 }
	switch kind {
	case addRows, addAll:
		for i := range m.Data {
			if hidden() {
				m.Data[i] = []float32{float32(math.Inf(-1)), -50, 3}[r.IntN(3)]
			}
		}
		p.args.Mask.Add = m.Data
	case allowRows, allowAll:
		p.args.Mask.Allow = make([]byte, len(m.Data))
		for i := range m.Data {
			if !hidden() {
				p.args.Mask.Allow[i] = 1
			}
		}
	}
	return p
}

// want computes query i of a head in float64, as the operator does.
func (p *problem) want(batch, head, i int) []float64 {
	a, inf := &p.args, math.Inf(-1)
	group := head / (p.Heads / p.Groups)
	of := func(o attn.Operand, head, row, col int) float64 {
		return float64(o.Data[batch*o.Batch+head*o.Head+row*o.Row+col*o.Col])
	}
	scores, attends, top, total := make([]float64, p.T), false, inf, 0.0
	for j := range scores {
		for d := range p.D {
			scores[j] += of(a.Q, head, i, d) * of(a.K, group, j, d)
		}
		scores[j] *= float64(p.scale)
		at := batch*a.Mask.Batch + head*a.Mask.Head + i*a.Mask.Row + j*a.Mask.Col
		switch {
		case p.causal && j > i:
			scores[j] = inf
		case a.Mask.Add != nil:
			scores[j] += float64(a.Mask.Add[at])
			attends = attends || !math.IsInf(float64(a.Mask.Add[at]), -1)
		case a.Mask.Allow != nil && a.Mask.Allow[at] == 0:
			scores[j] = inf
		default:
			attends = true
		}
		top = max(top, scores[j])
	}
	y := make([]float64, p.E)
	if !attends {
		return y
	}
	for j, s := range scores {
		scores[j] = math.Exp(s - top)
		total += scores[j]
	}
	for e := range y {
		for j, s := range scores {
			y[e] += s / total * of(a.V, group, j, e)
		}
	}
	return y
}

// run computes the problem by ranges of units, and looks after what lies around the
// result.
func (p *problem) run(t *testing.T, x *attn.Scratch, level isa.Level, by int) []float32 {
	t.Helper()
	all := make([]float32, guard+p.out+guard)
	for i := range all {
		all[i] = 77
	}
	p.args.Out.Data = all[guard : guard+p.out : guard+p.out]
	plan := attn.New(level, p.Shape, p.scale, p.causal)
	x.Begin()
	for hi := plan.Units(); hi > 0; hi -= by {
		x.Run(plan, &p.args, max(hi-by, 0), hi)
	}
	for i, v := range all {
		if (i < guard || i >= guard+p.out) && v != 77 {
			t.Fatalf("%v: written outside of the result", p.Shape)
		}
	}
	return all[guard : guard+p.out]
}

// compare checks a result against float64.
func (p *problem) compare(t *testing.T, name string, got []float32) {
	t.Helper()
	o := p.args.Out
	most := 1.0
	for b := range p.Batch {
		for h := range p.Heads {
			for i := range p.S {
				for e, w := range p.want(b, h, i) {
					v := float64(got[b*o.Batch+h*o.Head+i*o.Row+e*o.Col])
					if math.Abs(w) > most && !math.IsInf(w, 0) {
						most = math.Abs(w)
					}
					if !(math.Abs(v-w) <= 3e-6*most) && !(v != v && w != w) && v != w {
						t.Fatalf("%s: element %d of query %d of head %d, %d is %v, want %v", name, e, i, h, b, v, w)
					}
				}
			}
		}
	}
}

// same compares bits; NaN is NaN.
func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(v, w float32) bool {
		return math.Float32bits(v) == math.Float32bits(w) || v != v && w != w
	})
}

// check compares every level with float64, ranges of units with the whole, and the
// levels with each other.
func (p *problem) check(t *testing.T, name string) {
	t.Helper()
	var x attn.Scratch
	var first []float32
	for _, level := range isa.Levels() {
		got := p.run(t, &x, level, 1<<30)
		p.compare(t, fmt.Sprint(name, " ", level, " ", p.Shape), got)
		if by := p.run(t, &x, level, 1); !same(by, got) {
			t.Fatalf("%s %v %v: other bits by units", name, level, p.Shape)
		}
		if level == isa.Portable {
			continue
		}
		if first == nil {
			first = got
		}
		if !same(first, got) {
			t.Fatalf("%s %v: %v gives other bits", name, p.Shape, level)
		}
	}
}

// samples is fewer where a processor is emulated.
func samples(n int) int {
	if testing.Short() {
		return n / 8
	}
	return n
}

func TestAttention(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := []attn.Shape{
		{1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 3, 0, 2, 2}, {1, 1, 1, 2, 3, 0, 4}, {1, 1, 1, 0, 3, 2, 4}, {1, 1, 1, 3, 2, 2, 0},
		{1, 1, 1, 97, 31, 16, 16}, {1, 2, 1, 200, 33, 5, 70}, {1, 2, 2, 7, 1024, 8, 8}, {1, 1, 1, 20, 1025, 8, 3},
		{1, 2, 1, 13, 1600, 4, 20}, {1, 1, 1, 600, 1100, 3, 2}, {1, 2, 1, 1, 1100, 8, 32}, {2, 3, 3, 5, 40, 7, 64},
		{1, 1, 1, 1, 16, 16, 3}, {2, 2, 2, 2, 33, 32, 5}, {1, 2, 1, 1, 1030, 48, 32}, {1, 1, 1, 2, 1552, 16, 7}, {1, 2, 2, 1, 47, 64, 64},
	}
	for range samples(120) {
		n := func(most int) int { return 1 + r.IntN(most) }
		groups := n(2)
		shapes = append(shapes, attn.Shape{Batch: n(2), Heads: groups * n(3), Groups: groups, S: n(40), T: n(80), D: n(40), E: n(40)})
	}
	for range samples(40) { // few queries
		n := func(most int) int { return 1 + r.IntN(most) }
		shapes = append(shapes, attn.Shape{Batch: n(2), Heads: 2, Groups: n(2), S: n(2), T: n(100), D: 16 * n(3), E: 16 * n(3)})
	}
	for _, s := range shapes {
		if testing.Short() && s.S*s.T > 1<<14 {
			continue
		}
		for kind := range maskKinds {
			newProblem(r, s, r.IntN(2) == 0, kind).check(t, fmt.Sprint("mask ", kind))
		}
	}
}

// TestHidden: rows that may attend to nothing are 0, in one block of keys and in several.
func TestHidden(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, keys := range []int{1, 5, 40, 1100} {
		for _, kind := range []maskKind{addAll, allowAll, addRows, allowRows} {
			p := newProblem(r, attn.Shape{Batch: 1, Heads: 2, Groups: 1, S: 9, T: keys, D: 4, E: 5}, false, kind)
			m := &p.args.Mask
			for i := range m.Add {
				m.Add[i] = float32(math.Inf(-1))
			}
			clear(m.Allow)
			if m.Row != 0 { // one key for one query, the last one
				at := m.Head + 4*m.Row + (keys-1)*m.Col
				if m.Add != nil {
					m.Add[at] = 2
				} else {
					m.Allow[at] = 3
				}
			}
			p.check(t, "hidden")
		}
	}
}

// TestSpecial: infinities and NaN in every operand, where they are seen and where they
// are hidden.
func TestSpecial(t *testing.T) {
	specials := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-42, 1e15}
	r := rand.New(rand.NewPCG(5, 6))
	for range samples(400) {
		keys := []int{3, 40, 1100}[r.IntN(3)]
		p := newProblem(r, attn.Shape{Batch: 1, Heads: 1, Groups: 1, S: 5, T: keys, D: 3, E: 4}, r.IntN(2) == 0, maskKind(r.IntN(int(maskKinds))))
		for _, data := range [][]float32{p.args.Q.Data, p.args.K.Data, p.args.V.Data, p.args.Mask.Add} {
			if len(data) > 0 && r.IntN(2) == 0 {
				data[r.IntN(len(data))] = specials[r.IntN(len(specials))]
			}
		}
		p.check(t, "special")
	}
}
