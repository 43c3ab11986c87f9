package long

import "github.com/npulang/npu/vm/kernel/isa"

// A Loop computes n elements at d, a multiple of eight, of as many of each argument that it
// has.
type Loop func(d, a, b, c *byte, n int)

// Of is a level's loop of a name; nil: it has none.
func Of(level isa.Level, name string) Loop { return loops[level][name] }
