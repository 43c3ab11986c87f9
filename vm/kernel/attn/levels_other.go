//go:build !amd64

package attn

import "github.com/npulang/npu/vm/kernel/isa"

var levels = [isa.NEON + 1]*loops{isa.Portable: &portable}
