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

// FastBF16 reports whether VDPBF16PS multiplies as many pairs as a product of floats
// multiplies floats, at the same rate: else floats are faster. Intel's processors that have
// FP16, from Sapphire Rapids on, begin one each two cycles of any width, beside two products
// of floats a cycle: seen on an Emerald Rapids (0.72 ns and 0.18). AMD's Zen 4 does as many
// as of floats.
func FastBF16() bool { return fastBF16 }

var fastBF16 = HasBF16() && !(byIntel && hasFP16()) // asked once too

// hasFP16 is bit 23 of EDX in leaf 7 (Intel's Software Developer's Manual 2A, CPUID).
func hasFP16() bool {
	_, _, _, d := cpuid(7, 0)
	return d>>23&1 == 1
}

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
