// Package isa names the instruction sets that kernels are written for, and knows
// which of them this processor has.
//
//	Portable    Go, on every machine
//	AVX2        amd64 with AVX2, FMA and F16C (2013 and later)
//	AVX512      AVX2 and AVX-512 F, BW, DQ, VL (2017 and later)
//	NEON        arm64, all of them
//
// A kernel is asked for with a Level and must exist for Portable. Extensions of
// AVX512 that only some processors have, for products of bf16 and int8, are
// features of their own.
//
// Invariant: code for a level runs only where Has says so. That the operating
// system saves the registers is part of the answer.
package isa
