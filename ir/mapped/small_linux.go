package mapped

import "golang.org/x/sys/unix"

// inSmallPages lets pages of a mapping come one by one, or a few together, also where
// the system holds the file in large ones. That it is refused costs memory only.
func inSmallPages(pages []byte) { _ = unix.Madvise(pages, unix.MADV_NOHUGEPAGE) }
