package isa

var has = [len(rows)]bool{Portable: true, NEON: true}

// HasBF16, FastBF16 and HasVNNI are about extensions of AVX512 and AVX2.
func HasBF16() bool      { return false }
func FastBF16() bool     { return false }
func HasVNNI(Level) bool { return false }
