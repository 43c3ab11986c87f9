package mapped_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestNothingStays: of parts that were read at the same time and released one after the
// other nothing stays in memory, though neighbours share pages, and small parts that were
// lifted bring in nothing.
func TestNothingStays(t *testing.T) {
	const size, gap = 3<<20 + 5000, 300
	f, _ := open(t, 6*(size+gap))
	part := func(i int) []byte { return f.Data[i*(size+gap):][:size] }
	small := func(i int) []byte { return f.Data[i*(size+gap)+size:][:gap] }
	read(f.Data)
	if resident(t, f.Data) < len(f.Data)/2 {
		t.Error("what was read is not resident: the test sees nothing")
	}
	f.Release(f.Data)
	for i := 0; i+1 < 6; i++ {
		read(part(i))
		read(part(i + 1))
		f.Release(part(i + 1))
		read(part(i))
		f.Release(part(i))
		read(f.Lift(small(i)))
	}
	if got := resident(t, f.Data); got > 0 {
		t.Errorf("%d bytes of the file are resident", got)
	}
}

var sink int

func read(b []byte) {
	for i := 0; i < len(b); i += 64 {
		sink += int(b[i])
	}
}

// resident is how many bytes of the mapping that begins with b count as the process's.
func resident(t *testing.T, b []byte) (n int) {
	t.Helper()
	list, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	_, of, found := strings.Cut(string(list), fmt.Sprintf("\n%x-", uintptr(unsafe.Pointer(&b[0]))))
	_, of, rss := strings.Cut(of, "\nRss:")
	if !found || !rss {
		t.Fatal("the list of mappings has none that begins here")
	}
	fmt.Sscan(of, &n)
	return n << 10
}
