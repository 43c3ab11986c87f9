//go:build !amd64 && !arm64

package gemm

import "github.com/npulang/npu/vm/kernel/isa"

var levels = [isa.NEON + 1]*kernels{isa.Portable: &portable}

// edges is what a tile needs besides: nothing, where kernels know where C ends.
type edges struct{}
