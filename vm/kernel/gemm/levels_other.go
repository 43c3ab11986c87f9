//go:build !amd64

package gemm

import "github.com/npulang/npu/vm/kernel/isa"

var levels = map[isa.Level]*kernels{}
