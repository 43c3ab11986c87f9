package isa

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// TestSecondCache holds the size of the cache against what the system knows of it.
func TestSecondCache(t *testing.T) {
	for told, want := range map[int]int{0: usualSecond, 4096: usualSecond, 512 << 10: 512 << 10, 2 << 20: 2 << 20, 1 << 30: usualSecond} {
		if got := believed(told); got != want {
			t.Errorf("%d bytes are taken as %d", told, got)
		}
	}
	const folder = "/sys/devices/system/cpu/cpu0/cache/index2/"
	level, err := os.ReadFile(folder + "level")
	size, err2 := os.ReadFile(folder + "size")
	if err != nil || err2 != nil || string(level) != "2\n" || secondCache() == 0 {
		t.Skip("the system or the processor does not tell of a second cache")
	}
	if got := fmt.Sprintf("%dK\n", secondCache()>>10); got != string(size) {
		t.Errorf("the processor tells of %q, the system of %q", got, size)
	}
}

// TestMaker holds the name of the processor's maker against what the system knows.
func TestMaker(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || maker() == "" {
		t.Skip("the system or the processor does not tell of a maker")
	}
	if !regexp.MustCompile(`(?m)^vendor_id\s*: ` + maker() + "$").Match(info) {
		t.Errorf("the system does not know %q", maker())
	}
}
