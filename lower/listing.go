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

// columns writes rows, each column as wide as its widest cell, those in right
// aligned to the right. A row of one cell is a heading.
func (p *page) columns(indent string, right []bool, rows [][]string) {
	var width []int
	for _, row := range rows {
		if len(row) == 1 {
			continue
		}
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
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
			if i < len(right) && right[i] {
				fmt.Fprintf(&b, "%*s", width[i], cell)
			} else {
				fmt.Fprintf(&b, "%-*s", width[i], cell)
			}
		}
		p.line("%s%s", indent, b.String())
	}
}

// with tells the sizes that a listing was made for.
func (p *Plan) with() string {
	var b strings.Builder
	for i, e := range p.Env {
		fmt.Fprintf(&b, "%s%s=%d", []string{"  with ", " "}[min(i, 1)], e.Symbol, e.Size)
	}
	return b.String()
}

// WriteTasks lists the tasks: unit, name, what each makes of what, its work,
// and the tasks whose results it reads. The tasks of a branch or a loop are below
// the task that runs it.
func (p *Plan) WriteTasks(w io.Writer) error {
	var out page
	out.line("tasks @%s%s", p.Name, p.with())
	out.columns("  ", []bool{}, p.taskRows(""))
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
			fmt.Sprintf("%st%d", prefix, i), t.Unit.String(), t.Name, p.makes(t),
			fmt.Sprintf("flops %d", t.Cost.Flops), fmt.Sprintf("bytes %d", t.Cost.In+t.Cost.Out), after,
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

// regionLabels names the bodies in front of their tasks: t3.body.t0.
var regionLabels = map[RegionKind][]string{If: {"then.", "else."}, Loop: {"body.", "cond."}}

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

// WriteStreams lists what each stream does in order, with the events between
// them. A wait is followed by the task that posts, in a comment.
func (p *Plan) WriteStreams(w io.Writer) error {
	var out page
	s := p.schedule()
	on := ""
	if p.device != nil {
		on = "  on " + p.device.Name
	}
	out.line("streams @%s%s%s  makespan %s%s", p.Name, p.with(), on, micros(s.makespan), p.shares(s))
	var rows [][]string
	for i := range p.Streams {
		rows = append(rows, []string{"  " + p.Streams[i].Name})
		for _, k := range p.Streams[i].Tasks {
			rows = append(rows, p.streamRows(k, s)...)
		}
	}
	out.columns("    ", []bool{true}, rows)
	_, err := io.WriteString(w, out.String())
	return err
}

func (p *Plan) streamRows(k int, s *schedule) (rows [][]string) {
	t := &p.Tasks[k]
	for _, e := range t.Waits {
		rows = append(rows, []string{"", "wait", fmt.Sprintf("e%d", e), "", fmt.Sprintf("// t%d", p.Events[e])})
	}
	var made []string
	for _, o := range t.Out {
		made = append(made, p.name(o))
	}
	rows = append(rows, []string{micros(s.start[k]), fmt.Sprintf("t%d", k), t.Name, strings.Join(made, " ")})
	if t.Post >= 0 {
		rows = append(rows, []string{"", "post", fmt.Sprintf("e%d", t.Post)})
	}
	return rows
}

// shares tells how much of the makespan each stream is busy.
func (p *Plan) shares(s *schedule) string {
	var b strings.Builder
	for i := range p.Streams {
		percent := int64(0)
		if s.makespan > 0 {
			percent = (s.busy[i]*100 + s.makespan/2) / s.makespan
		}
		fmt.Fprintf(&b, "  %s %d%%", p.Streams[i].Name, percent)
	}
	return b.String()
}

// micros prints nanoseconds as microseconds with one digit below ten.
func micros(ns int64) string {
	if ns > 0 && ns < 10_000 {
		return fmt.Sprintf("%d.%dus", ns/1000, ns%1000/100)
	}
	return fmt.Sprintf("%dus", (ns+500)/1000)
}
