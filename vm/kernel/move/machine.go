package move

import "github.com/npulang/npu/vm/kernel/isa"

// A machine has the functions of a level; what it lacks, portable loops do.
type machine struct {
	tiles    [5]tiling // by the logarithm of the element's size
	shuffles map[registers]shuffler
	// prefetch asks for n lines that lie step bytes behind each other.
	prefetch func(p *byte, step uintptr, n int)
	// stream copies n rows of some lines around the caches; d and toRow are multiples of
	// their size. fence waits for them.
	stream func(d, s *byte, toRow, fromRow uintptr, lines, n int)
	fence  func()
	// placeLongs and placeInts are Place for n indices, a multiple of sixteen; outside is 0
	// if none is.
	placeLongs func(to, from *int64, n int, size, behind int64) (outside int)
	placeInts  func(to *int64, from *int32, n int, size, behind int64) (outside int)
}

// registers are how many a shuffler reads and makes.
type registers struct{ in, out int }

// machineOf is a level's; one without assembly has nothing.
func machineOf(level isa.Level) *machine {
	if m := machines[level]; m != nil {
		return m
	}
	return &machine{}
}
