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
// arena beside the largest sum of live bytes and the sum without reuse, how far the
// arena is below that and, as fragmentation, above this; and the bytes that are not
// in the arena.
func (p *Plan) WriteMemory(w io.Writer) error {
	var out page
	out.line("memory @%s%s  arena %d  lower-bound %d (%s)  sum %d  saved %s  fragmentation %s  align %d  plan %s",
		p.Name, p.with(), p.Arena, p.MaxLive, p.why(), p.Sum, percent(p.Sum-p.Arena, p.Sum), percent(p.Arena-p.MaxLive, p.Arena), p.Align, p.Method)
	out.line("  inputs %d  weights %d  outputs %d%s", p.bytesOf(p.Inputs), p.weightBytes(), p.bytesOf(p.Outputs), p.frameNote())
	rows := [][]string{{"value", "offset", "size", p.taskHeads(), ""}}
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Base < 0 && (b.Space == Arena || b.Given) {
			rows = append(rows, []string{p.place(i), p.offset(b), fmt.Sprint(b.Size), p.life(b), p.remark(b)})
		}
	}
	if len(rows) > 1 {
		out.columns("  ", []column{2: {right: true}}, rows)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// frameNote tells of the frames behind the arena.
func (p *Plan) frameNote() string {
	if p.Frames == 0 {
		return ""
	}
	return fmt.Sprintf("  frames %d, for fused regions that no kernel computes as a whole", p.Frames)
}

// why says what the lower bound is.
func (p *Plan) why() string {
	if p.Proved {
		return "no plan of this order is lower"
	}
	return "largest sum that lives at once"
}

// offset says where a buffer lies.
func (p *Plan) offset(b *Buffer) string {
	if b.Space != Arena {
		return "-"
	}
	return fmt.Sprintf("0x%0*x", max(5, len(fmt.Sprintf("%x", p.Arena+p.Frames))), b.Offset)
}

// remark says whose place a buffer has.
func (p *Plan) remark(b *Buffer) string {
	var notes []string
	if b.Space == Output {
		notes = append(notes, "in the place of result "+p.Outputs[b.Slot].Name)
	}
	if b.Takes >= 0 && b.Space == Arena {
		notes = append(notes, "in place of "+p.place(b.Takes))
	}
	if b.Reuses >= 0 {
		notes = append(notes, "reuses "+p.place(b.Reuses))
	}
	if b.Kept {
		notes = append(notes, "kept apart")
	}
	return strings.Join(notes, ", ")
}

func (p *Plan) bytesOf(ports []Port) (n int64) {
	for _, port := range ports {
		n += p.Buffers[port.Buffer].Size
	}
	return n
}

func (p *Plan) weightBytes() (n int64) {
	for _, w := range p.Weights {
		bytes, _ := w.Type.Bytes().Const()
		n += bytes
	}
	return n
}

// percent prints a share with one digit behind the point, if it has any.
func percent(part, of int64) string {
	if of == 0 {
		return "0%"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*float64(part)/float64(of)), ".0") + "%"
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
