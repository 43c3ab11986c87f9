//go:build !linux

package pages

// Forget does nothing: there is no such call, or it leaves the memory's content there.
func Forget([]byte) bool { return false }

// advise does nothing: there is no such call, or the system decides by itself.
func advise([]byte) {}
