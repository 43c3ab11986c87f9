//go:build !amd64 && !arm64

package vm

// pause keeps a processor busy for some ten nanoseconds without touching
// memory that others write.
func pause() {
	for i := range 30 {
		relax(i)
	}
}

//go:noinline
func relax(int) {}
