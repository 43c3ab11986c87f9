// Package move copies elements from one order into another, as fast as memory
// lets it.
//
//	to   [1024,512] steps 512, 1          =>  one transposition of tiles of 8x8
//	from [1024,512] steps 1, 1024
//
//	to   [2,3,224,224] of [2,5,224,224]   =>  two runs of 602,112 bytes
//	from [2,3,224,224] dense
//
// A Block says where elements lie in the memory of a tensor: an offset, and a
// size and a step for each axis. A Copy takes a block of one tensor to a block of
// another that has the same shape. What is asked for is made simpler once: axes of
// size 1 go, neighbours that lie behind each other in both tensors become one axis,
// a short run of elements becomes one larger element. What is left is an odometer
// over a leaf of two axes, for which there is a loop by its kind: runs, one element
// over and over, a transposition by tiles, every other element, elements backwards.
// Where elements lie in groups of two to four, as the colours of images do, bytes are
// shuffled within registers (shuffle.go). What is large is made by pieces in the
// first-level cache and written around the caches in whole lines (around.go).
//
// Blocks compose: a block of a tensor that itself is a block of another is a
// block of that one (Of), so that a chain of views needs one copy. A List has the
// copies and fills that make a result of several pieces, as joining and padding do.
//
// Where elements of several tensors come by turns, a Weave makes them in one pass.
//
// Take and Put move blocks by lists of indices, which Place brings into an axis.
//
// Elements are never converted: a size of 1, 2, 4, 8 or 16 bytes is all that is
// known of them.
//
// Invariants: nothing outside of the blocks is read or written, also not for a
// moment; parts of a Copy may run at the same time in any order, and write each
// element once, or twice the same; a Copy is made once and serves any number of
// goroutines; running makes no memory, but is given some (Room).
//
// Absent on purpose: source and destination that overlap, and dtypes.
package move

//go:generate go run -C ../asm ./move
