//go:build unix

package mapped

import "golang.org/x/sys/unix"

// forget drops the pages of a mapping that nobody writes to. That it is refused
// costs memory only.
func forget(pages []byte) { _ = unix.Madvise(pages, unix.MADV_DONTNEED) }
