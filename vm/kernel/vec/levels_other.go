//go:build !amd64

package vec

import "github.com/npulang/npu/vm/kernel/isa"

// machines are those of the levels; one without assembly is the portable one.
var machines [isa.NEON + 1]machine
