package npu

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/npulang/npu/ir/tensor"
)

// WriteArrays writes each tensor as NAME.npy into a folder. All are written
// under temporary names first, so that a failure leaves none half written.
func WriteArrays(dir string, arrays map[string]*Tensor) error {
	names := make([]string, 0, len(arrays))
	for name := range arrays {
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			return fmt.Errorf("the output name %q is no file name", name)
		}
		names = append(names, name)
	}
	sort.Strings(names)
	var pending []*pendingFile
	defer func() {
		for _, p := range pending {
			p.discard()
		}
	}()
	for _, name := range names {
		var b bytes.Buffer
		if err := tensor.WriteNpy(&b, arrays[name]); err != nil {
			return err
		}
		p, err := prepare(filepath.Join(dir, name+".npy"), b.Bytes())
		if err != nil {
			return err
		}
		pending = append(pending, p)
	}
	for _, p := range pending {
		if err := p.commit(); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes a file beside its name and renames it at the end, so that
// it is never seen half written.
func WriteFile(path string, data []byte) error {
	p, err := prepare(path, data)
	if err != nil {
		return err
	}
	defer p.discard()
	return p.commit()
}

// A pendingFile is written, but not yet under its name.
type pendingFile struct{ temporary, path string }

// prepare writes what will become the file at path, beside it.
func prepare(path string, data []byte) (*pendingFile, error) {
	path, err := target(path)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, writeError(path, err)
	}
	p := &pendingFile{f.Name(), path}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(p.temporary, fileMode(path))
	}
	if err != nil {
		p.discard()
		return nil, writeError(path, err)
	}
	return p, nil
}

// target is where a file of that name is to be written: what a link leads to.
// What is there already must be a file: a folder or a device is not replaced.
func target(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", writeError(path, err)
	case info.IsDir():
		return "", writeError(path, errors.New("it is a folder"))
	case !info.Mode().IsRegular():
		return "", writeError(path, errors.New("it is no regular file"))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	return path, nil
}

// checkWritable tries whether a file can be written, before there is anything to write:
// in its folder, or where that is to be made in the one above. It leaves nothing behind.
func checkWritable(path string) error {
	to, err := target(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(to)
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".npu.*")
	if err != nil {
		return writeError(path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// writeError names the file that was to be written rather than the temporary
// one beside it.
func writeError(path string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}

// fileMode keeps the permissions of a file that is replaced.
func fileMode(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

func (p *pendingFile) commit() error {
	if err := os.Rename(p.temporary, p.path); err != nil {
		return writeError(p.path, err)
	}
	return nil
}

// discard removes what was not committed; after commit there is nothing left.
func (p *pendingFile) discard() { os.Remove(p.temporary) }
