package bytecode

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Disassemble writes the program as text: the header, its tables, then the
// code of each stream with the byte offset of each instruction, the value that
// it makes and the source that it came from. The program must have been decoded
// or verified; one that Verify refuses can be looked at.
func Disassemble(out io.Writer, p *Program) error {
	d := &disassembler{p: p}
	w := &writer{strings: map[string]int{}, types: map[string]int{}}
	w.offsets = map[*Instr]int{}
	w.program(p) // only for the offsets
	d.offsets = w.offsets
	d.header()
	d.kernels()
	d.buffers()
	d.weights()
	for i := range p.Functions {
		d.function(i)
	}
	_, err := io.WriteString(out, d.b.String())
	return err
}

type disassembler struct {
	p       *Program
	b       strings.Builder
	offsets map[*Instr]int // from the first byte of the code of its stream
}

func (d *disassembler) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

func (d *disassembler) header() {
	d.printf("program @%s", d.p.Name)
	for i, b := range d.p.Env {
		d.printf("%s%s=%d", []string{"  with ", " "}[min(i, 1)], b.Symbol, b.Size)
	}
	d.printf("  version %d  arena %d  events %d\n", Version, d.p.Arena, d.p.Events)
}

func (d *disassembler) kernels() {
	if len(d.p.Kernels) == 0 {
		return
	}
	d.printf("kernels\n")
	rows := make([][]string, len(d.p.Kernels))
	for i, k := range d.p.Kernels {
		op := k.Op
		if k.Attrs != "" {
			op += " {" + k.Attrs + "}"
		}
		types := typeRow(k.In) + "-> " + strings.TrimSuffix(typeRow(k.Out), " ")
		if k.InPlace != Absent {
			types += fmt.Sprintf("  in place %d", k.InPlace)
		}
		rows[i] = []string{fmt.Sprintf("k%d", i), k.Unit, op, types}
	}
	d.columns(rows)
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
	if len(d.p.Buffers) == 0 {
		return
	}
	d.printf("buffers\n")
	digits := max(2, len(fmt.Sprintf("%x", d.p.Arena)))
	rows := make([][]string, len(d.p.Buffers))
	for i, b := range d.p.Buffers {
		place := fmt.Sprintf("%s%d", b.Space, b.Slot)
		if b.Space == ArenaSpace {
			place = fmt.Sprintf("0x%0*x", digits, b.Offset)
		}
		note := b.Name
		if b.Base >= 0 {
			note += fmt.Sprintf("  views b%d", b.Base)
		}
		rows[i] = []string{fmt.Sprintf("b%d", i), place, fmt.Sprint(b.Size), b.Type.String(), note}
	}
	d.columns(rows)
}

func (d *disassembler) weights() {
	if len(d.p.Weights) == 0 {
		return
	}
	d.printf("weights\n")
	rows := make([][]string, len(d.p.Weights))
	for i, w := range d.p.Weights {
		kind := "param"
		if w.Data != nil {
			kind = "const"
		}
		rows[i] = []string{fmt.Sprintf("weight%d", i), kind, w.Type.String(), w.Name}
	}
	d.columns(rows)
}

// columns writes rows with each column as wide as its widest cell.
func (d *disassembler) columns(rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "  %-*s", width[i], cell)
		}
		d.printf("%s\n", strings.TrimRight(line.String(), " "))
	}
}

func (d *disassembler) function(i int) {
	f := &d.p.Functions[i]
	if i > 0 {
		d.printf("body f%d  %s", i, f.Name)
		if f.Frame >= 0 {
			d.printf("  frame b%d", f.Frame)
		}
		d.list("  reads", f.Reads)
		d.list("  writes", f.Writes)
		d.printf("\n")
	}
	for s := range f.Streams {
		if i == 0 {
			d.printf("code %s\n", f.Streams[s].Name)
		}
		d.stream(&f.Streams[s])
	}
}

func (d *disassembler) list(word string, buffers []int) {
	if len(buffers) == 0 {
		return
	}
	d.printf("%s", word)
	for _, b := range buffers {
		d.printf(" b%d", b)
	}
}

func (d *disassembler) stream(s *Stream) {
	if len(s.Code) == 0 {
		return
	}
	start := d.offsets[&s.Code[0]]
	digits := max(2, len(fmt.Sprintf("%x", d.offsets[&s.Code[len(s.Code)-1]]-start)))
	for i := range s.Code {
		in := &s.Code[i]
		line := fmt.Sprintf("  %0*x  %s", digits, d.offsets[in]-start, d.instr(in))
		if note := d.note(in); note != "" {
			line = fmt.Sprintf("%-44s  // %s", line, note)
		}
		d.printf("%s\n", line)
	}
}

// instr prints the operands that the row of the opcode has.
func (d *disassembler) instr(in *Instr) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s", in.Op)
	body := 0
	for _, f := range opcodes[in.Op].fields {
		switch f {
		case fIndex:
			fmt.Fprintf(&b, " %s%d", map[Opcode]string{Exec: "k", Wait: "e", Post: "e"}[in.Op], in.Index)
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

// span prints the range of a loop: 0..16, or 0.. when only the condition ends
// it.
func (in *Instr) span() string {
	if in.To == Unbounded {
		return fmt.Sprintf("%d..", in.From)
	}
	return fmt.Sprintf("%d..%d", in.From, in.To)
}

func bufferRow(list []int) string {
	var b strings.Builder
	for _, i := range list {
		if i == Absent {
			b.WriteString(" _")
			continue
		}
		fmt.Fprintf(&b, " b%d", i)
	}
	return b.String()
}

// note names the values that an instruction makes, and its source.
func (d *disassembler) note(in *Instr) string {
	var parts []string
	made := in.Out
	if len(in.Bodies) > 0 && in.Bodies[0] > 0 && in.Bodies[0] < len(d.p.Functions) {
		made = d.p.Functions[in.Bodies[0]].Writes
	}
	for _, b := range made {
		if b >= 0 && b < len(d.p.Buffers) && d.p.Buffers[b].Name != "" {
			parts = append(parts, d.p.Buffers[b].Name)
		}
	}
	if in.Pos.Line > 0 {
		place := fmt.Sprintf("%s:%d", in.Pos.File, in.Pos.Line)
		if in.Pos.Col > 0 {
			place += fmt.Sprintf(":%d", in.Pos.Col)
		}
		parts = append(parts, place)
	}
	return strings.Join(parts, " ")
}
