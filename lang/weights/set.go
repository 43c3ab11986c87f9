package weights

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/mapped"
	"github.com/npulang/npu/ir/tensor"
)

// A Set is the tensors of an open weights file. It is safe for concurrent use.
// Its tensors may lie in the mapped file: they must not be written to, nor
// used after Close.
type Set struct {
	file  string
	names []string // sorted

	entries map[string]*entry // of a safetensors file
	body    []byte
	npz     *tensor.Npz // or of a .npz file

	mu     sync.Mutex
	read   map[string]*tensor.T // what has been asked for
	mapped *mapped.File         // nil: the content was given
}

// Open opens a .safetensors or .npz file; its first bytes tell which. The
// header is checked now, the elements are touched when they are used. Errors
// are of type *diag.Diagnostic: bad-file if the file cannot be read,
// bad-weight if its content is not right.
func Open(path string) (*Set, error) {
	f, err := mapped.Open(path)
	if err != nil {
		return nil, &diag.Diagnostic{Code: "bad-file", Loc: diag.Loc{File: path}, Subject: subject, Message: "cannot read the weights file: " + cause(err), Cause: err}
	}
	s, err := Decode(path, f.Data)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.mapped = f
	return s, nil
}

const subject = "weights"

// cause leaves out the path, which the message begins with.
func cause(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Decode is Open for a file's content; file is its name in messages. The
// tensors use data in place where they are aligned.
func Decode(file string, data []byte) (*Set, error) {
	s := &Set{file: file, entries: map[string]*entry{}, read: map[string]*tensor.T{}}
	if err := s.decode(data); err != nil {
		return nil, s.bad(err)
	}
	slices.Sort(s.names)
	return s, nil
}

// InMemory is a set of tensors that a program holds itself.
func InMemory(tensors map[string]*tensor.T) *Set {
	return &Set{names: slices.Sorted(maps.Keys(tensors)), read: maps.Clone(tensors)}
}

func (s *Set) decode(data []byte) (err error) {
	switch {
	case bytes.HasPrefix(data, []byte("\x93NUMPY")):
		return errors.New("this is a .npy file, one array without a name; weights are .safetensors or .npz")
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("PK\x05\x06")):
		if s.npz, err = tensor.OpenNpz(data); err != nil {
			return err
		}
		s.names = s.npz.Keys()
		if len(s.names) == 0 && len(data) > emptyZip {
			return errors.New("this zip archive holds no .npy arrays; a PyTorch file must be saved as .safetensors first")
		}
		return nil
	}
	entries, body, err := readSafetensors(data)
	if err != nil {
		return err
	}
	s.body = body
	for i := range entries {
		s.entries[entries[i].name] = &entries[i]
		s.names = append(s.names, entries[i].name)
	}
	return nil
}

// emptyZip is the size of an archive without members.
const emptyZip = 22

func (s *Set) bad(err error) error {
	return &diag.Diagnostic{Code: "bad-weight", Loc: diag.Loc{File: s.file}, Subject: subject, Message: err.Error()}
}

// File is the name under which the set was opened.
func (s *Set) File() string { return s.file }

// Names lists the tensors, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Has reports whether the file has a tensor of that name.
func (s *Set) Has(name string) bool {
	_, ok := slices.BinarySearch(s.names, name)
	return ok
}

// Lookup finds a tensor. ok is false if there is none of that name or if it
// cannot be read: Read says why.
func (s *Set) Lookup(name string) (t *tensor.T, ok bool) {
	t, err := s.Read(name)
	return t, err == nil
}

// Read returns a tensor, without a copy if it is stored uncompressed, aligned and
// not small (see mapped.File.Lift). The error is a *diag.Diagnostic of code bad-weight: no such
// name, a dtype that npu does not have, a damaged array.
func (s *Set) Read(name string) (*tensor.T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.read[name]; t != nil {
		return t, nil
	}
	t, err := s.load(name)
	if err != nil {
		return nil, s.bad(err)
	}
	if s.mapped != nil {
		t.Data = s.mapped.Lift(t.Data) // a tensor of nobody else's
	}
	s.read[name] = t
	return t, nil
}

func (s *Set) load(name string) (*tensor.T, error) {
	if s.npz != nil {
		return s.npz.Read(name)
	}
	e := s.entries[name]
	if e == nil {
		return nil, fmt.Errorf("there is no tensor %q", name)
	}
	return e.read(s.body)
}

// Release says that a tensor of the set will not be read for long, so that it need
// not take memory; see mapped.File. It reports whether the tensor lies in a mapped file.
func (s *Set) Release(t *tensor.T) bool { return s.mapped != nil && s.mapped.Release(t.Data) }

// Close gives the mapped file back. A second Close does nothing.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body, s.npz = nil, nil
	s.names, s.entries, s.read = nil, nil, nil
	if s.mapped == nil {
		return nil
	}
	return s.mapped.Close()
}
