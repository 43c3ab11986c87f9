package mapped_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/mapped"
)

// open makes a file of so many bytes, none of which is zero, and opens it.
func open(t *testing.T, size int) (*mapped.File, []byte) {
	t.Helper()
	want := make([]byte, size)
	for i := range want {
		want[i] = byte(i%255) + 1
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, want, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, want
}

// TestRelease: what was released is there when it is read again, and parts that
// share pages with it are untouched.
func TestRelease(t *testing.T) {
	for _, size := range []int{0, 1, 4096, 100_000, 1 << 20} {
		f, want := open(t, size)
		for _, part := range [][2]int{{0, size}, {size / 3, size / 2}, {size, size}} {
			in := f.Release(f.Data[part[0]:part[1]])
			if !bytes.Equal(f.Data, want) {
				t.Errorf("%d bytes, released %v: the file reads differently", size, part)
			}
			if in && part[0] == part[1] {
				t.Errorf("%d bytes: nothing was released, it says", size)
			}
		}
		if f.Release(want) {
			t.Errorf("%d bytes: memory elsewhere is taken for the file's", size)
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if f.Release(want) {
			t.Error("a closed file has memory")
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := mapped.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := mapped.Open(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}
