//go:build unix || windows

package bytecode

import (
	"os"

	"github.com/edsrzf/mmap-go"
)

// mapFile maps a file for reading. An empty file can't be mapped.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
		data, err = os.ReadFile(path)
		return data, func() error { return nil }, err
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	return m, m.Unmap, nil
}
