package weights

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/npulang/npu/ir/tensor"
)

// Encode writes tensors as a safetensors file. The bytes depend on nothing but
// names, values and metadata: wide dtypes come first, and among equals the
// names are sorted, so that every tensor is aligned to its elements.
func Encode(w io.Writer, tensors []tensor.Named, metadata map[string]string) error {
	sorted := slices.Clone(tensors)
	slices.SortFunc(sorted, func(a, b tensor.Named) int {
		return cmp.Or(cmp.Compare(b.Tensor.DType.Size(), a.Tensor.DType.Size()), cmp.Compare(a.Name, b.Name))
	})
	header, err := encodeHeader(sorted, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, t := range sorted {
		if _, err := w.Write(t.Tensor.Data); err != nil {
			return err
		}
	}
	return nil
}

// encodeHeader pads the header so that the elements begin at a multiple of 64
// bytes, one cache line.
func encodeHeader(sorted []tensor.Named, metadata map[string]string) ([]byte, error) {
	const align = 64
	var b strings.Builder
	b.WriteString("{")
	if len(metadata) > 0 {
		text, err := json.Marshal(metadata) // sorts the keys
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", metadataKey, text)
	}
	seen := map[string]bool{metadataKey: true}
	at := 0
	for _, t := range sorted {
		if seen[t.Name] || !utf8.ValidString(t.Name) {
			return nil, fmt.Errorf("the name %q is taken, reserved or not UTF-8", t.Name)
		}
		seen[t.Name] = true
		if b.Len() > 1 {
			b.WriteString(",")
		}
		if err := encodeEntry(&b, t, at); err != nil {
			return nil, err
		}
		at += len(t.Tensor.Data)
	}
	b.WriteString("}")
	if rest := (8 + b.Len()) % align; rest > 0 {
		b.WriteString(strings.Repeat(" ", align-rest))
	}
	if b.Len() > maxHeader {
		return nil, fmt.Errorf("the header has %d bytes, more than %d", b.Len(), maxHeader)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(b.Len())), b.String()...), nil
}

func encodeEntry(b *strings.Builder, t tensor.Named, at int) error {
	name, err := json.Marshal(t.Name)
	if err != nil {
		return err
	}
	dtype := strings.ToUpper(t.Tensor.DType.String())
	if _, ok := dtypeNames[dtype]; !ok {
		return fmt.Errorf("tensor %q has no dtype", t.Name)
	}
	shape := strings.ReplaceAll(fmt.Sprint(t.Tensor.Shape), " ", ",")
	fmt.Fprintf(b, `%s:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, name, dtype, shape, at, at+len(t.Tensor.Data))
	return nil
}

// Write makes a safetensors file. It is written beside path and renamed at the
// end: nobody sees half a file, and what stood at path stays if this fails.
func Write(path string, tensors []tensor.Named, metadata map[string]string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriter(f)
	if err := Encode(w, tensors, metadata); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil { // CreateTemp keeps the file private
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
