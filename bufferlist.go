package npu

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lower/place"
)

// A BufferList is a problem of memory planning as a file tells it: buffers that
// are alive for a range of time and want a place in one arena.
type BufferList struct {
	IDs     []string // by buffer
	Problem BufferProblem

	name string
}

// A BufferProblem is what a list asks for, a BufferPlan where its buffers lie, and
// a BufferEffort how long to search for a plan.
type (
	BufferProblem = place.Problem
	BufferPlan    = place.Plan
	BufferEffort  = place.Effort
)

// The columns of a list, and the one that a plan adds.
var bufferColumns = []string{"id", "lower", "upper", "size"}

const offsetColumn = "offset"

// Bounds of a list: bytes of the file, and sizes or times, which leave room for
// rounding.
const (
	maxBufferFile = 256 << 20
	maxBufferSize = 1 << 60
)

// ReadBuffers reads a list, which messages call by name, as comma-separated
// values with a header:
//
//	id,lower,upper,size
//	b1,0,3,4096
//
// A buffer is alive from lower up to, and without, upper; size is in bytes. All
// three are whole numbers from 0 on. An id is any text that no other buffer has.
// Columns may stand in any order; an offset, as a plan has it, is left aside, and
// other columns are errors, since a plan would not heed what they say. Mistakes
// are reported together, up to a hundred.
func ReadBuffers(r io.Reader, name string) (*BufferList, error) {
	b, err := readBounded(name, r, maxBufferFile, "split the problem where nothing is alive")
	if err != nil {
		return nil, asDiagnostics(err)
	}
	text := strings.TrimPrefix(string(b), "\ufeff")
	f := &bufferFile{src: diag.NewSource(name, text), csv: csv.NewReader(strings.NewReader(text)),
		list: &BufferList{name: name}, seen: map[string]int{}}
	f.csv.FieldsPerRecord = -1
	f.csv.ReuseRecord = true
	f.read()
	if err := f.errs.Err(); err != nil {
		return nil, err
	}
	return f.list, nil
}

// A bufferFile is a list that is being read.
type bufferFile struct {
	src    *diag.Source
	csv    *csv.Reader
	list   *BufferList
	column map[string]int // where each column stands
	width  int
	seen   map[string]int // the line of each id
	begins []int          // by line: its offset in the text
	errs   diag.List
}

func (f *bufferFile) read() {
	if at := strings.IndexByte(f.src.Text, 0); at >= 0 {
		f.fail(diag.Span{Src: f.src, Start: at, End: at + 1}, "bad-file", "a NUL byte: this is no text file")
		return
	}
	header, err := f.csv.Read()
	if err != nil || !f.readHeader(header) {
		f.broken(err)
		return
	}
	for len(f.errs) < diag.MostErrors {
		record, err := f.csv.Read()
		if err != nil {
			f.broken(err)
			return
		}
		f.readBuffer(record)
	}
}

// broken reports what is no list of values; the end of the file is fine, unless
// there is no header.
func (f *bufferFile) broken(err error) {
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		at := min(f.lineStart(parse.Line)+max(parse.Column-1, 0), len(f.src.Text))
		f.fail(diag.Span{Src: f.src, Start: at, End: min(at+1, len(f.src.Text))}, "syntax", "no comma-separated values: %v", parse.Err)
	case errors.Is(err, io.EOF) && f.column == nil:
		f.fail(diag.Span{Src: f.src}, "bad-file", "the file is empty").Helps = []string{headerHelp}
	}
}

const headerHelp = "the first line names the columns: id,lower,upper,size"

// readHeader notes where the columns stand.
func (f *bufferFile) readHeader(header []string) bool {
	f.column, f.width = map[string]int{}, len(header)
	for i, word := range header {
		name := strings.TrimSpace(word)
		_, twice := f.column[name]
		switch {
		case twice:
			f.fail(f.field(i, word), "duplicate-name", "the column %s stands here twice", name)
		case name != offsetColumn && !slices.Contains(bufferColumns, name):
			help := "a list has the columns id, lower, upper and size, and may have offset, which is left aside; take out what a plan would not heed"
			if len(header) == 1 {
				help = "commas part the columns: id,lower,upper,size"
			}
			f.fail(f.field(i, word), "unknown-name", "unknown column %q", name).Helps = []string{help}
		}
		f.column[name] = i
	}
	for _, name := range bufferColumns {
		if _, ok := f.column[name]; !ok && f.errs.Err() == nil {
			f.fail(f.field(0, header[0]), "bad-file", "the column %s is missing", name).Helps = []string{headerHelp}
		}
	}
	return f.errs.Err() == nil
}

func (f *bufferFile) readBuffer(record []string) {
	if len(record) != f.width {
		f.fail(f.field(0, record[0]), "bad-file", "here are %d values for %d columns", len(record), f.width)
		return
	}
	id := strings.Clone(record[f.column["id"]])
	line, _ := f.csv.FieldPos(0)
	if first, twice := f.seen[id]; twice {
		f.fail(f.cell(record, "id"), "duplicate-name", "two buffers are called %q", id).Notes = []string{fmt.Sprintf("the first is in line %d", first)}
	}
	f.seen[id] = line
	b := place.Buffer{Lower: f.number(record, "lower"), Upper: f.number(record, "upper"), Size: f.number(record, "size")}
	if b.Lower > b.Upper {
		f.fail(f.cell(record, "lower"), "out-of-range", "the buffer %q begins at %d, after its end at %d", id, b.Lower, b.Upper)
	}
	f.list.IDs = append(f.list.IDs, id)
	f.list.Problem.Buffers = append(f.list.Problem.Buffers, b)
}

// number reads a cell.
func (f *bufferFile) number(record []string, column string) int64 {
	text := strings.TrimSpace(record[f.column[column]])
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && text[0] != '-' || n > maxBufferSize:
		f.fail(f.cell(record, column), "limit", "%s is %s; the most is %d", column, text, int64(maxBufferSize))
	case err != nil && !errors.Is(err, strconv.ErrRange):
		f.fail(f.cell(record, column), "bad-file", "%s is %q, not a whole number", column, text)
	case err != nil || n < 0:
		f.fail(f.cell(record, column), "out-of-range", "%s is %s, less than 0", column, text)
	default:
		return n
	}
	return 0
}

func (f *bufferFile) cell(record []string, column string) diag.Span {
	i := f.column[column]
	return f.field(i, record[i])
}

// field is where a value of the current record stands.
func (f *bufferFile) field(i int, text string) diag.Span {
	line, column := f.csv.FieldPos(i)
	start := min(f.lineStart(line)+column-1, len(f.src.Text))
	return diag.Span{Src: f.src, Start: start, End: min(start+len(text), len(f.src.Text))}
}

// lineStart is the offset of a line, counted from 1. Lines are looked for as far as
// they are asked for, which is only where something is wrong.
func (f *bufferFile) lineStart(line int) int {
	if len(f.begins) == 0 {
		f.begins = []int{0}
	}
	for len(f.begins) < line {
		last := f.begins[len(f.begins)-1]
		end := strings.IndexByte(f.src.Text[last:], '\n')
		if end < 0 {
			return len(f.src.Text)
		}
		f.begins = append(f.begins, last+end+1)
	}
	return f.begins[line-1]
}

func (f *bufferFile) fail(at diag.Span, code, format string, args ...any) *Diagnostic {
	d := &Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	f.errs = append(f.errs, d)
	return d
}

// Plan lays the buffers out, as low as the effort allows, and checks the plan. A
// plan that is higher than the problem's capacity is returned with an error.
func (l *BufferList) Plan(e BufferEffort) (*BufferPlan, error) {
	if err := l.checkSum(); err != nil {
		return nil, err
	}
	plan := place.Solve(&l.Problem, e)
	if err := l.Problem.Check(plan); err != nil {
		return nil, Diagnostics{{Code: "internal", Subject: l.name, Message: "the plan is wrong: " + err.Error()}}
	}
	if c := l.Problem.Capacity; c > 0 && plan.Height > c {
		return plan, Diagnostics{{Code: "limit", Subject: l.name, Message: tooHigh(plan, c), Helps: tooHighHelp(plan, c)}}
	}
	return plan, nil
}

// checkSum refuses sizes whose sum is beyond what offsets can say.
func (l *BufferList) checkSum() error {
	sum, align := int64(0), max(l.Problem.Align, 1)
	for i, b := range l.Problem.Buffers {
		size := (b.Size + align - 1) / align * align
		if sum > math.MaxInt64/2-size {
			return Diagnostics{{Code: "limit", Subject: l.name, Message: fmt.Sprintf("up to the buffer %q, the sizes sum to more than %d bytes", l.IDs[i], int64(math.MaxInt64/2))}}
		}
		sum += size
	}
	return nil
}

// tooHigh says how far a plan is above the capacity.
func tooHigh(plan *BufferPlan, capacity int64) string {
	over := plan.Height - capacity
	return fmt.Sprintf("the lowest plan that was found takes %d bytes, %d (%s) more than the capacity of %d",
		plan.Height, over, percent(over, capacity), capacity)
}

func tooHighHelp(plan *BufferPlan, capacity int64) []string {
	if plan.Bound > capacity {
		return []string{fmt.Sprintf("no plan takes less than %d bytes", plan.Bound)}
	}
	return []string{"a search with more steps may find a lower one: --effort"}
}

func percent(part, whole int64) string {
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + "%"
}

// WriteCSV writes the list with the plan's offsets, in the list's order and with
// the columns id, lower, upper, size and offset.
func (l *BufferList) WriteCSV(w io.Writer, plan *BufferPlan) error {
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	out.Write(append(bufferColumns[:len(bufferColumns):len(bufferColumns)], offsetColumn))
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for i, id := range l.IDs {
		buf := &l.Problem.Buffers[i]
		out.Write([]string{id, number(buf.Lower), number(buf.Upper), number(buf.Size), number(plan.Offsets[i])})
	}
	out.Flush() // to memory, which does not fail
	_, err := w.Write(b.Bytes())
	return err
}

// Report is one line about a plan of the list.
func (l *BufferList) Report(plan *BufferPlan) string {
	over := "at the bound"
	if plan.Bound > 0 && plan.Height > plan.Bound {
		over = percent(plan.Height-plan.Bound, plan.Bound) + " above the bound"
	}
	cut := ""
	if plan.Cut {
		cut = " (cut short)"
	}
	return fmt.Sprintf("%s: %d buffers  height %d (%s)  bound %d  sum %d  plan %s  steps %d%s",
		l.name, len(l.IDs), plan.Height, over, plan.Bound, plan.Sum, plan.Method, plan.Steps, cut)
}

// Draw writes a plan of the list as a picture in SVG: time to the right, offsets
// upwards.
func (l *BufferList) Draw(w io.Writer, plan *BufferPlan) error {
	d := place.Drawing{Title: l.name, Problem: &l.Problem, Plan: plan, Names: l.IDs}
	return d.Draw(w)
}
