package peak

import "github.com/npulang/npu/vm/kernel/isa"

var fma = map[isa.Level]loop{
	isa.Portable: {fmaPortable, 16},
	isa.NEON:     {fmaNEON, 2 * 16 * 4},
}

// fmaNEON runs rounds of sixteen independent FMLA of four floats in registers.
//
//go:noescape
func fmaNEON(rounds int)
