//go:build !amd64

package wide

// direct are the kernels in assembly.
var direct [kinds]byLevel
