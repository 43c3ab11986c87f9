// Package bank keeps what was measured: which candidate runs a body fastest on one
// machine, as text.
//
//	npu bank 1
//	machine AMD EPYC, avx2
//	f2a1…	avx2	2	1250000	1190000	product/f32 rows=144 deep=512 cols=256	linear(0,1,2) : …
//
// Each line is an Entry: a sum of what it is for, the instruction set, the threads of a
// run, the nanoseconds of what runs the body without a bank and of the candidate, the
// candidate, and the body as kernel.Body's String writes it. Fields stand between tabs.
//
// Invariants: a bank is read whole or not at all: one damaged line is a Fault of all;
// entries are in the order of their keys, so that equal banks are equal bytes. What a
// bank says is advice: whoever takes it looks whether there is such a candidate.
package bank
