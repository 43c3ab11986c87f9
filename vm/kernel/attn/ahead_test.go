package attn

import (
	"math/rand/v2"
	"testing"

	"github.com/npulang/npu/vm/kernel/isa"
)

// TestAhead: what is asked for are rows of the operands, all of those that the unit has a
// share in if there is time, and all keys and values over the units of a head.
func TestAhead(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 200 {
		s := Shape{Batch: 1 + r.IntN(2), Groups: 1 + r.IntN(3), S: 1 + r.IntN(300), T: fewKeys + r.IntN(100), D: 1 + r.IntN(100), E: 1 + r.IntN(100)}
		s.Heads = s.Groups * (1 + r.IntN(2))
		p := New(isa.Best(), s, 1, false)
		lies := func(heads, rows, cols int) Operand {
			o := Operand{Strides: Strides{Batch: rows * heads * cols, Head: cols, Row: heads * cols, Col: 1}}
			n := s.Batch * rows * heads * cols
			if r.IntN(2) == 0 {
				p.half = F16
			}
			o.Data, o.Halves = make([]float32, n), make([]uint16, n)
			return o
		}
		a := &Args{Q: lies(s.Heads, s.S, s.D), K: lies(s.Groups, s.T, s.D), V: lies(s.Groups, s.T, s.E), Out: lies(s.Heads, s.S, s.E)}
		asked := map[uintptr]bool{}
		var o outlook
		for u := range p.Units() {
			o.after(p, a, u)
			n := 1 + r.IntN(min(s.S, s.T, 40))
			for {
				at, row := o.take(n, 1)
				if at == 1 {
					break
				}
				for i := range n {
					asked[at+uintptr(i*row)] = true
				}
			}
		}
		for _, c := range []struct {
			o                            *Operand
			heads, rows, cols, firstHead int
			firstRow                     int
		}{
			{&a.Q, s.Heads, s.S, s.D, 0, p.queries}, {&a.Out, s.Heads, s.S, s.E, 0, p.queries},
			{&a.K, s.Groups, s.T, s.D, 1, 0}, {&a.V, s.Groups, s.T, s.E, 1, 0},
		} {
			for head := range s.Batch * c.heads {
				for row := range c.rows {
					at, size := c.o.start(p)
					at += uintptr(size * c.o.at(head/c.heads, head%c.heads, row))
					for from := 0; from < size*c.cols; from += askedBytes {
						wanted := head > 0 || c.firstHead == 0 && row >= c.firstRow
						if was := asked[at+uintptr(from)]; wanted && !was {
							t.Fatalf("%+v: row %d of head %d is not asked for", s, row, head)
						}
						delete(asked, at+uintptr(from))
					}
				}
			}
		}
		if len(asked) > 0 {
			t.Fatalf("%+v: %d places are no rows", s, len(asked))
		}
	}
}
