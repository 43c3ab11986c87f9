//go:build amd64 || arm64

package vm

// pause tells the processor that the goroutine waits for a word of memory: it
// saves power, and leaves what two threads of a core share to the other one.
//
//go:noescape
func pause()
