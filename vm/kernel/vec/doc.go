// Package vec is a machine that computes element-wise functions on blocks of 64
// elements, one instruction an operator, with the intermediate values in registers.
//
//	x*s + b, then gelu      =>   load x; mul s; add b; gelu; save y
//	                             once for each 64 elements of the operands
//
// Cheap codes that follow each other and have numbers for operands are one instruction,
// a chain, whose numbers stand in the program.
//
// There is one accumulator of 64 lanes of four bytes. An instruction (Inst) applies
// its Code to it and to at most two operands in memory, which either walk along with
// the blocks or stay (constants, broadcasts, values put aside). So a chain of any
// number of operators reads and writes each element once, at a few instructions
// of the processor an operator. In assembly the accumulator is eight registers of
// AVX2 or four of AVX-512, every code is a piece of straight code that jumps to the
// next one's, and only a block's worth of what has more than one reader goes
// through memory. Levels without assembly, NEON among them, have the portable machine,
// a loop over Go functions that compute in float64.
//
// A lane holds a float32, an int32, or a bool as all ones or all zeros; what is
// smaller in memory is widened by the codes that load and narrowed by those that
// save.
//
// Invariants: lanes don't see each other, so that neither an element's place nor
// what else is computed beside it changes a bit; each code rounds once, to its lane,
// so that programs of several codes give what the codes one by one give; the levels
// with assembly give the same bits, since all of it is written from one description
// (vm/kernel/asm/vec). Blocks are whole: whoever runs a program
// provides 64 readable elements of every operand that walks (package strip does).
//
// Absent on purpose: shapes, broadcasting, rows, tails (package strip); reductions.
package vec

//go:generate go run -C ../asm ./vec
