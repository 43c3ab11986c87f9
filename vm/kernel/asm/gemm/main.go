// Command gemm writes the kernels of package gemm.
package main

import (
	"github.com/mmcloughlin/avo/build"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	gen.Main("gemm",
		gen.File{Name: "tiles_avx2", Build: func(c *build.Context) { tiles(c, avx2) }},
		gen.File{Name: "tiles_avx512", Build: func(c *build.Context) { tiles(c, avx512) }},
		gen.File{Name: "tiles_neon", ARM64: neonTiles},
		gen.File{Name: "turn", Build: turn},
	)
}
