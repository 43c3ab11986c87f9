// Command norm writes the loops of package norm.
package main

import "github.com/npulang/npu/vm/kernel/asm/gen"

func main() {
	gen.Main("norm",
		gen.File{Name: "fold", Build: folds},
		gen.File{Name: "top", Build: tops},
		gen.File{Name: "exp", Build: exps},
		gen.File{Name: "apply", Build: applies},
		gen.File{Name: "turn", Build: turns},
	)
}
