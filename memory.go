package npu

import (
	"math"

	"github.com/pbnjay/memory"
)

// fallbackMemory is what a machine is taken to have when it does not tell
// (WebAssembly): its address space.
const fallbackMemory = 4 << 30

// defaultMemory is half of the memory that this process may use: the machine's, or
// less where the system bounds it.
func defaultMemory() int64 {
	total := int64(min(memory.TotalMemory(), math.MaxInt64))
	if total == 0 {
		total = fallbackMemory
	}
	for _, limit := range processLimits() {
		total = min(total, limit)
	}
	return total / 2
}
