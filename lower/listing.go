package lower

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A page gathers the lines of a listing.
type page struct {
	strings.Builder
}

func (p *page) line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// maxCell bounds what widens a column that holds a list: after a longer cell the
// rest of its own row stands further to the right, and no other row does.
const maxCell = 24

// A column is one of a listing. The zero value is as wide as its widest cell, and
// aligned to the left.
type column struct {
	right bool
	list  bool // cells longer than maxCell do not count for the width
}

// columns writes rows in the form of a listing. A row of one cell is a heading.
func (p *page) columns(indent string, form []column, rows [][]string) {
	width := widths(form, rows)
	for _, row := range rows {
		if len(row) == 1 {
			p.line("%s", row[0])
			continue
		}
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			if i < len(form) && form[i].right {
				fmt.Fprintf(&b, "%*s", width[i], cell)
			} else {
				fmt.Fprintf(&b, "%-*s", width[i], cell)
			}
		}
		p.line("%s%s", indent, b.String())
	}
}

// widths says how wide the columns are that rows have.
func widths(form []column, rows [][]string) (width []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			n := utf8.RuneCountInString(cell)
			if long := i < len(form) && form[i].list && n > maxCell; !long && len(row) > 1 {
				width[i] = max(width[i], n)
			}
		}
	}
	return width
}

// with tells the sizes that a listing was made for.
func (p *Plan) with() string {
	var b strings.Builder
	for i, e := range p.Env {
		fmt.Fprintf(&b, "%s%s=%d", []string{"  with ", " "}[min(i, 1)], e.Symbol, e.Size)
	}
	return b.String()
}

// WriteTasks lists the tasks: unit, name, its work, the tasks whose results it
// reads, and what it makes of what. The tasks of a branch or a loop are below the
// task that runs it.
func (p *Plan) WriteTasks(w io.Writer) error {
	var out page
	out.line("tasks @%s%s", p.Name, p.with())
	out.columns("  ", []column{5: {list: true}}, p.taskRows(""))
	p.writeViews(&out)
	_, err := io.WriteString(w, out.String())
	return err
}

func (p *Plan) taskRows(prefix string) [][]string {
	var rows [][]string
	for i := range p.Tasks {
		t := &p.Tasks[i]
		after := ""
		if len(t.After) > 0 {
			after = "after" + taskList(t.After)
		}
		rows = append(rows, []string{
			fmt.Sprintf("%st%d", prefix, i), t.unitText(), t.Name,
			fmt.Sprintf("flops %d", t.Cost.Flops), fmt.Sprintf("bytes %d", t.Cost.In+t.Cost.Out), after, p.makes(t),
		})
		if t.Region == nil || t.Region.Kind == Fused {
			continue // a fused region is one kernel; the IR shows what it holds
		}
		for k, body := range t.Region.Bodies {
			label := regionLabels[t.Region.Kind][k]
			rows = append(rows, body.taskRows(fmt.Sprintf("%st%d.%s", prefix, i, label))...)
		}
	}
	return rows
}

// regionLabels names the bodies in front of their tasks: t3.loop.t0.
var regionLabels = map[RegionKind][]string{If: {"then.", "else."}, Loop: {"loop.", "while."}}

func taskList(tasks []int) string {
	var b strings.Builder
	for _, t := range tasks {
		fmt.Fprintf(&b, " t%d", t)
	}
	return b.String()
}

// makes prints %n <- %x %w.
func (p *Plan) makes(t *Task) string {
	var b strings.Builder
	for _, o := range t.Out {
		b.WriteString(p.name(o) + " ")
	}
	b.WriteString("<-")
	for _, i := range t.In {
		b.WriteString(" " + p.name(i))
	}
	return b.String()
}

// name is the printed name of a buffer's value; _ for an absent argument and a
// result that nobody reads.
func (p *Plan) name(b int) string {
	if b < 0 || p.Buffers[b].Name == "" {
		return "_"
	}
	return p.Buffers[b].Name
}
