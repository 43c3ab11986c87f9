package isa

import "golang.org/x/sys/cpu"

var has = func() (h [len(rows)]bool) {
	x := &cpu.X86
	h[Portable] = true
	h[AVX2] = x.HasAVX2 && x.HasFMA
	h[AVX512] = h[AVX2] && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
	return h
}()

// HasBF16 reports whether AVX512 comes with products of bf16 (VDPBF16PS).
func HasBF16() bool { return has[AVX512] && cpu.X86.HasAVX512BF16 }

// HasVNNI reports whether a level comes with products of bytes (VPDPBUSD): AVX512 by
// AVX512_VNNI, AVX2 by AVX-VNNI, which processors of desktops have that lack AVX-512.
func HasVNNI(l Level) bool {
	switch l {
	case AVX2:
		return has[AVX2] && cpu.X86.HasAVXVNNI
	case AVX512:
		return has[AVX512] && cpu.X86.HasAVX512VNNI
	}
	return false
}
