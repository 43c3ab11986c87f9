package bytecode_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// A holes writes to a file and leaves out what is zero, so that a large file takes
// no room.
type holes struct{ f *os.File }

func (h holes) Write(b []byte) (int, error) {
	if bytes.Count(b, []byte{0}) < len(b) {
		return h.f.Write(b)
	}
	at, err := h.f.Seek(int64(len(b)), io.SeekCurrent)
	if err == nil {
		err = h.f.Truncate(at)
	}
	return len(b), err
}

// large makes a file of 240 MB and returns where its last weight begins.
func large(t *testing.T) (path string, last int64) {
	t.Helper()
	const n = 60 << 20 // elements
	file := sample(t)
	file.Weights = append(file.Weights,
		bytecode.Weight{Name: "large", Type: bytecode.Type{DType: tensor.F32, Shape: []int{n}}, Data: make([]byte, 4*n)},
		bytecode.NewWeight("last", tensor.FromSlice([]int{16}, make([]float32, 16))))
	path = filepath.Join(t.TempDir(), "large.npuc")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := file.WriteTo(holes{f})
	if err != nil {
		t.Fatal(err)
	}
	return path, size - 64
}

// TestOpenReadsNoWeights damages a weight of a large file. Opening, which does not
// look at it, succeeds; Check finds it, and so does whoever reads all of the file.
func TestOpenReadsNoWeights(t *testing.T) {
	path, last := large(t)
	open := func() *bytecode.File {
		file, err := bytecode.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := open()
	if err := file.Check(); err != nil {
		t.Errorf("the file without damage: %v", err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0, 0, 0x80, 0x3f}, last); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	file = open()
	defer file.Close()
	if x, ok := file.Lookup("last"); !ok || x.FloatAt(0) != 1 {
		t.Errorf("the damaged weight is %v", x)
	}
	wantBad(t, file.Check(), `section "data" is damaged`)
}

// TestWeightsAreMapped finds the weights of an open file, but for small ones, in a mapping
// of it that is shared and read-only: processes that open one file have one copy of them.
func TestWeightsAreMapped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("asks the list of mappings that Linux keeps")
	}
	path := filepath.Join(t.TempDir(), "mapped.npuc")
	made := sample(t)
	made.Weights = append(made.Weights, bytecode.NewWeight("large", tensor.New(tensor.F32, 100_000)))
	if err := made.Save(path); err != nil {
		t.Fatal(err)
	}
	file, err := bytecode.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	mapped := func(data []byte) bool {
		at := uint64(uintptr(unsafe.Pointer(&data[0])))
		for line := range strings.Lines(string(maps)) {
			fields := strings.Fields(line)
			from, to, _ := strings.Cut(fields[0], "-")
			lo, _ := strconv.ParseUint(from, 16, 64)
			hi, _ := strconv.ParseUint(to, 16, 64)
			if lo <= at && at+uint64(len(data)) <= hi {
				return fields[1] == "r--s" && fields[len(fields)-1] == path
			}
		}
		return false
	}
	for _, w := range append(file.Program.Weights, file.Weights...) {
		if len(w.Data) > 0 && mapped(w.Data) != (w.Name == "large") {
			t.Errorf("%s lies in the mapping of the file: %v", w.Name, mapped(w.Data))
		}
	}
}

// TestLayoutOfFile checks where things lie: the data at a page, each tensor in it
// at a multiple of 64.
func TestLayoutOfFile(t *testing.T) {
	data := encodeFile(t, sample(t))
	at := sectionAt(t, data, "data")
	if at%4096 != 0 {
		t.Errorf("the data begin at %d", at)
	}
	want := binary.LittleEndian.AppendUint32(nil, 0x3f800000) // 1.0, the first element of a.weight
	if got := data[at+64:][:4]; !bytes.Equal(got, want) {
		t.Errorf("the first weight behind the constant begins with %x, want %x", got, want)
	}
}

// TestWithoutPositions: where instructions come from can be left out.
func TestWithoutPositions(t *testing.T) {
	p := assemble(t, text(t, "straight"))
	whole := bytecode.Encode(p)
	for i := range p.Functions {
		for _, s := range p.Functions[i].Streams {
			for k := range s.Code {
				s.Code[k].Pos = diag.Loc{}
			}
		}
	}
	stripped := bytecode.Encode(p)
	q, err := bytecode.Decode(stripped)
	if err != nil {
		t.Fatal(err)
	}
	if err := bytecode.Verify(q); err != nil {
		t.Error(err)
	}
	if strings.Contains(listing(q), "s.npu") || bytes.Contains(stripped, []byte("s.npu")) || !bytes.Contains(whole, []byte("s.npu")) {
		t.Errorf("the source stays:\n%s", listing(q))
	}
	if !strings.Contains(listing(q), "t6") {
		t.Errorf("the tasks are lost:\n%s", listing(q))
	}
}
