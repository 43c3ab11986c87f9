package gen

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

// An instruction that Go's assembler does not know: three registers, the last of which is
// added to. Its encoding has these fields.
type unknown struct {
	prefix byte // pp: 0 none, 1 66, 2 F3, 3 F2
	page   byte // mmm: 2 is 0F38
	opcode byte
	form   func(u unknown, b, a, sum byte) []byte // b: modrm.rm; a: vvvv; sum: modrm.reg
	vector string                                 // the letter of the registers' names
	count  uint64                                 // of registers
}

// unknowns are the instructions that the generators write as bytes. Source of the
// encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. Of
// VPDPBUSD the assembler knows the encoding of AVX-512 only.
var unknowns = map[string]unknown{
	"VDPBF16PS":    {prefix: 2, page: 2, opcode: 0x52, form: evex512, vector: "Z", count: 32},
	"VEX.VPDPBUSD": {prefix: 1, page: 2, opcode: 0x50, form: vex256, vector: "Y", count: 16},
}

// Accumulate is sum += a·b by an instruction of unknowns. Its registers are allocated like all
// others; the bytes follow when the file is printed.
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
	var r [3]byte
	list := strings.Split(args, ",")
	if len(list) != len(r) {
		return "", fmt.Errorf("operands %q", args)
	}
	for i, arg := range list {
		name := strings.TrimSpace(arg)
		n, err := strconv.ParseUint(strings.TrimPrefix(name, u.vector), 10, 8)
		if err != nil || n >= u.count {
			return "", fmt.Errorf("operand %q is none of %d registers %s", name, u.count, u.vector)
		}
		r[i] = byte(n)
	}
	code := u.form(u, r[0], r[1], r[2])
	out := make([]string, len(code))
	for i, c := range code {
		out[i] = fmt.Sprintf("BYTE $0x%02x", c)
	}
	return "\t" + strings.Join(out, "; "), nil
}

// not is a bit the other way round.
func not(x byte, bit int) byte { return ^x >> bit & 1 }

// registers is the ModRM byte of an instruction without operands in memory.
func registers(b, sum byte) byte { return 0b11<<6 | sum&7<<3 | b&7 }

// evex512 is the encoding with registers of 512 bits, as AVX-512 has it.
func evex512(u unknown, b, a, sum byte) []byte {
	return []byte{
		0x62,
		not(sum, 3)<<7 | not(b, 4)<<6 | not(b, 3)<<5 | not(sum, 4)<<4 | u.page,
		^a&15<<3 | 1<<2 | u.prefix,
		0b10<<5 | not(a, 4)<<3,
		u.opcode,
		registers(b, sum),
	}
}

// vex256 is the encoding with registers of 256 bits, as AVX has it.
func vex256(u unknown, b, a, sum byte) []byte {
	return []byte{
		0xc4,
		not(sum, 3)<<7 | 1<<6 | not(b, 3)<<5 | u.page,
		^a&15<<3 | 1<<2 | u.prefix,
		u.opcode,
		registers(b, sum),
	}
}
