package lower

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
)

// WriteStreams lists what each stream does in order, with the events between
// them: who is waited for, and who waits, in comments. Times are those of the
// simulation against the device's row.
func (p *Plan) WriteStreams(w io.Writer) error {
	var out page
	s := p.schedule()
	number := "1 stream"
	if n := len(p.Streams); n != 1 {
		number = fmt.Sprintf("%d streams", n)
	}
	out.line("streams @%s%s  on %s  %s  makespan %s%s", p.Name, p.with(), p.device.Name, number, micros(s.makespan), p.shares(s))
	waiters := p.waiters()
	var rows [][]string
	for i := range p.Streams {
		rows = append(rows, []string{"  " + streamName(p.Streams[i].Name)})
		for _, k := range p.Streams[i].Tasks {
			rows = append(rows, p.streamRows(k, s, waiters)...)
		}
	}
	out.columns("    ", []column{{right: true}}, rows)
	_, err := io.WriteString(w, out.String())
	return err
}

var plainStream = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// streamName is the name as it is, or, with characters that a listing cannot
// take, in quotes.
func streamName(name string) string {
	if plainStream.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// waiters lists by event the tasks that wait for it.
func (p *Plan) waiters() [][]int {
	list := make([][]int, len(p.Events))
	for i := range p.Tasks {
		for _, e := range p.Tasks[i].Waits {
			list[e] = append(list[e], i)
		}
	}
	return list
}

func (p *Plan) streamRows(k int, s *schedule, waiters [][]int) (rows [][]string) {
	t := &p.Tasks[k]
	for _, e := range t.Waits {
		rows = append(rows, []string{"", "wait", fmt.Sprintf("e%d", e), "", "", "// after" + taskList(p.Events[e:e+1])})
	}
	var made []string
	for _, o := range t.Out {
		made = append(made, p.name(o))
	}
	rows = append(rows, []string{micros(s.start[k]), fmt.Sprintf("t%d", k), t.unitText(), t.Name, strings.Join(made, " ")})
	if t.Post >= 0 {
		rows = append(rows, []string{"", "post", fmt.Sprintf("e%d", t.Post), "", "", "// for" + taskList(waiters[t.Post])})
	}
	return rows
}

// shares tells for each unit how much of the makespan it is busy: on a host, how
// long some worker does such work.
func (p *Plan) shares(s *schedule) string {
	var b strings.Builder
	for _, u := range []ir.Unit{ir.Cube, ir.Vector, ir.Scalar, ir.DMA} {
		if busy, any := p.busy(s, u); any {
			fmt.Fprintf(&b, "  %s %d%%", u, share(busy, s.makespan))
		}
	}
	return b.String()
}

// share is a part in percent, rounded.
func share(part, whole int64) int64 {
	if whole == 0 {
		return 0
	}
	return (part*100 + whole/2) / whole
}

// busy is how long at least one task is under way whose units hold u, and whether
// there is one.
func (p *Plan) busy(s *schedule, u ir.Unit) (sum int64, any bool) {
	var tasks []int
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Unit == u || t.Mixed && u == ir.Vector {
			tasks = append(tasks, i)
		}
	}
	slices.SortStableFunc(tasks, func(a, b int) int { return cmp.Compare(s.start[a], s.start[b]) })
	until := int64(0)
	for _, i := range tasks {
		from, to := max(s.start[i], until), s.start[i]+p.Tasks[i].ns
		sum += max(to-from, 0)
		until = max(until, to)
	}
	return sum, len(tasks) > 0
}

// micros prints nanoseconds as microseconds with one digit below ten.
func micros(ns int64) string {
	if ns > 0 && ns < 10_000 {
		return fmt.Sprintf("%d.%dus", ns/1000, ns%1000/100)
	}
	return fmt.Sprintf("%dus", (ns+500)/1000)
}
