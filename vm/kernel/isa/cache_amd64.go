package isa

import "encoding/binary"

// cpuid asks the processor about itself.
//
//go:noescape
func cpuid(leaf, index uint32) (a, b, c, d uint32)

// cacheLeaves are the questions about caches, those of Intel and of AMD: each has its
// answers by index, in one form (Intel's Software Developer's Manual 2A, CPUID, leaf 4;
// AMD's Programmer's Manual 3, CPUID Fn8000_001D).
var cacheLeaves = [...]struct{ first, leaf uint32 }{{0, 4}, {0x80000000, 0x8000001d}}

// secondCache asks for the caches of this processor.
func secondCache() int {
	for _, l := range cacheLeaves {
		if most, _, _, _ := cpuid(l.first, 0); most < l.leaf {
			continue
		}
		for i := uint32(0); ; i++ {
			a, b, c, _ := cpuid(l.leaf, i)
			kind, level := a&31, a>>5&7
			if kind == 0 || i > 15 {
				break
			}
			if level == 2 && kind != 2 { // not one for instructions alone
				line, parts, ways := b&0xfff+1, b>>12&0x3ff+1, b>>22+1
				return int(line) * int(parts) * int(ways) * (int(c) + 1)
			}
		}
	}
	return 0
}

// maker is who made the processor, in the twelve letters of CPUID's leaf 0.
func maker() string {
	_, b, c, d := cpuid(0, 0)
	var name []byte
	for _, r := range [...]uint32{b, d, c} {
		name = binary.LittleEndian.AppendUint32(name, r)
	}
	return string(name)
}
