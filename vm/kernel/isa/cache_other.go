//go:build !amd64

package isa

// secondCache is not known.
func secondCache() int { return 0 }

// maker is not known.
func maker() string { return "" }
