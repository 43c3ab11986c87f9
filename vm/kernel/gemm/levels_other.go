//go:build !amd64 && !arm64

package gemm

import "github.com/npulang/npu/vm/kernel/isa"

var levels = [isa.NEON + 1]*kernels{isa.Portable: &portable}
