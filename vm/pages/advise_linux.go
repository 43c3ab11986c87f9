package pages

import "golang.org/x/sys/unix"

// advise asks for large pages. That it is refused costs time only.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
