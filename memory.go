package npu

import (
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/pbnjay/memory"
)

// fallbackMemory is what a machine is taken to have when it does not tell
// (WebAssembly): its address space.
const fallbackMemory = 4 << 30

// defaultMemory is half of the memory that this process may use: the
// machine's, or less in a container.
func defaultMemory() int64 {
	total := int64(min(memory.TotalMemory(), math.MaxInt64))
	if total == 0 {
		total = fallbackMemory
	}
	for _, file := range cgroupLimits {
		if limit, ok := readLimit(file); ok {
			total = min(total, limit)
		}
	}
	return total / 2
}

// cgroupLimits are where Linux tells a container's bound, versions 2 and 1.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

func readLimit(file string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil && n > 0
}
