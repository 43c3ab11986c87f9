// Package narrow makes numbers of two bytes and of one of floats, and floats of
// them: what products of low precision need at their edges.
//
//	ToBF16   1.00390625  =>  0x3f80   nearest, ties to even; a NaN stays one, quiet
//	ToF16    65519.996   =>  0x7bff   the same; from 65520 on infinity
//
//	Largest        -3 .. 1       =>  3
//	QuantizeSigned 0.5 by 3/127  =>  round(0.5/scale) = 21, halves to even
//
// Invariants: every level of package isa gives the same bits; nothing is read or
// written behind the end of a slice; no allocation.
package narrow

//go:generate go run -C ../asm ./narrow
