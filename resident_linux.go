package npu

import (
	"os"
	"strconv"
	"strings"
)

// residentBytes is the memory of the process that lies in the machine's: now, and
// at the most since the process began.
func residentBytes() (now, most int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return takenBytes()
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &now, "VmHWM": &most}[name]
		if words := strings.Fields(rest); into != nil && len(words) > 0 {
			kib, _ := strconv.ParseInt(words[0], 10, 64)
			*into = kib << 10
		}
	}
	return now, max(now, most)
}
