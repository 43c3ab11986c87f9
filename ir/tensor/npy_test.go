package tensor

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The files of testdata/npy were written by NumPy, expect.json by it too.
func expectations(t *testing.T) map[string]*T {
	var rows map[string]struct {
		DType  string
		Shape  []int
		Values []string
	}
	if err := json.Unmarshal(fixture(t, "expect.json"), &rows); err != nil {
		t.Fatal(err)
	}
	out := map[string]*T{}
	for name, row := range rows {
		d, ok := ParseDType(row.DType)
		if !ok {
			t.Fatal(row.DType)
		}
		v := New(d, row.Shape...)
		for i, text := range row.Values {
			setText(t, v, i, text)
		}
		out[name] = v
	}
	return out
}

func setText(t *testing.T, v *T, i int, text string) {
	t.Helper()
	var err error
	switch v.DType.Kind() {
	case Float:
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		v.SetFloat(i, f)
	case Unsigned:
		var u uint64
		u, err = strconv.ParseUint(text, 10, 64)
		v.SetUint(i, u)
	default:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		v.SetInt(i, n)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "npy", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestNpyFromNumPy(t *testing.T) {
	for name, want := range expectations(t) {
		if strings.Contains(name, "/") {
			continue
		}
		data := fixture(t, name+".npy")
		got, err := ReadNpyFile(filepath.Join("testdata", "npy", name+".npy"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := Compare(got, want, Exact); d != nil {
			t.Errorf("%s: %v", name, d)
		}
		if got, err = ReadNpy(bytes.NewReader(data)); err != nil || Compare(got, want, Exact) != nil {
			t.Errorf("%s: from a stream: %v", name, err)
		}
		// At an odd address the elements must be copied.
		odd := AlignedBytes(len(data) + 1)[1:]
		copy(odd, data)
		if got, err = DecodeNpy(odd); err != nil || Compare(got, want, Exact) != nil || !Aligned(got.DType, got.Data) {
			t.Errorf("%s: at an odd address: %v", name, err)
		}
		if plain := strings.HasPrefix(name, "c_") || name == "scalar" || name == "empty" || name == "one_axis"; plain && !bytes.Equal(AppendNpy(nil, got), data) {
			t.Errorf("%s: written back, the bytes differ from NumPy's", name)
		}
	}
}

func TestNpyInPlace(t *testing.T) {
	data := AlignedBytes(len(fixture(t, "c_f4.npy")))
	copy(data, fixture(t, "c_f4.npy"))
	got, err := DecodeNpy(data)
	if err != nil || &got.Data[0] != &data[128] {
		t.Errorf("the elements were copied (%v)", err)
	}
}

func TestNpyErrors(t *testing.T) {
	good := string(fixture(t, "c_f4.npy"))
	header := func(s string) string {
		return npyMagic + "\x01\x00" + string([]byte{byte(len(s)), byte(len(s) >> 8)}) + s
	}
	for _, c := range []struct{ data, want string }{
		{"", "not a .npy file"}, {"PK\x03\x04", "not a .npy file"}, {good[:9], "ends within the .npy header"}, {good[:40], "ends within the .npy header, which claims 118 bytes"},
		{good[:len(good)-1], "f32[2,3,4] needs 96 bytes of elements, the file has 95"}, {good + "x", "needs 96 bytes of elements, the file has 97"},
		{npyMagic + "\x04\x00" + good[8:], "version 4.0 is not one of"}, {npyMagic + "\x02\x00\xff\xff\xff\xff{}", "claims 4294967295 bytes, more than"},
		{string(fixture(t, "bad_complex.npy")), "the elements are complex numbers (dtype \"<c8\")"}, {string(fixture(t, "bad_text.npy")), "the elements are text"}, {string(fixture(t, "bad_bytes.npy")), "the elements are byte strings"},
		{string(fixture(t, "bad_struct.npy")), "the elements are structures"}, {string(fixture(t, "bad_date.npy")), "the elements are dates"}, {string(fixture(t, "bad_long.npy")), "floats of this width"}, {string(fixture(t, "bad_object.npy")), "the elements are Python objects"},
		{header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"), "is too large"},
		{header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"), "bad dimension"}, {header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), "bad dimension"},
		{header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", 65) + ")}"), "more than 64 axes"},
		{header("{'descr': '<f4', 'fortran_order': False}"), `key "shape" is missing`}, {header("{'descr': '<f4', 'descr': '<f4'}"), `key "descr" is unknown or stands twice`}, {header("{'x': 1}"), `key "x" is unknown`},
		{header("{'descr': 'q9'}"), "unknown dtype"}, {header("{'descr': ''}"), "unknown dtype"}, {header("{'descr': '<>f4'}"), "unknown dtype"}, {header("{'descr"), "never closed"}, {header("{'descr': '<f4', 'fortran_order': 0"), "want True or False"}, {header("{} x"), "missing"}, {header("[]"), "want {"},
	} {
		if v, err := DecodeNpy([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: got %v, %v, want %s", c.data, v, err, c.want)
		}
	}
}

// A file that claims much is refused before memory is taken for it; one that
// is there but for a hole of zeros is read.
func TestNpyFileSizes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	head := appendNpyHeader(nil, &T{DType: F32, Shape: []int{1 << 20}})
	for size, want := range map[int64]string{0: "not a .npy file", 60: "ends within", 128: "needs 4194304 bytes of elements, the file has 0", 1 << 40: "the file has 1099511627648", 128 + 4<<20: ""} {
		if err := os.WriteFile(path, head[:min(int(size), len(head))], 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Skip(err)
		}
		v, err := ReadNpyFile(path)
		if want == "" && (err != nil || v.Len() != 1<<20) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes: %v, want %q", size, err, want)
		}
	}
}

// Bytes other than 0 and 1 in a bool array become 1, as `!= 0` would see them.
func TestNpyOddBool(t *testing.T) {
	data := AppendNpy(nil, New(Bool, 11))
	copy(data[len(data)-11:], []byte{0, 1, 2, 255, 0, 0, 0, 0, 0, 0, 7})
	got, err := DecodeNpy(data)
	if err != nil || !bytes.Equal(got.Data, []byte{0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1}) {
		t.Error(got, err)
	}
}

func TestNpzFromNumPy(t *testing.T) {
	want := expectations(t)
	for _, name := range []string{"stored.npz", "deflated.npz", "savez.npz"} {
		z, err := OpenNpz(fixture(t, name))
		if err != nil {
			t.Fatal(name, err)
		}
		if got := strings.Join(z.Keys(), " "); got != "weight bias steps on" {
			t.Error(name, got)
		}
		for _, key := range z.Keys() {
			got, err := z.Read(key)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if d := Compare(got, want["npz/"+key], Exact); d != nil {
				t.Errorf("%s: %s: %v", name, key, d)
			}
		}
		if _, err := z.Read("wieght"); err == nil || err.Error() != `no array "wieght"; there is weight, bias, steps, on` {
			t.Error(name, err)
		}
	}
}

func TestNpzErrors(t *testing.T) {
	if _, err := OpenNpz([]byte("nothing")); err == nil || !strings.Contains(err.Error(), "not a .npz file") {
		t.Error(err)
	}
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		data := fixture(t, name)
		data[80] ^= 1 // in the first array
		z, err := OpenNpz(data)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := z.Read("weight"); err == nil {
			t.Errorf("%s: a flipped bit went unseen: %v", name, v)
		}
	}
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		data := fixture(t, name)
		data[0] ^= 1 // the mark of the first array
		z, err := OpenNpz(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Read("weight"); err == nil || !strings.Contains(err.Error(), `array "weight": the archive is damaged where it should stand`) {
			t.Error(name, err)
		}
	}
	none, err := OpenNpz(append([]byte("PK\x05\x06"), make([]byte, 18)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Read("weight"); err == nil || err.Error() != `no array "weight"; there is none` {
		t.Error(err)
	}
	z, err := OpenNpz(fixture(t, "deflated.npz"))
	if err != nil {
		t.Fatal(err)
	}
	z.MaxBytes = 100
	if _, err := z.Read("weight"); err == nil || !strings.Contains(err.Error(), "it unpacks to 176 bytes, more than the 100 allowed") {
		t.Error(err)
	}
	var twice bytes.Buffer
	if err := WriteNpz(&twice, []Named{{"a", Scalar(1.0)}, {"a", Scalar(2.0)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenNpz(twice.Bytes()); err == nil || !strings.Contains(err.Error(), "two arrays of the name") {
		t.Error(err)
	}
}

func TestNpzRoundTrip(t *testing.T) {
	var arrays []Named
	for i, d := range DTypes {
		v := New(d, i, 3)
		for k := range v.Len() {
			v.SetInt(k, int64(k))
		}
		arrays = append(arrays, Named{d.String(), v})
	}
	var b, again bytes.Buffer
	if err := WriteNpz(&b, arrays); err != nil {
		t.Fatal(err)
	}
	if err := WriteNpz(&again, arrays); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("not deterministic", err)
	}
	data := AlignedBytes(b.Len())
	copy(data, b.Bytes())
	z, err := OpenNpz(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arrays {
		got, err := z.Read(a.Name)
		if err != nil || !BitEqual(got, a.Tensor) {
			t.Errorf("%s: %v, %v", a.Name, got, err)
		} else if got.Len() > 0 && !Aligned(F64, got.Data) {
			t.Errorf("%s: not aligned in the archive", a.Name)
		}
	}
}

// Reading real files of other programs.
func TestNpyShared(t *testing.T) {
	paths, _ := filepath.Glob("../../../shared/cases/*/*.npy")
	if len(paths) == 0 {
		t.Skip("no ../shared/cases beside the project")
	}
	for _, path := range paths {
		v, err := ReadNpyFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if data, _ := os.ReadFile(path); !bytes.HasSuffix(data, v.Data) {
			t.Errorf("%s: other bytes", path)
		}
	}
}

func FuzzNpy(f *testing.F) {
	paths, _ := filepath.Glob("testdata/npy/*.npy")
	for _, p := range paths {
		if data, err := os.ReadFile(p); err == nil && len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := DecodeNpy(data)
		if err != nil {
			return
		}
		if len(v.Data) > len(data) {
			t.Fatalf("%d bytes out of %d", len(v.Data), len(data))
		}
		back, err := DecodeNpy(AppendNpy(nil, v))
		if err != nil || !BitEqual(v, back) {
			t.Fatalf("%v came back as %v (%v)", v, back, err)
		}
	})
}

func FuzzNpz(f *testing.F) {
	for _, name := range []string{"stored.npz", "deflated.npz", "savez.npz"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		z, err := OpenNpz(data)
		if err != nil {
			return
		}
		z.MaxBytes = 1 << 24
		var arrays []Named
		for _, key := range z.Keys() {
			if v, err := z.Read(key); err == nil && len(key) < math.MaxUint16-4 {
				arrays = append(arrays, Named{key, v})
			}
		}
		var b bytes.Buffer
		if err := WriteNpz(&b, arrays); err != nil {
			t.Fatal(err)
		}
		back, err := OpenNpz(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range arrays {
			if v, err := back.Read(a.Name); err != nil || !BitEqual(v, a.Tensor) {
				t.Fatalf("%q: %v came back as %v (%v)", a.Name, a.Tensor, v, err)
			}
		}
	})
}

func BenchmarkNpy(b *testing.B) {
	const side = 1024
	v := New(F32, side, side)
	c := append(AlignedBytes(0), AppendNpy(nil, v)...)
	for name, data := range map[string][]byte{
		"in-place": c, "big-endian": bytes.Replace(c, []byte("<f4"), []byte(">f4"), 1),
		"fortran": bytes.Replace(c, []byte("False, "), []byte("True,  "), 1),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(v.Data)))
			for b.Loop() {
				if _, err := DecodeNpy(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
