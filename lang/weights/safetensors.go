package weights

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/npulang/npu/ir/tensor"
)

// A safetensors file is
//
//	8 bytes  n, little-endian
//	n bytes  header: JSON, an object of name: {dtype, shape, data_offsets}, and
//	         perhaps "__metadata__": {string: string}; padded with spaces
//	the rest elements: little-endian, row-major; data_offsets count from here
//
// Source: the README of github.com/huggingface/safetensors. As there, the
// tensors must fill the rest without holes and without overlaps.

// An entry is one row of the header, its place checked.
type entry struct {
	name       string
	dtype      string // as the file spells it
	shape      []int
	begin, end int // offsets among the elements
}

// maxHeader is the limit of the reference implementation.
const maxHeader = 100_000_000

const metadataKey = "__metadata__"

// dtypeNames is the format's spelling of ours.
var dtypeNames = map[string]tensor.DType{
	"F64": tensor.F64, "F32": tensor.F32, "F16": tensor.F16, "BF16": tensor.BF16,
	"I64": tensor.I64, "I32": tensor.I32, "I16": tensor.I16, "I8": tensor.I8,
	"U64": tensor.U64, "U32": tensor.U32, "U16": tensor.U16, "U8": tensor.U8,
	"BOOL": tensor.Bool,
}

// readSafetensors checks a whole file and returns its rows, sorted by name,
// and the elements.
func readSafetensors(data []byte) ([]entry, []byte, error) {
	header, body, err := splitHeader(data)
	if err != nil {
		return nil, nil, err
	}
	entries, err := parseHeader(header)
	if err != nil {
		return nil, nil, err
	}
	if err := checkPlaces(entries, len(body)); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return entries, body, nil
}

func splitHeader(data []byte) (header, body []byte, err error) {
	if len(data) < 8 {
		return nil, nil, fmt.Errorf("not a safetensors file: it has %d bytes, the length of the header alone takes 8", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	switch {
	case n > maxHeader:
		return nil, nil, fmt.Errorf("not a safetensors file: its header would have %d bytes, more than %d", n, maxHeader)
	case n > uint64(len(data)-8):
		return nil, nil, fmt.Errorf("the file is truncated: its header should have %d bytes, %d are there", n, len(data)-8)
	}
	header, body = data[8:8+n], data[8+n:]
	if n == 0 || header[0] != '{' {
		return nil, nil, errors.New("not a safetensors file: the header does not begin with {")
	}
	if !utf8.Valid(header) {
		return nil, nil, errors.New("the header is not valid UTF-8")
	}
	return header, body, nil
}

// checkPlaces has the tensors follow one another from the first byte to the
// last, each of the size that its type needs.
func checkPlaces(entries []entry, size int) error {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	at, last := 0, ""
	for _, e := range entries {
		if err := e.checkSize(); err != nil {
			return err
		}
		switch {
		case e.end > size:
			return fmt.Errorf("the file is truncated: tensor %q ends at byte %d of the elements, %d are there", e.name, e.end, size)
		case e.begin < at:
			return fmt.Errorf("tensors %q and %q overlap: the first ends at byte %d, the second begins at %d", last, e.name, at, e.begin)
		case e.begin > at:
			return fmt.Errorf("bytes %d to %d, before tensor %q, belong to no tensor", at, e.begin, e.name)
		}
		at, last = e.end, e.name
	}
	if at != size {
		return fmt.Errorf("bytes %d to %d, after the last tensor, belong to no tensor", at, size)
	}
	return nil
}

// checkSize compares shape and offsets. What is not one of our dtypes may be
// of any size, it is never read.
func (e *entry) checkSize() error {
	if e.end < e.begin {
		return fmt.Errorf("tensor %q ends before it begins: data_offsets [%d,%d]", e.name, e.begin, e.end)
	}
	n, ok := tensor.Elements(e.shape)
	if !ok {
		return fmt.Errorf("tensor %q: shape %v is too large", e.name, e.shape)
	}
	d, known := dtypeNames[e.dtype]
	if known && n*d.Size() != e.end-e.begin {
		return fmt.Errorf("tensor %q: %s needs %d bytes, data_offsets [%d,%d] give %d", e.name, e.typeName(), n*d.Size(), e.begin, e.end, e.end-e.begin)
	}
	return nil
}

func (e *entry) typeName() string { return typeName(dtypeNames[e.dtype], e.shape) }

// read views the entry's elements, or copies them if they lie at an odd
// address.
func (e *entry) read(body []byte) (*tensor.T, error) {
	d, known := dtypeNames[e.dtype]
	if !known {
		return nil, fmt.Errorf("tensor %q has dtype %s, which npu does not have; convert it to F16 or F32", e.name, e.dtype)
	}
	data := body[e.begin:e.end:e.end]
	if !tensor.Aligned(d, data) {
		own := tensor.AlignedBytes(len(data))
		copy(own, data)
		data = own
	}
	t, err := tensor.FromBytes(d, e.shape, data)
	if err != nil {
		return nil, err
	}
	return tensor.CleanBool(t), nil
}

// A headerReader walks through the JSON token by token: decoding into a map
// would lose what stands twice, and the order.
type headerReader struct{ json *json.Decoder }

func parseHeader(header []byte) ([]entry, error) {
	r := headerReader{json.NewDecoder(bytes.NewReader(header))}
	r.json.UseNumber()
	var entries []entry
	seen := map[string]bool{}
	err := r.object(func(name string) error {
		if seen[name] {
			return fmt.Errorf("two tensors of the name %q", name)
		}
		seen[name] = true
		if name == metadataKey {
			return r.metadata()
		}
		e, err := r.entry(name)
		entries = append(entries, e)
		return err
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, fmt.Errorf("bad header: %w", plain(err))
	}
	return entries, nil
}

// plain words the JSON decoder's errors for someone who has not written JSON.
func plain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("at byte %d: %v", syntax.Offset, err)
	}
	return err
}

func (r headerReader) entry(name string) (entry, error) {
	e := entry{name: name}
	fields := map[string]func() error{
		"dtype":        func() (err error) { e.dtype, err = r.text(); return err },
		"shape":        func() (err error) { e.shape, err = r.integers(tensor.MaxRank); return err },
		"data_offsets": func() error { return r.offsets(&e) },
	}
	err := r.object(func(key string) error {
		read := fields[key]
		if read == nil {
			return fmt.Errorf("key %q is unknown or stands twice", key)
		}
		delete(fields, key)
		return read()
	})
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if err == nil && fields[key] != nil {
			err = fmt.Errorf("%s is missing", key)
		}
	}
	if err != nil {
		return e, fmt.Errorf("tensor %q: %w", name, plain(err))
	}
	return e, nil
}

func (r headerReader) offsets(e *entry) error {
	v, err := r.integers(2)
	if err != nil {
		return err
	}
	if len(v) != 2 {
		return fmt.Errorf("data_offsets has %d numbers, not 2", len(v))
	}
	e.begin, e.end = v[0], v[1]
	return nil
}

func (r headerReader) metadata() error {
	err := r.object(func(string) error { _, err := r.text(); return err })
	if err != nil {
		return fmt.Errorf("%s: %w", metadataKey, plain(err))
	}
	return nil
}

// object reads { key: value, ... }; visit reads the value.
func (r headerReader) object(visit func(key string) error) error {
	if err := r.delim('{'); err != nil {
		return err
	}
	for r.json.More() {
		key, err := r.text()
		if err != nil {
			return err
		}
		if err := visit(key); err != nil {
			return err
		}
	}
	return r.delim('}')
}

func (r headerReader) integers(most int) ([]int, error) {
	if err := r.delim('['); err != nil {
		return nil, err
	}
	list := []int{}
	for r.json.More() {
		token, err := r.json.Token()
		if err != nil {
			return nil, err
		}
		number, _ := token.(json.Number)
		n, err := strconv.ParseUint(number.String(), 10, strconv.IntSize-1)
		if err != nil {
			return nil, fmt.Errorf("want a natural number, not %v", show(token))
		}
		if len(list) == most {
			return nil, fmt.Errorf("more than %d numbers in a list", most)
		}
		list = append(list, int(n))
	}
	return list, r.delim(']')
}

func (r headerReader) text() (string, error) {
	token, err := r.json.Token()
	if err != nil {
		return "", err
	}
	s, ok := token.(string)
	if !ok {
		return "", fmt.Errorf("want a string, not %v", show(token))
	}
	return s, nil
}

func (r headerReader) delim(want rune) error {
	token, err := r.json.Token()
	if err != nil {
		return err
	}
	if token != json.Delim(want) {
		return fmt.Errorf("want %c, not %v", want, show(token))
	}
	return nil
}

func (r headerReader) end() error {
	token, err := r.json.Token()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("unexpected %v after the header", show(token))
}

// show keeps a token that is quoted in a message short.
func show(token json.Token) string {
	text := fmt.Sprint(token)
	if s, ok := token.(string); ok {
		text = strconv.Quote(s)
	} else if token == nil {
		text = "null"
	}
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	return text
}
