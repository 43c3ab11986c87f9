// Package peak measures what the processor can do at most: the numbers that shares
// of peak are shares of.
//
//	FMA(isa.AVX2)      =>   88.8, in GFLOP/s: twelve chains of VFMADD231PS in registers
//	BF16, Int8(level)  =>   the same for the best products of bf16 and bytes
//	FMAFor(level, time)     what it does for so long, stops and neighbours counted
//	Read(level, data)       reads memory, for callers who measure how fast that is
//
// A peak is measured, not looked up, and in the process that measures a kernel:
// frequency, neighbours on the machine and what a hypervisor leaves change it from
// minute to minute. So measure both in turns, and compare the best or the median of
// each.
//
// Invariant: the loops of products touch no memory.
package peak

//go:generate go run -C ../asm ./peak
