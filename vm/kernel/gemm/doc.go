// Package gemm multiplies matrices of floats of four bytes, and of smaller numbers.
//
//	C [512,1024] = A [512,1024] · B [1024,1024]
//
//	Pack   B, once if it is constant   =>   panels of 16 columns (32 with AVX-512),
//	                                        rows one behind the other
//	Mul    rows and columns of C       =>   blocks that fit the second cache, a Tail
//	                                        for each while it is there
//	Run    one block                   =>   tiles whose sums stay in registers
//
// A bias is added by the kernels before their only store. A tile is 6 rows by one
// panel (AVX2, NEON), 12 by one (AVX-512), 4 rows by a panel and a half (AVX2, for 32
// rows and others that make many tiles of five), or fewer rows by more panels, so that a
// product of one row streams B at the memory's rate. A copy of A meets B in pairs of rows
// with AVX2; with AVX-512 most products spread A by themselves. Both take fewer instructions,
// which counts beside a neighbour on the other half of a core. A may have any distances of rows
// and columns: it is read in place where it has few or short rows, and else copied once
// for all columns, to the order in which tiles read it. B may be rows of a matrix in
// place too.
//
// Numbers: an element of C is the sum of its products in ascending order of k,
// beginning with zero (or with C, where a block adds), each added by one fused
// product, which rounds once. So the bits are the same for every tile, block, range
// and level but Portable, which rounds the product and the sum, on every machine
// alike. The error is at most k·2^-24 of the sum of the absolute products. A product of
// one row leaves out what zeros meet where that changes no bit (see sparse.go): 0·Inf is
// NaN here as everywhere.
//
// Products of bf16, f16 and bytes go through the same blocks: a Format says how a
// level keeps their operands, and four bytes of A are one step along k.
//
// Nothing is read behind the end of A or written outside of C; panels are read
// in their whole width.
//
// Invariants: no allocation once a Scratch has grown; nothing is kept of the
// operands. Absent on purpose: threads, which call Mul for ranges, and what a
// matrix means.
package gemm

//go:generate go run -C ../asm ./gemm
