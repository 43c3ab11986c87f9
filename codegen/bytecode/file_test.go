package bytecode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unsafe"

	"github.com/npulang/npu/codegen/bytecode"
)

func TestFileRoundTrips(t *testing.T) {
	want := sample(t)
	path := filepath.Join(t.TempDir(), "sample.npuc")
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := bytecode.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Meta, want.Meta) || got.IR != want.IR || !reflect.DeepEqual(got.Weights, want.Weights) {
		t.Errorf("got %+v", got)
	}
	if listing(got.Program) != listing(want.Program) {
		t.Error("the program changes")
	}
	for _, w := range got.Weights {
		if len(w.Data) > 0 && uintptr(unsafe.Pointer(&w.Data[0]))%64 != 0 {
			t.Errorf("weight %s is not aligned", w.Name)
		}
	}
	if x, ok := got.Lookup("b"); !ok || x.IntAt(1) != -2 {
		t.Errorf("weight b is %v", x)
	}
	if _, ok := got.Lookup("c"); ok {
		t.Error("there is no weight c")
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("Save leaves %v behind", left)
	}
}

// TestSaveKeepsTheOld fails while writing: the old file must stay as it was.
func TestSaveKeepsTheOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "is-a-folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := sample(t).Save(path); err == nil {
		t.Error("a folder was overwritten")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("a failed Save leaves %v behind", left)
	}
}

// TestDamagedFile flips every byte and cuts at every length: nothing of that may
// be read as if it were whole. Padding counts too.
func TestDamagedFile(t *testing.T) {
	data := encodeFile(t, sample(t))
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x10
		_, err := bytecode.Read(damaged)
		wantBad(t, err, "")
	}
	padding := len(data) - len(bytes.TrimRight(data, "\x00"))
	for n := range len(data) - padding {
		_, err := bytecode.Read(data[:n])
		wantBad(t, err, "")
	}
	_, err := bytecode.Read(append(bytes.Clone(data), make([]byte, 64)...))
	wantBad(t, err, "after its last section")
}

func damage(data []byte, at int) []byte {
	data = bytes.Clone(data)
	data[at] ^= 1
	return data
}

// withoutProgram is a file whose section of kernels belongs to nothing.
func withoutProgram(t *testing.T) []byte {
	f := sample(t)
	f.IR = ""
	data := encodeFile(t, f)
	clear(data[sectionAt(t, data, "program"):sectionAt(t, data, "kernels")])
	copy(data[16+28:], "ir\x00\x00\x00\x00\x00\x00")
	return mend(data)
}

func TestFileErrors(t *testing.T) {
	data := encodeFile(t, sample(t))
	change := func(edit func([]byte)) []byte {
		b := bytes.Clone(data)
		edit(b)
		return mend(b)
	}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "only 0 bytes", nil},
		{"other format", "no compiled program", []byte("\x89PNG and then some more bytes")},
		{"version", "version 7", change(func(b []byte) { b[8] = 7 })},
		{"section unknown", `a section "nova", which this program does not know`, change(func(b []byte) { copy(b[16:], "nova") })},
		{"too many sections", "names 13 sections", change(func(b []byte) { b[12] = 13 })},
		{"section moved", "begins at byte", change(func(b []byte) { b[24]++ })},
		{"section beyond the end", "cut off in section", change(func(b []byte) { b[16+8+8+6] = 1 })},
		{"section damaged", `section "meta" is damaged`, damage(data, sectionAt(t, data, "meta"))},
		{"data damaged", `section "data" is damaged`, damage(data, sectionAt(t, data, "data"))},
		{"a section twice", `section "meta" is there twice, or not in its place`, change(func(b []byte) { copy(b[16+28:], "meta\x00\x00\x00\x00") })},
		{"no program", `a section "kernels", but no program`, withoutProgram(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := bytecode.Read(c.data)
			wantBad(t, err, c.want)
		})
	}
	if _, err := bytecode.Open(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
