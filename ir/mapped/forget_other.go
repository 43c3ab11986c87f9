//go:build !unix

package mapped

// forget does nothing: there is no such call.
func forget([]byte) {}
