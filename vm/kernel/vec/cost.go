package vec

import "github.com/npulang/npu/vm/kernel/isa"

// Cost is about how many picoseconds a code takes for an element, in the cache, on a
// processor of 2022. It decides only what is given away to other processors.
func Cost(level isa.Level, c Code) int {
	switch {
	case machines[level].run == nil:
		return portableCost(c)
	case Within(c) > 0:
		return 600
	}
	return 40
}

func portableCost(c Code) int {
	if Within(c) > 0 {
		return 15000
	}
	return 1200
}

// Within bounds how far a code's result is from the nearest float to the true one,
// relative to it: 0 for codes that give the nearest, or choose, or move bits.
func Within(c Code) float64 { return rows[c].within }
