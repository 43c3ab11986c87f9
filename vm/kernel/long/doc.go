// Package long computes on numbers of eight bytes, integers and floats, eight of them at a
// time: what loops in Go do one by one.
//
//	Of(isa.AVX2, "lessLongs")      1 where an integer is less than another, else 0
//	Of(isa.Portable, "lessLongs")  nil: a loop in Go does it
//
//	Compute(isa.AVX2, "exp", ...)  by the steps of package ir, of floats within 690 of 0; its
//	                               definition does the others, and all where there is no AVX2
//
// Invariants: the bits are those of Go's own operations, and of the definitions; nothing is
// read or written behind the elements; the result may lie where an argument of its size does.
package long

//go:generate go run -C ../asm ./long
