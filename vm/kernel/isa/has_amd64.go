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

// HasVNNI reports whether AVX512 comes with products of bytes (VPDPBUSD).
func HasVNNI() bool { return has[AVX512] && cpu.X86.HasAVX512VNNI }
