package bytecode_test

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/npulang/npu/codegen/bytecode"
)

func TestPacksRoundTrip(t *testing.T) {
	want := packedSample(t)
	data := encodeFile(t, want)
	// A file that begins anywhere has its layouts at lines of the cache too.
	for off := range 9 {
		room := make([]byte, len(data)+off)
		copy(room[off:], data)
		got, err := bytecode.Read(room[off:])
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Packs) != len(want.Packs) {
			t.Fatalf("%d layouts, want %d", len(got.Packs), len(want.Packs))
		}
		for i, p := range got.Packs {
			w := want.Packs[i]
			all := w.Data
			if w.Make != nil {
				all = make([]byte, w.Size)
				w.Make(all)
			}
			if p.Of != w.Of || p.Layout != w.Layout || p.Size != w.Size || !bytes.Equal(p.Data, all) {
				t.Errorf("layout %d is %+v", i, p)
			}
			if p.Size > 0 && uintptr(unsafe.Pointer(&p.Data[0]))%64 != 0 {
				t.Errorf("layout %d does not begin at a line", i)
			}
		}
		if !bytes.Equal(encodeFile(t, got), data) {
			t.Error("the file changes on its way")
		}
	}
	plain := encodeFile(t, sample(t))
	if !bytes.Contains(data, []byte("packed")) || bytes.Contains(plain, []byte("packed")) {
		t.Error("a file without layouts has their section, or one with them has not")
	}
}

func TestDamagedPacks(t *testing.T) {
	data := encodeFile(t, packedSample(t))
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x10
		_, err := bytecode.Read(damaged)
		wantBad(t, err, "")
	}
	_, err := bytecode.Read(damage(data, sectionAt(t, data, "packed")))
	wantBad(t, err, `section "packed" is damaged`)
}

func TestPackErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edit       func(*bytecode.File)
	}{
		{"of nothing", `layout "panels/16" is of weight 99, where there are`, func(f *bytecode.File) { f.Packs[0].Of = 99 }},
		{"twice", `is there twice in layout "panels/16"`, func(f *bytecode.File) { f.Packs[1].Of, f.Packs[1].Layout = f.Packs[0].Of, "panels/16" }},
		{"too short", `the data of layout "panels/32" are cut off`, func(f *bytecode.File) {
			f.Packs[1].Make, f.Packs[1].Data = nil, make([]byte, 36)
		}},
		{"too long", `64 bytes of section "packed" belong to no layout`, func(f *bytecode.File) {
			f.Packs[1].Make, f.Packs[1].Data = nil, make([]byte, 164)
		}},
		{"without end", "above the limit", func(f *bytecode.File) {
			f.Packs[1].Make, f.Packs[1].Data, f.Packs[1].Size = nil, make([]byte, 4), 1<<62
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := packedSample(t)
			c.edit(f)
			_, err := bytecode.Read(encodeFile(t, f))
			wantBad(t, err, c.want)
		})
	}
}
