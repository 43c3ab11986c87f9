// Package pages makes memory that lies in large pages of the system.
//
//	Floats(4<<20)     =>   16 MB of zeros that begin at a multiple of 2 MB
//	Room.Floats(n)    =>   the next n floats of a chunk that others share
//	Large(data)       =>   asks for large pages within memory that is there
//	Dirty(64<<20)     =>   64 MB of anything, which costs nothing to make again
//	Forget(data)      =>   its whole pages are with the system again, and hold anything
//
// The processor finds a page of 4 KB anew about every 64 lines of what goes by, and in
// a virtual machine that is a walk through two trees of tables; a large page is found
// once in 2 MB, and the hardware that reads ahead does not stop at its parts. Linux
// gives large pages to memory that has asked for them before it is touched for the
// first time; elsewhere nothing is asked.
//
// Invariants: what is returned is zero, but for Dirty, and belongs to Go's heap, which collects it;
// memory that nobody touches stays with the system. Absent on purpose: freeing, and
// reserving large pages, which needs rights.
package pages
