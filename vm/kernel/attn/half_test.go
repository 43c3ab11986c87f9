package attn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/npulang/npu/vm/kernel/attn"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// A halfType is a type of halves and how it rounds.
type halfType struct {
	name string
	*attn.Half
	of    func(float32) uint16
	float func(uint16) float32
	ulp   float64
}

var halfTypes = []halfType{
	{"bf16", attn.BF16, narrow.BF16Of, narrow.BF16, 0x1p-8},
	{"f16", attn.F16, narrow.F16Of, narrow.F16, 0x1p-11},
}

// rounded makes halves of floats, which become what those are.
func (h *halfType) rounded(data []float32) []uint16 {
	if data == nil {
		return nil
	}
	to := make([]uint16, len(data))
	for i, v := range data {
		to[i] = h.of(v)
		data[i] = h.float(to[i])
	}
	return to
}

// runHalves computes the problem with its operands as halves, and looks after what lies
// around the result.
func (p *problem) runHalves(t *testing.T, h *halfType, x *attn.Scratch, level isa.Level, by int) []uint16 {
	t.Helper()
	a := p.args
	for _, o := range []*attn.Operand{&a.Q, &a.K, &a.V} {
		o.Halves, o.Data = h.rounded(o.Data), nil
	}
	a.Mask.Halves, a.Mask.Add = h.rounded(a.Mask.Add), nil
	all := slices.Repeat([]uint16{0x4242}, guard+p.out+guard)
	a.Out.Halves = all[guard : guard+p.out : guard+p.out]
	plan := attn.New(level, p.Shape, p.scale, p.causal).OfHalves(h.Half)
	x.Begin()
	for hi := plan.Units(); hi > 0; hi -= by {
		x.Run(plan, &a, max(hi-by, 0), hi)
	}
	for i, v := range all {
		if (i < guard || i >= guard+p.out) && v != 0x4242 {
			t.Fatalf("%v: written outside of the result", p.Shape)
		}
	}
	return all[guard : guard+p.out]
}

// TestHalves: operands of two bytes are computed as floats of four, and rounded once.
func TestHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var x attn.Scratch
	for i := range samples(200) {
		h := &halfTypes[i%2]
		n := func(most int) int { return r.IntN(most + 1) }
		groups := 1 + n(1)
		s := attn.Shape{Batch: 1 + n(1), Heads: groups * (1 + n(1)), Groups: groups, S: n(30), T: n(60), D: n(40), E: n(40)}
		if i%20 == 0 {
			s = attn.Shape{Batch: 1, Heads: 2, Groups: 1, S: 14, T: 1030, D: 9, E: 17}
		}
		p := newProblem(r, s, r.IntN(2) == 0, maskKind(r.IntN(int(maskKinds))))
		var first []uint16
		for _, level := range isa.Levels() {
			got := p.runHalves(t, h, &x, level, 1<<30)
			name := fmt.Sprint(h.name, " ", level, " ", s)
			p.compareHalves(t, h, name, got)
			if by := p.runHalves(t, h, &x, level, 1); !slices.Equal(by, got) {
				t.Fatalf("%s: other bits by units", name)
			}
			if level == isa.Portable {
				continue
			}
			if first == nil {
				first = got
			}
			if !slices.Equal(first, got) {
				t.Fatalf("%s: other bits than another level", name)
			}
		}
	}
}

// compareHalves checks a result against float64 of the same operands.
func (p *problem) compareHalves(t *testing.T, h *halfType, name string, got []uint16) {
	t.Helper()
	o := p.args.Out
	for b := range p.Batch {
		for head := range p.Heads {
			for i := range p.S {
				for e, w := range p.want(b, head, i) {
					v := float64(h.float(got[b*o.Batch+head*o.Head+i*o.Row+e*o.Col]))
					if !(math.Abs(v-w) <= 1e-5+h.ulp*math.Abs(w)) && !(v != v && w != w) {
						t.Fatalf("%s: element %d of query %d of head %d, %d is %v, want %v", name, e, i, head, b, v, w)
					}
				}
			}
		}
	}
}
