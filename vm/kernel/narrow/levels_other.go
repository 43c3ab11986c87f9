//go:build !amd64

package narrow

var avx2, avx512 *loops
