//go:build !amd64 && !arm64

package peak

import "github.com/npulang/npu/vm/kernel/isa"

var fma = map[isa.Level]loop{isa.Portable: {fmaPortable, 16}}
