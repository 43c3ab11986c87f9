package lower

import (
	"fmt"
	"io"
	"strings"
)

// maxMatrix bounds the columns of the memory listing: with more tasks than a
// terminal is wide, the range is given in words.
const maxMatrix = 24

// WriteMemory lists where each value lies in the arena and from which task to
// which, in order of offsets at first use. The header is the plan's report: the
// arena beside the largest sum of live bytes and the sum without reuse.
func (p *Plan) WriteMemory(w io.Writer) error {
	var out page
	out.line("memory @%s%s  arena %d  max-live %d  sum %d  align %d", p.Name, p.with(), p.Arena, p.MaxLive, p.Sum, p.Align)
	rows := [][]string{{"value", "offset", "size", p.taskHeads(), ""}}
	digits := max(5, len(fmt.Sprintf("%x", p.Arena)))
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if b.Space != Arena || b.Base >= 0 {
			continue
		}
		note := ""
		if b.Reuses >= 0 {
			note = "reuses " + p.place(b.Reuses)
		}
		rows = append(rows, []string{p.place(i), fmt.Sprintf("0x%0*x", digits, b.Offset), fmt.Sprint(b.Size), p.life(b), note})
	}
	if len(rows) > 1 {
		out.columns("  ", []bool{false, false, true}, rows)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// place names a buffer of the arena: a value, a frame, or a result that nobody
// reads.
func (p *Plan) place(i int) string {
	b := &p.Buffers[i]
	if b.Name != "" {
		return b.Name
	}
	if b.First < 0 {
		return "_"
	}
	return fmt.Sprintf("unread(t%d)", b.First)
}

func (p *Plan) taskHeads() string {
	if len(p.Tasks) > maxMatrix {
		return "tasks"
	}
	var heads []string
	for i := range p.Tasks {
		heads = append(heads, fmt.Sprintf("t%d", i))
	}
	return strings.Join(heads, " ")
}

func (p *Plan) life(b *Buffer) string {
	if len(p.Tasks) > maxMatrix {
		return fmt.Sprintf("t%d to t%d", b.First, b.Last)
	}
	var cells []string
	for i := range p.Tasks {
		mark := "."
		if b.First <= i && i <= b.Last {
			mark = "#"
		}
		cells = append(cells, fmt.Sprintf("%-*s", len(fmt.Sprintf("t%d", i)), mark))
	}
	return strings.Join(cells, " ")
}
