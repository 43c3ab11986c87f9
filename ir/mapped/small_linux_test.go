package mapped_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestSmallPages: what lies between parts that were released is mapped in small pages,
// what lies behind them is not.
func TestSmallPages(t *testing.T) {
	const part = 1 << 16
	f, _ := open(t, 8*part)
	f.Release(f.Data[:part])
	f.Release(f.Data[4*part : 5*part])
	for at, want := range map[int]bool{2 * part: true, 6 * part: false} {
		flags := flagsAt(t, &f.Data[at])
		if flags == "" {
			t.Skip("the system does not tell the flags of mappings")
		}
		if got := strings.Contains(flags, " nh"); got != want {
			t.Errorf("byte %d: small pages: %v, want %v:%s", at, got, want, flags)
		}
	}
}

// flagsAt are the flags of the mapping that holds a byte, as Linux lists them.
func flagsAt(t *testing.T, b *byte) string {
	t.Helper()
	list, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	at, within := uintptr(unsafe.Pointer(b)), false
	for line := range strings.SplitSeq(string(list), "\n") {
		var first, end uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &first, &end); n == 2 {
			within = first <= at && at < end
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && within {
			return flags
		}
	}
	return ""
}
