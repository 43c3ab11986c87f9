package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	avo "github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// plain refuses what avo writes without a word and processors take badly.
func plain(file *avo.File) error {
	for _, f := range file.Functions() {
		if err := plainFunction(f); err != nil {
			return fmt.Errorf("%s %w", f.Name, err)
		}
	}
	return nil
}

func plainFunction(f *avo.Function) error {
	wide := false // the upper parts of registers are in use
	for _, i := range f.Instructions() {
		vectors := vectorsOf(i)
		switch {
		case i.Opcode == "VZEROUPPER":
			wide = false
		case wide && i.Opcode == "RET":
			return fmt.Errorf("returns without VZEROUPPER")
		case len(vectors) == 0:
		case strings.HasSuffix(f.Name, "AVX2") && slices.ContainsFunc(vectors, beyond16):
			// Of more live vectors than there are avo puts some into those of AVX-512.
			return fmt.Errorf("needs more than sixteen vectors")
		case wide && i.Opcode[0] != 'V':
			return fmt.Errorf("has %s among instructions of AVX", i.Opcode)
		}
		wide = wide || slices.ContainsFunc(vectors, isWide)
	}
	return nil
}

// vectorsOf are the registers of an instruction, once there are such, that hold vectors.
func vectorsOf(i *avo.Instruction) (list []reg.Physical) {
	for _, r := range i.Registers() {
		if p := reg.ToPhysical(r); p != nil && r.Kind() == reg.KindVector {
			list = append(list, p)
		}
	}
	return list
}

func beyond16(p reg.Physical) bool { return p.PhysicalIndex() > 15 }
func isWide(p reg.Physical) bool   { return p.Size() > 16 }

// Argument is where a parameter lies. For a float it is what instructions of AVX are given:
// Load moves it by one of SSE, for which some of Intel's processors, while the upper parts of
// registers are in use, put these away and bring them back: a hundred nanoseconds and more.
func Argument(c *build.Context, name string) operand.Op {
	b, err := c.Param(name).Resolve()
	if err != nil {
		panic(err) // of the generator
	}
	return b.Addr
}
