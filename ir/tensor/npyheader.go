package tensor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// An npyHeader is what stands before the elements in a .npy file.
//
//	\x93NUMPY  major minor  header length  header  elements
//	    6        1     1    2 (1.0) or 4
//
// The header is a Python dict display with three keys, padded by spaces and
// ended by a newline so that the elements begin at a multiple of 64 bytes.
// Source: NumPy's numpy.lib.format; 1.0 is Latin-1 with a 16-bit length, 2.0
// has a 32-bit length, 3.0 is UTF-8.
type npyHeader struct {
	dtype   DType
	swapped bool // big-endian elements
	fortran bool // first axis fastest
	shape   []int
	size    int // bytes before the elements
}

const npyMagic = "\x93NUMPY"

// maxNpyHeader bounds the dict; NumPy itself refuses more than 10,000 bytes.
const maxNpyHeader = 1 << 16

func parseNpyHeader(data []byte) (*npyHeader, error) {
	if !bytes.HasPrefix(data, []byte(npyMagic)) {
		return nil, fmt.Errorf("not a .npy file: it does not begin with \\x93NUMPY")
	}
	if len(data) < 10 {
		return nil, fmt.Errorf("the file ends within the .npy header")
	}
	start, length := 10, uint64(binary.LittleEndian.Uint16(data[8:]))
	switch major := data[6]; {
	case major == 0 || major > 3:
		return nil, fmt.Errorf(".npy version %d.%d is not one of 1.0, 2.0, 3.0", major, data[7])
	case major > 1 && len(data) < 12:
		return nil, fmt.Errorf("the file ends within the .npy header")
	case major > 1:
		start, length = 12, uint64(binary.LittleEndian.Uint32(data[8:]))
	}
	if length > maxNpyHeader {
		return nil, fmt.Errorf("the .npy header claims %d bytes, more than %d", length, maxNpyHeader)
	}
	if length > uint64(len(data)-start) {
		return nil, fmt.Errorf("the file ends within the .npy header, which claims %d bytes", length)
	}
	h := &npyHeader{size: start + int(length)}
	p := dict{text: string(data[start:h.size])}
	if err := p.parse(h); err != nil {
		return nil, fmt.Errorf("bad .npy header: %w", err)
	}
	return h, nil
}

// check compares the shape with the size of the whole file.
func (h *npyHeader) check(fileSize int64) error {
	n, ok := Elements(h.shape)
	if !ok {
		return fmt.Errorf("shape %s is too large", bracket(h.shape, ", "))
	}
	want, have := int64(n)*int64(h.dtype.Size()), fileSize-int64(h.size)
	if want != have {
		return fmt.Errorf("%s needs %d bytes of elements, the file has %d", (&T{DType: h.dtype, Shape: h.shape}).Type(), want, have)
	}
	return nil
}

// A dict reads the header's Python syntax: string keys; strings, True, False
// and tuples of integers as values.
type dict struct {
	text string
	pos  int
}

func (p *dict) parse(h *npyHeader) error {
	fields := map[string]func() error{
		"descr":         func() error { return p.descr(h) },
		"fortran_order": func() error { return p.boolean(&h.fortran) },
		"shape":         func() error { return p.tuple(&h.shape) },
	}
	if err := p.want("{"); err != nil {
		return err
	}
	for !p.take("}") {
		key, err := p.quoted()
		if err != nil {
			return err
		}
		read := fields[key]
		if read == nil {
			return fmt.Errorf("key %q is unknown or stands twice", key)
		}
		delete(fields, key)
		if err := p.want(":"); err != nil {
			return err
		}
		if err := read(); err != nil {
			return err
		}
		if !p.take(",") {
			if err := p.want("}"); err != nil {
				return err
			}
			break
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if fields[key] != nil {
			return fmt.Errorf("key %q is missing", key)
		}
	}
	if p.space(); p.pos < len(p.text) {
		return fmt.Errorf("unexpected %s", quote(p.text[p.pos:]))
	}
	return nil
}

func (p *dict) descr(h *npyHeader) (err error) {
	if p.space(); strings.HasPrefix(p.text[p.pos:], "[") {
		return fmt.Errorf("the elements are structures; only plain numbers and bool can be read")
	}
	name, err := p.quoted()
	if err != nil {
		return err
	}
	h.dtype, h.swapped, err = parseDescr(name)
	return err
}

// descrs names NumPy's dtypes, without the byte order. NumPy has no bfloat16:
// the ml_dtypes package saves it under its name or as two opaque bytes.
var descrs = map[string]DType{
	"f8": F64, "f4": F32, "f2": F16, "V2": BF16, "bfloat16": BF16,
	"i8": I64, "i4": I32, "i2": I16, "i1": I8,
	"u8": U64, "u4": U32, "u2": U16, "u1": U8, "b1": Bool, "?": Bool,
}

// unsupported explains the dtypes that have no counterpart, by their letter.
var unsupported = map[byte]string{
	'c': "complex numbers", 'O': "Python objects", 'S': "byte strings", 'a': "byte strings", 'U': "text",
	'V': "opaque bytes", 'M': "dates", 'm': "time spans", 'f': "floats of this width", 'g': "long doubles",
}

func parseDescr(name string) (d DType, swapped bool, err error) {
	plain := strings.TrimLeft(name, "<>|=")
	if len(name)-len(plain) <= 1 {
		if d, ok := descrs[plain]; ok {
			return d, name[0] == '>' && d.Size() > 1, nil
		}
		if plain != "" && unsupported[plain[0]] != "" {
			return 0, false, fmt.Errorf("the elements are %s (dtype %s); only plain numbers and bool can be read", unsupported[plain[0]], quote(name))
		}
	}
	return 0, false, fmt.Errorf("unknown dtype %s", quote(name))
}

func (p *dict) boolean(v *bool) error {
	*v = p.take("True")
	if !*v && !p.take("False") {
		return fmt.Errorf("want True or False, not %s", quote(p.text[p.pos:]))
	}
	return nil
}

// tuple reads (), (3,) or (3, 4); Python 2 wrote 3L.
func (p *dict) tuple(shape *[]int) error {
	if err := p.want("("); err != nil {
		return err
	}
	*shape = []int{}
	for !p.take(")") {
		if len(*shape) == MaxRank {
			return fmt.Errorf("the shape has more than %d axes", MaxRank)
		}
		p.space()
		rest := digits(p.text[p.pos:], isDigit)
		word := strings.TrimSuffix(p.text[p.pos:], rest)
		n, err := strconv.ParseInt(word, 10, 0)
		if err != nil {
			return fmt.Errorf("bad dimension %s in the shape", quote(p.text[p.pos:]))
		}
		p.pos += len(word)
		*shape = append(*shape, int(n))
		p.take("L")
		if !p.take(",") {
			return p.want(")")
		}
	}
	return nil
}

func (p *dict) quoted() (string, error) {
	p.space()
	rest := p.text[p.pos:]
	if rest == "" || rest[0] != '\'' && rest[0] != '"' {
		return "", fmt.Errorf("want a string, not %s", quote(rest))
	}
	end := strings.IndexByte(rest[1:], rest[0])
	if end < 0 {
		return "", fmt.Errorf("the string %s is never closed", quote(rest))
	}
	p.pos += end + 2
	return rest[1 : end+1], nil
}

func (p *dict) want(token string) error {
	if !p.take(token) {
		return fmt.Errorf("want %s, not %s", token, quote(p.text[p.pos:]))
	}
	return nil
}

func (p *dict) take(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	return true
}

func (p *dict) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// appendNpyHeader writes the header of t as NumPy does, its reserve included:
// room for the first dimension to grow to 21 digits without moving the data.
func appendNpyHeader(b []byte, t *T) []byte {
	const reserve = 21
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", npyDescr(t.DType), npyTuple(t.Shape))
	if len(t.Shape) > 0 {
		text += strings.Repeat(" ", max(0, reserve-len(strconv.Itoa(t.Shape[0]))))
	}
	// 10 bytes stand before the text, a newline ends it.
	pad := 64 - (10+len(text)+1)%64
	text += strings.Repeat(" ", pad) + "\n"
	b = append(b, npyMagic+"\x01\x00"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}

func npyDescr(d DType) string {
	letter := map[Kind]string{Float: "f", Signed: "i", Unsigned: "u", Logical: "b"}[d.Kind()]
	if d == BF16 {
		letter = "V"
	}
	order := "<"
	if d.Size() == 1 {
		order = "|"
	}
	return order + letter + strconv.Itoa(d.Size())
}

func npyTuple(shape []int) string {
	if len(shape) == 1 {
		return fmt.Sprintf("(%d,)", shape[0])
	}
	list := bracket(shape, ", ")
	return "(" + list[1:len(list)-1] + ")"
}
