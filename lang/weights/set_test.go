package weights

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// The files of testdata come from NumPy, expect.json too.
func expectations(t *testing.T) map[string]*tensor.T {
	var rows map[string]struct {
		DType  string
		Shape  []int
		Values []string
	}
	text, err := os.ReadFile("testdata/expect.json")
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*tensor.T{}
	for name, row := range rows {
		v := tensor.New(dtypeNames[row.DType], row.Shape...)
		for i, text := range row.Values {
			if v.DType.IsFloat() {
				f, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				v.SetFloat(i, f)
				continue
			}
			n, err := strconv.ParseUint(strings.TrimPrefix(text, "-"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if text[0] == '-' {
				n = -n
			}
			v.SetUint(i, n)
		}
		out[name] = v
	}
	return out
}

func open(t testing.TB, path string) *Set {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestFilesFromNumPy(t *testing.T) {
	for _, name := range []string{"dtypes", "odd"} {
		s := open(t, "testdata/"+name+".safetensors")
		for key, want := range expectations(t) {
			got, err := s.Read(key)
			if err != nil {
				t.Error(err)
			} else if d := tensor.Compare(got, want, tensor.Exact); d != nil {
				t.Errorf("%s: %s: %v", name, key, d)
			} else if !tensor.Aligned(got.DType, got.Data) {
				t.Errorf("%s: %s is not aligned", name, key)
			}
		}
		if names := s.Names(); !slices.IsSorted(names) || len(names) < 15 {
			t.Error(names)
		}
	}
}

// A dtype that npu does not have spoils only the tensor of that dtype.
func TestForeignDType(t *testing.T) {
	s := open(t, "testdata/float8.safetensors")
	if v, ok := s.Lookup("b"); !ok || v.FloatAt(0) != 1.5 {
		t.Error(v, ok)
	}
	if _, err := s.Read("w"); message(err) != `tensor "w" has dtype F8_E4M3, which npu does not have; convert it to F16 or F32` {
		t.Error(message(err))
	}
	if _, ok := s.Lookup("none"); ok || s.Has("none") || !s.Has("w") {
		t.Error("Lookup or Has is wrong")
	}
}

// Elements that lie right in the file are used where they are.
func TestInPlace(t *testing.T) {
	var b bytes.Buffer
	want := tensor.FromSlice([]int{3}, []float32{1, 2, 3})
	if err := Encode(&b, []tensor.Named{{Name: "w", Tensor: want}}, nil); err != nil {
		t.Fatal(err)
	}
	data := append(tensor.AlignedBytes(b.Len())[:0], b.Bytes()...)
	s, err := Decode("mem", data)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := s.Lookup("w")
	if again, _ := s.Lookup("w"); &got.Data[0] != &data[len(data)-12] || again != got || !tensor.BitEqual(got, want) {
		t.Error("the elements were copied")
	}
}

func message(err error) string {
	var d *diag.Diagnostic
	if !errors.As(err, &d) {
		return "no diagnostic"
	}
	return d.Message
}

func file(header, body string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + body
}

func TestBadFiles(t *testing.T) {
	row := func(name, dtype, shape, offsets string) string {
		return `"` + name + `":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}`
	}
	for _, c := range []struct{ data, want string }{
		{"", "not a safetensors file: it has 0 bytes"}, {"1234567", "it has 7 bytes"}, {"\xff\xff\xff\xff\xff\xff\xff\xff{}", "its header would have 18446744073709551615 bytes"}, {file("{}", "")[:9], "the file is truncated: its header should have 2 bytes, 1 are there"},
		{file("", ""), "does not begin with {"}, {file(" {}", ""), "does not begin with {"}, {file("{\"\xff\":1}", ""), "not valid UTF-8"}, {file("{", ""), "the JSON ends too early"}, {file("{]", ""), "bad header: at byte 1: invalid character"}, {file("{} {}", ""), "unexpected { after the header"}, {file("{} x", ""), "invalid character"},
		{file(`{"a":1}`, ""), `tensor "a": want {, not 1`}, {file(`{"a":{}}`, ""), `tensor "a": dtype is missing`}, {file(`{"a":{"dtype":"F32","dtype":"F32"}}`, ""), `key "dtype" is unknown or stands twice`}, {file(`{"a":{"x":1}}`, ""), `key "x" is unknown`}, {file(`{"a":{"dtype":3}}`, ""), "want a string, not 3"},
		{file(`{`+row("a", "F32", "[1]", "[0,4]")+`,`+row("a", "F32", "[1]", "[4,8]")+`}`, "12345678"), `two tensors of the name "a"`},
		{file(`{`+row("a", "F32", "[-1]", "[0,4]")+`}`, "1234"), "want a natural number, not -1"}, {file(`{`+row("a", "F32", "[1.5]", "[0,4]")+`}`, "1234"), "want a natural number, not 1.5"}, {file(`{`+row("a", "F32", `["1"]`, "[0,4]")+`}`, "1234"), `want a natural number, not "1"`}, {file(`{`+row("a", "F32", "[1]", "[0]")+`}`, "1234"), "data_offsets has 1 numbers, not 2"}, {file(`{`+row("a", "F32", "[1]", "[0,4,5]")+`}`, "1234"), "more than 2 numbers"},
		{file(`{`+row("a", "F32", "[99999999999999999999]", "[0,4]")+`}`, "1234"), "want a natural number"}, {file(`{`+row("a", "F32", "[4611686018427387904,4]", "[0,0]")+`}`, ""), "is too large"}, {file(`{`+row("a", "F32", "[1]", "[4,0]")+`}`, "1234"), `tensor "a" ends before it begins`}, {file(`{`+row("a", "F32", "[2]", "[0,4]")+`}`, "1234"), "f32[2] needs 8 bytes, data_offsets [0,4] give 4"},
		{file(`{`+row("a", "F32", "[1]", "[0,4]")+`}`, "123"), `the file is truncated: tensor "a" ends at byte 4 of the elements, 3 are there`}, {file(`{`+row("a", "F32", "[1]", "[0,4]")+`}`, "12345"), "bytes 4 to 5, after the last tensor, belong to no tensor"}, {file(`{`+row("a", "F32", "[1]", "[1,5]")+`}`, "12345"), `bytes 0 to 1, before tensor "a", belong to no tensor`},
		{file(`{`+row("b", "F32", "[2]", "[0,8]")+`,`+row("a", "F32", "[1]", "[4,8]")+`}`, "12345678"), `tensors "b" and "a" overlap: the first ends at byte 8, the second begins at 4`},
		{file(`{"__metadata__":{"a":1}}`, ""), "__metadata__: want a string, not 1"}, {file(`{"__metadata__":{},"__metadata__":{}}`, ""), "two tensors"}, {file(strings.Repeat(`{"a":`, 100000), ""), `tensor "a": key "a" is unknown`},
		{"\x93NUMPY\x01\x00", "this is a .npy file"}, {"PK\x03\x04xxxxxxxxxxxxx", "not a .npz file"},
	} {
		s, err := Decode("w.safetensors", []byte(c.data))
		var d *diag.Diagnostic
		if !errors.As(err, &d) || d.Code != "bad-weight" || d.Loc.File != "w.safetensors" || !strings.Contains(d.Message, c.want) {
			t.Errorf("%.60q: got %v, %s, want %s", c.data, s, message(err), c.want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for path, want := range map[string]string{"testdata/none": "cannot read the weights file: no such file or directory", "testdata": "cannot read the weights file: it is a folder"} {
		_, err := Open(path)
		var d *diag.Diagnostic
		if !errors.As(err, &d) || d.Code != "bad-file" || d.Message != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(empty); !strings.Contains(message(err), "it has 0 bytes") {
		t.Error(err)
	}
}

func TestNpz(t *testing.T) {
	const dir = "../../ir/tensor/testdata/npy/"
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		s := open(t, dir+name)
		if got := strings.Join(s.Names(), " "); got != "bias on steps weight" {
			t.Error(got)
		}
		if v, err := s.Read("steps"); err != nil || v.String() != "i64[4] [0, 1, 2, 3]" {
			t.Error(v, err)
		}
	}
}

func TestClose(t *testing.T) {
	s, err := Open("testdata/dtypes.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, ok := s.Lookup("scalar"); ok || len(s.Names()) != 0 {
		t.Error("a closed set still has tensors")
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.safetensors")
	var arrays []tensor.Named
	for i, d := range tensor.DTypes {
		v := tensor.New(d, 3, i)
		for k := range v.Len() {
			v.SetInt(k, int64(k))
		}
		arrays = append(arrays, tensor.Named{Name: "t." + d.String() + `"é`, Tensor: v})
	}
	if err := Write(path, arrays, map[string]string{"format": "pt"}); err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(path)
	slices.Reverse(arrays)
	if err := Write(path, arrays, map[string]string{"format": "pt"}); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(path); !bytes.Equal(first, again) {
		t.Error("the order of the arguments shows in the file")
	}
	s := open(t, path)
	for _, a := range arrays {
		if got, err := s.Read(a.Name); err != nil || !tensor.BitEqual(got, a.Tensor) {
			t.Errorf("%s: %v, %v", a.Name, got, err)
		}
	}
	// What cannot be written leaves the file as it was, and nothing beside it.
	for _, name := range []string{"__metadata__", "\xff"} {
		if err := Write(path, []tensor.Named{{Name: name, Tensor: tensor.Scalar(1.0)}}, nil); err == nil {
			t.Errorf("the name %q was written", name)
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(first, after) {
		t.Error("a failed write changed the file")
	}
	if rest, _ := os.ReadDir(dir); len(rest) != 1 {
		t.Error(rest)
	}
	if info, _ := os.Stat(path); info.Mode().Perm()&0o444 != 0o444 {
		t.Error(info.Mode())
	}
}

// Real files of other programs; their sizes are in ../shared/weights/README.md.
func TestShared(t *testing.T) {
	for path, want := range map[string][2]int{
		"../../../shared/weights/mnist/mnist.safetensors":                   {20, 376940},
		"../../../shared/weights/silero_vad_16k/silero_vad_16k.safetensors": {15, 309633},
	} {
		if _, err := os.Stat(path); err != nil {
			t.Skip("no ../shared/weights beside the project")
		}
		s := open(t, path)
		elements := 0
		for _, name := range s.Names() {
			v, err := s.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			elements += v.Len()
		}
		if got := [2]int{len(s.Names()), elements}; got != want {
			t.Errorf("%s: tensors, elements %v, want %v", path, got, want)
		}
	}
}

func FuzzSafetensors(f *testing.F) {
	for _, name := range []string{"dtypes", "odd", "float8"} {
		data, err := os.ReadFile("testdata/" + name + ".safetensors")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "1234")))
	f.Add([]byte(file(`{"__metadata__":{"a":"b"}}`, "")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode("fuzz", data)
		if err != nil {
			return
		}
		var arrays []tensor.Named
		size := 0
		for _, name := range s.Names() {
			if v, ok := s.Lookup(name); ok && s.npz == nil {
				arrays = append(arrays, tensor.Named{Name: name, Tensor: v})
				size += len(v.Data)
			}
		}
		if size > len(data) {
			t.Fatalf("%d bytes out of %d", size, len(data))
		}
		var b bytes.Buffer
		if err := Encode(&b, arrays, nil); err != nil {
			t.Fatal(err)
		}
		back, err := Decode("back", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range arrays {
			if v, err := back.Read(a.Name); err != nil || !tensor.BitEqual(v, a.Tensor) {
				t.Fatalf("%q: %v came back as %v (%v)", a.Name, a.Tensor, v, err)
			}
		}
	})
}
