package gemm

import (
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/narrow"
)

// formats has those of this processor by kind and level.
var formats = func() (list [kinds][isa.NEON + 1]*Format) {
	for _, level := range isa.Levels() {
		for kind := range kinds {
			list[kind][level] = choose(level, kind, isa.FastBF16(), isa.HasVNNI(level))
		}
	}
	return list
}()

// choose makes the format of a level, with or without its extensions: products of pairs of
// bf16, if they are worth it, and of quads of bytes.
func choose(level isa.Level, kind Kind, bf16, vnni bool) *Format {
	f := direct(level, bf16, vnni)[kind]
	if f == nil {
		f = indirect(level)[kind]
	}
	f.level, f.kind = level, kind
	f.name = layoutName(f.name, f.set.width)
	return f
}

// indirect lists the formats of levels without kernels of their own: panels of two
// bytes are widened one by one, and Go multiplies bytes.
func indirect(level isa.Level) [kinds]*Format {
	return [kinds]*Format{
		BF16: {name: "bf16", set: at(level), deep: 1, widen: narrow.FromBF16},
		F16:  {name: "f16", set: at(level), deep: 1, widen: narrow.FromF16},
		Int8: {name: "int8 pairs", set: &portableInt8, deep: 2, left: leftWords},
	}
}
