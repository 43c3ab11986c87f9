package gemm

import (
	"strconv"

	"github.com/npulang/npu/vm/kernel/isa"
)

// LayoutVersion is the version of all layouts of packed matrices: a part of their
// names where they are kept in files. It rises whenever Pack, the PackX of a
// Format, or Pack of package wide writes something else for the same matrix under the same name.
const LayoutVersion = 1

// widths says how many columns the panels of each level have.
var widths = [isa.NEON + 1]int{isa.Portable: 4, isa.AVX2: 16, isa.AVX512: 32, isa.NEON: 16}

// packing is what Pack needs of a level's kernels.
func packing(level isa.Level) *kernels {
	if isa.Has(level) {
		return at(level)
	}
	return &kernels{width: widths[level], turns: at(isa.Best()).turns}
}

// layouts says how the formats of each level pack: of AVX512 those of processors with all
// extensions, of AVX2 those of all that have it.
var layouts = [isa.NEON + 1][kinds]struct {
	name        string
	width, deep int
	left        left // which says how bytes are packed, and what Offsets are
}{
	isa.Portable: {BF16: {"bf16", 4, 1, leftFloat}, F16: {"f16", 4, 1, leftFloat}, Int8: {"int8 pairs", 8, 2, leftWords}},
	isa.AVX2:     {BF16: {"bf16", 16, 1, leftFloat}, F16: {"f16", 16, 1, leftFloat}, Int8: {"int8 groups", 16, groupBytes, leftSplit}},
	isa.AVX512:   {BF16: {"bf16 pairs", 32, 2, leftPair}, F16: {"f16", 32, 1, leftFloat}, Int8: {"int8 raised quads", 32, quad, leftQuad}},
	isa.NEON:     {BF16: {"bf16", 16, 1, leftFloat}, F16: {"f16", 16, 1, leftFloat}, Int8: {"int8 pairs", 8, 2, leftWords}},
}

// PackingFor is a format for packing only: FormatOf(level, kind) if this processor has
// the level, else the one of other processors that have it, as layouts says.
func PackingFor(level isa.Level, kind Kind) *Format {
	if isa.Has(level) {
		return FormatOf(level, kind)
	}
	return foreign(level, kind)
}

func foreign(level isa.Level, kind Kind) *Format {
	l := layouts[level][kind]
	return &Format{
		name: layoutName(l.name, l.width), level: level, kind: kind, deep: l.deep, left: l.left,
		set: &kernels{width: l.width},
	}
}

func layoutName(of string, width int) string { return of + "/" + strconv.Itoa(width) }
