package bytecode

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// unnamed makes a file without a name in a folder; nil: its file system has none, or a
// name could not be given later.
func unnamed(dir string) *os.File {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), dir)
	if _, err := os.Stat(opened(f)); err != nil {
		f.Close()
		return nil
	}
	return f
}

// opened is where the system shows a file that is open.
func opened(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// link gives a file a name that nothing has yet.
func link(f *os.File, name string) error {
	if err := unix.Linkat(unix.AT_FDCWD, opened(f), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: name, Err: err}
	}
	return nil
}
