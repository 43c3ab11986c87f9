package lower

import (
	"fmt"
	"io"

	"github.com/npulang/npu/lower/place"
)

// WriteMemorySVG draws the arena: tasks to the right, offsets upwards, a rectangle
// for each value that lies there.
func (p *Plan) WriteMemorySVG(w io.Writer) error {
	problem, offsets, names := &place.Problem{Align: p.Align}, []int64(nil), []string(nil)
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Space != Arena || b.Base >= 0 || b.Local {
			continue
		}
		s := slot{size: roundUp(b.Size, p.Align), first: b.First, last: b.Last, kept: b.Kept}
		problem.Buffers = append(problem.Buffers, s.life(p))
		offsets, names = append(offsets, b.Offset), append(names, p.place(i))
	}
	d := place.Drawing{
		Title:   fmt.Sprintf("memory @%s%s  arena %d  sum %d  align %d  plan %s", p.Name, p.with(), p.Arena, p.Sum, p.Align, p.Method),
		Problem: problem, Names: names, Tick: "t",
		Plan: &place.Plan{Offsets: offsets, Height: p.Arena, Bound: p.MaxLive, Sum: p.Sum, Method: p.Method},
	}
	return d.Draw(w)
}
