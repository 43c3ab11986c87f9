//go:build !amd64

package gemm

import "github.com/npulang/npu/vm/kernel/isa"

// direct lists the formats whose kernels read panels as they are.
func direct(isa.Level, bool, bool) (none [kinds]*Format) { return none }

// finishers by level; nil: in Go.
var finishers [isa.NEON + 1]*finisher
