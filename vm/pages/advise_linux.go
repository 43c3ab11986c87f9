package pages

import (
	"os"

	"golang.org/x/sys/unix"
)

// Forget gives the whole pages of b back to the system, until somebody writes to them; they
// hold anything until then. It reports whether there is a way to do so.
func Forget(b []byte) bool {
	page := os.Getpagesize()
	b = b[min(until(b, page), len(b)):]
	whole := len(b) / page * page
	return whole > 0 && unix.Madvise(b[:whole], unix.MADV_DONTNEED) == nil
}

// advise asks for large pages. That it is refused costs time only.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
