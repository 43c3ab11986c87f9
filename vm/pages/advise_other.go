//go:build !linux

package pages

// advise does nothing: there is no such call, or the system decides by itself.
func advise([]byte) {}
