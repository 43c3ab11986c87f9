package bytecode_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/npulang/npu/codegen/bytecode"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

func TestEncodingRoundTrips(t *testing.T) {
	for _, text := range []string{straight, regions} {
		p := build(t, text)
		data := bytecode.Encode(p)
		q, err := bytecode.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytecode.Encode(q), data) || listing(p) != listing(q) {
			t.Errorf("the program changes:\n%s\n%s", listing(p), listing(q))
		}
		if !reflect.DeepEqual(p.Weights, q.Weights) || !reflect.DeepEqual(p.Buffers, q.Buffers) {
			t.Error("weights or buffers change")
		}
	}
}

// TestTruncated cuts a program at every byte.
func TestTruncated(t *testing.T) {
	data := bytecode.Encode(build(t, regions))
	for n := range len(bytes.TrimRight(data, "\x00")) {
		_, err := bytecode.Decode(data[:n])
		wantBad(t, err, "")
	}
	_, err := bytecode.Decode(append(bytes.Clone(data), 0))
	wantBad(t, err, "after its last section")
}

// mend makes the checksums of a file fit what it holds, as far as its head makes
// sense, so that what lies behind them is reached.
func mend(data []byte) []byte {
	const head, row = 16, 28
	if len(data) < head {
		return data
	}
	data = bytes.Clone(data)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	n := min(binary.LittleEndian.Uint32(data[12:]), 99)
	end := head + row*int(n)
	if end+4 > len(data) {
		return data
	}
	for at := head; at < end; at += row {
		offset, length := binary.LittleEndian.Uint64(data[at+8:]), binary.LittleEndian.Uint64(data[at+16:])
		if size := uint64(len(data)); offset <= size && length <= size-offset {
			binary.LittleEndian.PutUint32(data[at+24:], crc32.Checksum(data[offset:offset+length], castagnoli))
		}
	}
	binary.LittleEndian.PutUint32(data[end:], crc32.Checksum(data[:end], castagnoli))
	return data
}

// sectionAt returns where a section of a file begins.
func sectionAt(t testing.TB, data []byte, name string) int {
	t.Helper()
	for at := 16; at < 16+28*int(data[12]); at += 28 {
		if string(bytes.TrimRight(data[at:at+8], "\x00")) == name {
			return int(binary.LittleEndian.Uint64(data[at+8:]))
		}
	}
	t.Fatalf("there is no section %s", name)
	return 0
}

func wantBad(t *testing.T, err error, part string) {
	t.Helper()
	d, ok := err.(*diag.Diagnostic)
	if !ok || d.Code != "bad-bytecode" || !strings.Contains(d.Message, part) {
		t.Fatalf("got %v, want bad-bytecode with %q", err, part)
	}
}

func TestWrongVersion(t *testing.T) {
	data := bytecode.Encode(build(t, straight))
	data[8] = 9
	_, err := bytecode.Decode(data)
	wantBad(t, err, "version 9")
}

// TestFlippedBytes changes every byte of a program in several ways: whatever
// comes out is refused, or is a program that the verifier can judge.
func TestFlippedBytes(t *testing.T) {
	data := bytecode.Encode(build(t, regions))
	for i := range data {
		for _, x := range []byte{1, 0x80, 0xff} {
			flipped := bytes.Clone(data)
			flipped[i] ^= x
			judge(mend(flipped))
		}
	}
}

// judge does with a program what a user could.
func judge(data []byte) {
	p, err := bytecode.Decode(data)
	if err != nil {
		return
	}
	_ = bytecode.Verify(p)
	_ = bytecode.Disassemble(io.Discard, p)
}

// TestMemoryIsBounded decodes programs that claim to be huge.
func TestMemoryIsBounded(t *testing.T) {
	huge := bytecode.Encode(build(t, straight))
	copy(huge[sectionAt(t, huge, "kernels"):], []byte{0xff, 0xff, 0xff, 0xff, 0x0f}) // 4 billion strings
	huge = mend(huge)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := bytecode.Decode(huge)
	runtime.ReadMemStats(&after)
	wantBad(t, err, "a list of 4294967295 elements")
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<16 {
		t.Errorf("%d bytes for an input of %d", grown, len(huge))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(bytecode.Encode(build(f, straight)))
	f.Add(bytecode.Encode(build(f, regions)))
	_, list := faults(f)
	for _, c := range list {
		f.Add(bytecode.Encode(assemble(f, c.listing)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := bytecode.Decode(mend(data))
		if err != nil {
			return
		}
		again := bytecode.Encode(p)
		q, err := bytecode.Decode(again)
		if err != nil || !bytes.Equal(bytecode.Encode(q), again) {
			t.Fatalf("a decoded program does not encode: %v", err)
		}
		_ = bytecode.Verify(p)
		_ = bytecode.Disassemble(io.Discard, p)
	})
}

func FuzzFile(f *testing.F) {
	f.Add(encodeFile(f, sample(f)))
	f.Add(encodeFile(f, packedSample(f)))
	f.Add(encodeFile(f, &bytecode.File{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := bytecode.Read(mend(data))
		if err != nil {
			return
		}
		again := encodeFile(t, file)
		copied, err := bytecode.Read(again)
		if err != nil {
			t.Fatalf("a file that was read does not read again: %v", err)
		}
		if !bytes.Equal(encodeFile(t, copied), again) {
			t.Fatal("a file changes on its way")
		}
	})
}

func sample(t testing.TB) *bytecode.File {
	return &bytecode.File{
		Meta:    []bytecode.Pair{{Key: "made-by", Value: "a test"}, {Key: "graph", Value: "main"}},
		IR:      "func @f() -> () {\n  return\n}\n",
		Program: build(t, regions),
		Weights: []bytecode.Weight{
			bytecode.NewWeight("a.weight", tensor.FromSlice([]int{3}, []float32{1, 2, 3})),
			bytecode.NewWeight("empty", tensor.New(tensor.F64, 0, 7)),
			bytecode.NewWeight("b", tensor.FromSlice([]int{2, 2}, []int64{1, -2, 3, 4})),
		},
	}
}

// packedSample is sample with weights in further layouts.
func packedSample(t testing.TB) *bytecode.File {
	f := sample(t)
	last := len(f.Valued()) - 1
	f.Packs = []bytecode.Packed{
		{Of: last, Layout: "panels/16", Size: 64, Data: bytes.Repeat([]byte{1, 2, 3, 4}, 16)},
		{Of: last, Layout: "panels/32", Size: 100, Make: func(dst []byte) {
			for i := range dst {
				dst[i] = byte(i)
			}
		}},
		{Of: 0, Layout: "panels/16", Data: []byte{}},
	}
	return f
}

func encodeFile(t testing.TB, f *bytecode.File) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := f.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, b.Len(), err)
	}
	return b.Bytes()
}
