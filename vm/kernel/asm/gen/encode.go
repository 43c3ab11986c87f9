package gen

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

// An instruction that Go's assembler does not know: three operands of 512 bits, the
// last of which is added to. Its encoding is EVEX with these fields.
type unknown struct {
	prefix byte // pp: 0 none, 1 66, 2 F3, 3 F2
	page   byte // mmm: 2 is 0F38
	opcode byte
}

// unknowns are the instructions that the generators write as bytes. Source of the
// encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
var unknowns = map[string]unknown{
	"VDPBF16PS": {prefix: 2, page: 2, opcode: 0x52},
}

// Accumulate is sum += a·b by an instruction of unknowns, with registers of 512
// bits. Its registers are allocated like all others; the bytes follow when the
// file is printed.
func Accumulate(name string, b, a, sum operand.Op) *ir.Instruction {
	return &ir.Instruction{
		Opcode:   name,
		Operands: []operand.Op{b, a, sum},
		Inputs:   []operand.Op{b, a, sum},
		Outputs:  []operand.Op{sum},
	}
}

// encode replaces the lines of instructions that the assembler does not know.
func encode(text []byte) ([]byte, error) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		name, args, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		u, ok := unknowns[name]
		if !ok {
			continue
		}
		code, err := u.encode(args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		lines[i] = []byte(code + " // " + name + " " + strings.Join(strings.Fields(args), " ") + "\n")
	}
	return bytes.Join(lines, nil), nil
}

// encode writes the bytes for operands in the order of Go's assembler.
func (u unknown) encode(args string) (string, error) {
	var r [3]byte // b: modrm.rm; a: vvvv; sum: modrm.reg
	list := strings.Split(args, ",")
	if len(list) != len(r) {
		return "", fmt.Errorf("operands %q", args)
	}
	for i, arg := range list {
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(arg), "Z"), 10, 5)
		if err != nil {
			return "", fmt.Errorf("operand %q is no register of 512 bits", arg)
		}
		r[i] = byte(n)
	}
	b, a, sum := r[0], r[1], r[2]
	not := func(x byte, bit int) byte { return ^x >> bit & 1 }
	code := []byte{
		0x62,
		not(sum, 3)<<7 | not(b, 4)<<6 | not(b, 3)<<5 | not(sum, 4)<<4 | u.page,
		^a&15<<3 | 1<<2 | u.prefix,
		0b10<<5 | not(a, 4)<<3,
		u.opcode,
		0b11<<6 | sum&7<<3 | b&7,
	}
	out := make([]string, len(code))
	for i, c := range code {
		out[i] = fmt.Sprintf("BYTE $0x%02x", c)
	}
	return "\t" + strings.Join(out, "; "), nil
}
