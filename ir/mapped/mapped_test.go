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

// TestLift: a small part is copied, a large one and what does not lie in the file are not.
func TestLift(t *testing.T) {
	f, want := open(t, 1<<20)
	for _, part := range [][]byte{f.Data[:0], f.Data[5:6], f.Data[70_000:72_000], f.Data[4096:300_000], f.Data, want[:100]} {
		got := f.Lift(part)
		if !bytes.Equal(got, part) {
			t.Errorf("of %d bytes others are read", len(part))
		}
		copied := len(part) > 0 && &got[0] != &part[0]
		if small := len(part) > 0 && len(part) < 10_000 && &part[0] != &want[0]; copied != small {
			t.Errorf("%d bytes, copied: %v", len(part), copied)
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
