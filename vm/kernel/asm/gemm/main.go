// Command gemm writes the kernels of package gemm.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	files := []gen.File{{Name: "turn", Build: turns}, {Name: "turn_wide", Build: wideTurns}, {Name: "finish", Build: finishes}, {Name: "thirds", Build: thirds}, {Name: "tiles_neon", ARM64: neonTiles}}
	for _, k := range []struct {
		operands
		levels []vectors
	}{
		{floats, []vectors{avx2, avx512}},
		{bf16Halves, []vectors{avx2}},
		{bf16Twos, []vectors{avx512}},
		{f16Halves, []vectors{avx2, avx512}},
		{int8Groups, []vectors{avx2}},
		{int8Wide, []vectors{avx2}},
		{bf16Pairs, []vectors{avx512}},
		{int8Quads, []vectors{avx512}},
		{int8QuadsVEX, []vectors{avx2}},
	} {
		for _, v := range k.levels {
			files = append(files, gen.File{Name: k.file(v), Build: func(c *build.Context) {
				tiles(c, v, k.operands)
				if k.more != nil {
					k.more(c)
				}
			}})
		}
	}
	gen.Main("gemm", files...)
}
