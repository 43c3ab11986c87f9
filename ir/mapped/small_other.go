//go:build !linux

package mapped

// inSmallPages does nothing: there is no such call.
func inSmallPages([]byte) {}
