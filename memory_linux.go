package npu

import (
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// processLimits are the bounds, in bytes, that Linux sets to the memory of this process:
// those of its container, and that of its address space (ulimit -v), beyond which Go's
// runtime ends the process.
func processLimits() (limits []int64) {
	for _, file := range cgroupLimits {
		if limit, ok := readLimit(file); ok {
			limits = append(limits, limit)
		}
	}
	var space syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &space) == nil {
		limits = append(limits, int64(min(space.Cur, math.MaxInt64)))
	}
	return limits
}

// cgroupLimits are where a container's bound is told, versions 2 and 1.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

func readLimit(file string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil && n > 0
}
