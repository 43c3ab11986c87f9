//go:build !amd64

package move

import "github.com/npulang/npu/vm/kernel/isa"

// machines is empty: there is no assembly.
var machines = map[isa.Level]*machine{}
