// Command wide writes the kernels of package wide.
package main

import (
	"strings"

	"github.com/mmcloughlin/avo/build"

	"github.com/npulang/npu/vm/kernel/asm/gen"
)

func main() {
	var files []gen.File
	for _, k := range []struct {
		vectors
		numbers
	}{
		{avx2, floats}, {avx2, ints}, {avx2, halvedLongs},
		{avx512, floats}, {avx512, ints}, {avx512, longs},
	} {
		name := "tiles_" + strings.ToLower(k.numbers.name+"_"+k.vectors.name)
		files = append(files, gen.File{Name: name, Build: func(c *build.Context) {
			for rows := 1; rows <= k.rows(k.vectors); rows++ {
				newTile(c, k.vectors, k.numbers, rows).write()
			}
		}})
	}
	gen.Main("wide", files...)
}
