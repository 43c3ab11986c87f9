package long

import "github.com/npulang/npu/vm/kernel/isa"

// A Cast converts n elements, a multiple of eight that is more than 0, and ends before eight
// of which one is none of its: done is how many there were before.
type Cast func(d, a *byte, n int) (done int)

// CastOf is a level's cast of a name; nil: it has none.
func CastOf(level isa.Level, name string) Cast { return casts[level][name] }
