package tensor

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// An Npz is an open .npz file: a zip archive of .npy files. Arrays are read
// when asked for. It is safe for concurrent use.
type Npz struct {
	data    []byte
	keys    []string
	members map[string]*zip.File

	// MaxBytes bounds what one compressed array may unpack to. Zeros compress a
	// thousandfold: a small file can hold a tensor that fills the memory.
	MaxBytes int64
}

// DefaultNpzBytes is the MaxBytes of a newly opened Npz.
const DefaultNpzBytes = 4 << 30

// deflateRatio is the most that deflate compresses: a match of 258 bytes for
// two bits.
const deflateRatio = 1032

// OpenNpz reads the table of contents of a whole .npz file. Arrays that are
// stored without compression, as numpy.savez does, use data in place.
func OpenNpz(data []byte) (*Npz, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are never paths here
		return nil, fmt.Errorf("not a .npz file: %w", err)
	}
	n := &Npz{data: data, members: map[string]*zip.File{}, MaxBytes: DefaultNpzBytes}
	for _, f := range z.File {
		key, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if n.members[key] != nil {
			return nil, fmt.Errorf("two arrays of the name %s", quote(key))
		}
		n.members[key] = f
		n.keys = append(n.keys, key)
	}
	return n, nil
}

// Keys lists the arrays in the order of the file.
func (n *Npz) Keys() []string { return slices.Clone(n.keys) }

// Summary lists some of the arrays, for messages.
func (n *Npz) Summary() string { return listSome(n.keys) }

// Has reports whether there is an array of that name.
func (n *Npz) Has(key string) bool { return n.members[key] != nil }

// Read reads one array.
func (n *Npz) Read(key string) (*T, error) {
	f := n.members[key]
	if f == nil {
		return nil, fmt.Errorf("no array %s; there is %s", quote(key), n.Summary())
	}
	data, err := n.unpack(f)
	if err != nil {
		return nil, fmt.Errorf("array %s: %w", quote(key), err)
	}
	t, err := DecodeNpy(data)
	if err != nil {
		return nil, fmt.Errorf("array %s: %w", quote(key), err)
	}
	return t, nil
}

// unpack gives a member's bytes, after its checksum has been compared.
func (n *Npz) unpack(f *zip.File) ([]byte, error) {
	if f.Method == zip.Store && f.Flags&1 == 0 {
		return n.stored(f)
	}
	size := f.UncompressedSize64
	if size > uint64(max(n.MaxBytes, 0)) {
		return nil, fmt.Errorf("it unpacks to %d bytes, more than the %d allowed", size, n.MaxBytes)
	}
	if size/deflateRatio > f.CompressedSize64 {
		return nil, fmt.Errorf("%d bytes cannot unpack to %d", f.CompressedSize64, size)
	}
	r, err := f.Open()
	if err != nil {
		return nil, damaged(err)
	}
	defer r.Close()
	data := AlignedBytes(int(size))
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("cannot unpack: %w", err)
	}
	// The checksum is compared where the stream ends.
	if extra, err := r.Read(make([]byte, 1)); extra > 0 || err != io.EOF {
		return nil, fmt.Errorf("cannot unpack: %w", cmpErr(err, io.ErrShortBuffer))
	}
	return data, nil
}

func (n *Npz) stored(f *zip.File) ([]byte, error) {
	at, err := f.DataOffset()
	if err != nil {
		return nil, damaged(err)
	}
	if at < 0 || at > int64(len(n.data)) || f.UncompressedSize64 > uint64(int64(len(n.data))-at) || f.CompressedSize64 != f.UncompressedSize64 {
		return nil, fmt.Errorf("its place in the archive is out of range")
	}
	data := n.data[at : at+int64(f.UncompressedSize64) : at+int64(f.UncompressedSize64)]
	if crc32.ChecksumIEEE(data) != f.CRC32 {
		return nil, zip.ErrChecksum
	}
	return data, nil
}

// damaged explains an error of the archive's reader, which may be a bare EOF.
func damaged(err error) error {
	return fmt.Errorf("the archive is damaged where it should stand: %w", err)
}

func cmpErr(err, otherwise error) error {
	if err == nil {
		return otherwise
	}
	return err
}

func listSome(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// A Named is a tensor with the name under which a file holds it.
type Named struct {
	Name   string
	Tensor *T
}

// WriteNpz writes an archive of uncompressed arrays in the order given. Their
// elements begin at multiples of 64 bytes, so that readers can use them in
// place. Times are left out: the same arrays give the same bytes.
func WriteNpz(w io.Writer, arrays []Named) error {
	z := zip.NewWriter(w)
	offset := 0
	for _, a := range arrays {
		header := appendNpyHeader(nil, a.Tensor)
		size := len(header) + len(a.Tensor.Data)
		name := a.Name + ".npy"
		extra := alignExtra(offset + localHeader + len(name))
		offset += localHeader + len(name) + len(extra) + size
		part, err := z.CreateRaw(&zip.FileHeader{
			Name: name, Method: zip.Store, Extra: extra,
			CRC32:              crc32.Update(crc32.ChecksumIEEE(header), crc32.IEEETable, a.Tensor.Data),
			CompressedSize64:   uint64(size),
			UncompressedSize64: uint64(size),
		})
		if err != nil {
			return err
		}
		if _, err := part.Write(header); err != nil {
			return err
		}
		if _, err := part.Write(a.Tensor.Data); err != nil {
			return err
		}
	}
	return z.Close()
}

// localHeader is the size of a zip member's fixed header.
const localHeader = 30

// alignExtra makes a zip extra field that ends at a multiple of 64 when it
// begins at at: four bytes of header, two that state the alignment, zeros.
// Tag 0xd935 is Android's zipalign, which pads archives for the same reason.
func alignExtra(at int) []byte {
	const tag, align, head = 0xd935, 64, 6
	pad := (align - (at+head)%align) % align
	b := binary.LittleEndian.AppendUint16(nil, tag)
	b = binary.LittleEndian.AppendUint16(b, uint16(2+pad))
	b = binary.LittleEndian.AppendUint16(b, align)
	return append(b, make([]byte, pad)...)
}
