package bytecode

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// A draft is a file that is being written, and takes its place when it is whole. Where
// the system knows files without a name it has none until then, so that nothing is left
// of it if the process is killed; else it has one of its own in the same folder.
type draft struct {
	*os.File
	name string // empty: it has none
	path string // where its place is
}

func newDraft(path string) (*draft, error) {
	if f := unnamed(filepath.Dir(path)); f != nil {
		return &draft{File: f, path: path}, nil
	}
	return namedDraft(path)
}

func namedDraft(path string) (*draft, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	return &draft{f, f.Name(), path}, nil
}

// publish ends the writing, and puts the draft in its place.
func (d *draft) publish() error {
	err := d.Chmod(0o644) // it has been for its owner alone
	if err == nil && d.name == "" {
		err = d.christen()
	}
	if e := d.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(d.name, d.path)
}

// christen gives a draft a name: a link can't replace what is there, as a new name can.
func (d *draft) christen() (err error) {
	const tries = 100
	for range tries {
		name := filepath.Join(filepath.Dir(d.path), fmt.Sprintf(".%s.%d", filepath.Base(d.path), rand.Uint32()))
		if err = link(d.File, name); !errors.Is(err, fs.ErrExist) {
			d.name = name
			break
		}
	}
	return err
}

// discard leaves nothing of a draft that was not published.
func (d *draft) discard() {
	d.Close()
	if d.name != "" {
		os.Remove(d.name)
	}
}
