//go:build !amd64

package peak

import "github.com/npulang/npu/vm/kernel/isa"

func bf16(level isa.Level) loop { return fma[level] }

func int8(isa.Level) loop { return loop{int8Portable, 16} }

// reads: there is no assembly.
var reads map[isa.Level]func(data *byte, blocks int)
