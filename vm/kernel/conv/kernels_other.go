//go:build !amd64 && !arm64

package conv

import "github.com/npulang/npu/vm/kernel/isa"

var byLevel map[isa.Level]*kernels
