//go:build !amd64

package move

import "github.com/npulang/npu/vm/kernel/isa"

// tilings is empty: there are no tiles.
var tilings = map[isa.Level][5]tiling{}
