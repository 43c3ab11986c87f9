// Package wide multiplies matrices of f64, i32 and i64, whose sums are of the same type.
//
//	C [512,1024] = A [512,1024] · B [1024,1024]
//
//	Pack   B, once if it is constant   =>   panels of two registers of columns, rows one
//	                                        behind the other
//	Mul    rows and columns of C       =>   pieces of B that fit the caches, bands of A for
//	                                        each, copied to the order in which tiles read
//	                                        them, and tiles whose sums stay in registers
//
// It is package gemm without what floats of four bytes need to be as fast as they are:
// tiles have one form, what follows a product is up to others, but for a bias.
//
// Numbers: an element of C is the sum of its products in ascending order of k, beginning
// with zero, and then the bias. Integers wrap, so that there is one result. Of f64 each
// product is added by one fused product, which rounds once; the portable level rounds the
// product and the sum, as the reference does. So the bits are the same for every range, piece
// and level but Portable, and the error is at most k·2^-53 of the sum of the absolute
// products. Nothing is skipped: 0·Inf is NaN here as everywhere.
//
// Invariants: nothing is read or written outside of the operands; no allocation once a
// Scratch has grown. Absent on purpose: threads, which call Mul for ranges.
package wide

//go:generate go run -C ../asm ./wide
