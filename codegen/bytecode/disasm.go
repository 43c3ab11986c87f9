package bytecode

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// PrintOptions choose what a listing shows. The zero value shows all that
// Assemble needs.
type PrintOptions struct {
	// Elide, if not 0, shows constants of more elements as [...], for people to
	// read: such a listing does not assemble.
	Elide int
}

// Disassemble writes the program as text, from which Assemble makes it again:
// the header, its tables, then the code of each stream, each instruction with
// its byte offset, the task and the source that it came from, and, as a comment,
// the values that it makes. The program must have been decoded or verified; one
// that Verify refuses can be looked at.
func Disassemble(out io.Writer, p *Program) error { return Print(out, p, PrintOptions{}) }

// Print is Disassemble with options.
func Print(out io.Writer, p *Program, opt PrintOptions) error {
	d := &disassembler{Writer: bufio.NewWriter(out), p: p, opt: opt}
	d.header()
	d.ports()
	d.kernels()
	d.buffers()
	d.weights()
	for i := range p.Functions {
		d.function(i)
	}
	return d.Flush()
}

// A disassembler writes one listing. Errors stay in the Writer.
type disassembler struct {
	*bufio.Writer
	p   *Program
	opt PrintOptions
}

func (d *disassembler) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *disassembler) header() {
	d.printf("program @%s", nameText(d.p.Name))
	for i, b := range d.p.Env {
		d.printf("%s%s=%d", []string{"  with ", " "}[min(i, 1)], nameText(b.Symbol), b.Size)
	}
	d.printf("  version %d  arena %d  align %d  events %d\n", Version, d.p.Arena, d.p.Align, d.p.Events)
}

func (d *disassembler) ports() {
	var rows [][]string
	for _, side := range []struct {
		space Space
		ports []Port
	}{{InputSpace, d.p.Inputs}, {OutputSpace, d.p.Outputs}} {
		for i, port := range side.ports {
			rows = append(rows, []string{fmt.Sprintf("%s%d", side.space, i), bufferText(port.Buffer), nameText(port.Name)})
		}
	}
	d.table("ports", rows)
}

func (d *disassembler) kernels() {
	rows := make([][]string, len(d.p.Kernels))
	for i, k := range d.p.Kernels {
		op := nameText(k.Op)
		if k.Attrs != "" {
			op += " " + attrsText(k.Attrs)
		}
		types := typeRow(k.In) + "-> " + strings.TrimSuffix(typeRow(k.Out), " ")
		if k.InPlace != Absent {
			types += fmt.Sprintf("  in place %d", k.InPlace)
		}
		rows[i] = []string{fmt.Sprintf("k%d", i), nameText(k.Unit), op, types}
	}
	d.table("kernels", rows)
}

func typeRow(types []Type) string {
	var b strings.Builder
	for _, t := range types {
		b.WriteString(t.String())
		b.WriteByte(' ')
	}
	return b.String()
}

func (d *disassembler) buffers() {
	digits := max(2, len(strconv.FormatInt(d.p.Arena, 16)))
	rows := make([][]string, len(d.p.Buffers))
	for i, b := range d.p.Buffers {
		rows[i] = []string{fmt.Sprintf("b%d", i), b.place(digits), strconv.FormatInt(b.Size, 10), b.Type.String()}
		note := ""
		if b.Name != "" {
			note = nameText(b.Name)
		}
		if b.Base >= 0 {
			note += fmt.Sprintf("  views b%d", b.Base)
		}
		if note = strings.TrimSpace(note); note != "" {
			rows[i] = append(rows[i], note)
		}
	}
	d.table("buffers", rows)
}

// place says where a buffer lies: input0, output1+0x40, 0x100.
func (b *Buffer) place(digits int) string {
	if b.Space == ArenaSpace && b.Slot == 0 {
		return fmt.Sprintf("0x%0*x", digits, b.Offset)
	}
	text := fmt.Sprintf("%s%d", b.Space, b.Slot)
	if b.Offset != 0 {
		text += fmt.Sprintf("+0x%x", b.Offset)
	}
	return text
}

func (d *disassembler) weights() {
	rows := make([][]string, len(d.p.Weights))
	for i := range d.p.Weights {
		w := &d.p.Weights[i]
		rows[i] = []string{fmt.Sprintf("weight%d", i), "param", w.Type.String(), nameText(w.Name)}
		if w.Data != nil {
			rows[i][1] = "const"
			rows[i] = append(rows[i], "= "+d.values(w))
		}
	}
	d.table("weights", rows)
}

// values writes the elements of a constant.
func (d *disassembler) values(w *Weight) string {
	if n, ok := w.Type.SizeBytes(); !ok || n != int64(len(w.Data)) {
		return strconv.Quote(base64.StdEncoding.EncodeToString(w.Data)) // Verify refuses it
	}
	t := &tensor.T{DType: w.Type.DType, Shape: w.Type.Shape, Data: w.Data}
	if d.opt.Elide > 0 && t.Len() > d.opt.Elide {
		return "[...]"
	}
	return tensor.ValuesOf(t).String()
}

// table writes rows below a title, each column as wide as its widest cell. The
// last cell of a row has no influence.
func (d *disassembler) table(title string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	d.printf("%s\n", title)
	var width []int
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		last := len(row) - 1
		for i, cell := range row[:last] {
			d.printf("  %-*s", width[i], cell)
		}
		d.printf("  %s\n", row[last])
	}
}

func (d *disassembler) function(i int) {
	f := &d.p.Functions[i]
	if i == 0 {
		for s := range f.Streams {
			d.printf("code %s\n", nameText(f.Streams[s].Name))
			d.stream(f.Streams[s].Code)
		}
		return
	}
	d.printf("body f%d  %s", i, nameText(f.Name))
	if f.Frame >= 0 {
		d.printf("  frame b%d", f.Frame)
	}
	d.list("  reads", f.Reads)
	d.list("  writes", f.Writes)
	d.printf("\n")
	for s := range f.Streams {
		d.stream(f.Streams[s].Code)
	}
}

func (d *disassembler) list(word string, buffers []int) {
	if len(buffers) > 0 {
		d.printf("%s%s", word, bufferRow(buffers))
	}
}

// stream writes the instructions of a stream, each with its offset in the code.
func (d *disassembler) stream(code []Instr) {
	offsets := offsetsOf(code)
	digits := 2
	if len(offsets) > 0 {
		digits = max(2, len(strconv.FormatInt(int64(offsets[len(offsets)-1]), 16)))
	}
	for i := range code {
		in := &code[i]
		line := fmt.Sprintf("  %0*x  %s", digits, offsets[i], d.instr(in))
		if in.Op.hasSite() {
			line = fmt.Sprintf("%-44s  t%d", line, in.Task)
			if in.Pos != (diag.Loc{}) {
				line += " " + placeText(in.Pos)
			}
		}
		d.printf("%s%s\n", line, d.note(in))
	}
}

// offsetsOf says where in the encoded code each instruction begins.
func offsetsOf(code []Instr) []int {
	w := &writer{}
	offsets := make([]int, len(code))
	for i := range code {
		offsets[i] = len(w.b)
		w.instr(&code[i])
	}
	return offsets
}

// instr prints the operands that the row of the opcode has.
func (d *disassembler) instr(in *Instr) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s", in.Op)
	body := 0
	for _, f := range opcodes[in.Op].fields {
		switch f {
		case fIndex:
			fmt.Fprintf(&b, " %s%d", opcodes[in.Op].table, in.Index)
		case fOut, fOuts:
			b.WriteString(bufferRow(in.Out))
		case fIn, fIns:
			if in.Op != Branch {
				b.WriteString(" <-")
			}
			b.WriteString(bufferRow(in.In))
		case fIfCond:
			if in.hasCond() {
				b.WriteString(bufferRow(in.In))
			}
		case fBody, fOptBody:
			if in.Bodies[body] != NoBody {
				fmt.Fprintf(&b, " f%d", in.Bodies[body])
			}
			body++
		case fRange:
			fmt.Fprintf(&b, " %s", in.span())
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func bufferText(b int) string {
	if b == Absent {
		return "_"
	}
	return "b" + strconv.Itoa(b)
}

func bufferRow(list []int) string {
	var b strings.Builder
	for _, i := range list {
		b.WriteByte(' ')
		b.WriteString(bufferText(i))
	}
	return b.String()
}

// note names the values that an instruction makes.
func (d *disassembler) note(in *Instr) string {
	made := in.Out
	if len(in.Bodies) > 0 && in.Bodies[0] > 0 && in.Bodies[0] < len(d.p.Functions) {
		made = d.p.Functions[in.Bodies[0]].Writes
	}
	text := ""
	for _, b := range made {
		if b >= 0 && b < len(d.p.Buffers) && d.p.Buffers[b].Name != "" {
			text += " " + nameText(d.p.Buffers[b].Name)
		}
	}
	if text == "" {
		return ""
	}
	return "  //" + text
}
