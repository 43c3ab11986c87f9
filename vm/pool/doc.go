// Package pool keeps memory between its uses.
//
//	p, err := pool.New(pool.Options{})
//	b, err := p.Allocate(1000)    =>   b.Data: 1000 bytes at a multiple of 64
//	err = p.Free(b)               =>   the next block may lie there
//
// There are three levels, and each can be switched off. Chunks are taken from
// the system and carved into blocks (NoPool: every block is taken by itself).
// Blocks that were freed are joined with free neighbours and given out again,
// the smallest that fits first (NoReuse: what was given out goes back to the
// system, a chunk when all its blocks are freed and another one was begun). Every
// block begins at a multiple of Align (NoAlign: of 8, so that elements of every
// dtype can be read in place). The system is Go's heap: what goes back to it is
// collected as garbage is.
//
// Invariants: blocks given out never overlap; what is held from the system never
// exceeds Limit; Info adds up at any time; a block that is freed twice, or in
// another pool, is refused however often its memory was given out since, because
// a Block knows how often its place was used. Every method is safe for concurrent
// callers, and giving out a block that was freed allocates nothing.
//
// Absent on purpose: waiting for memory (vm.Memory does), clearing it (most blocks
// are written as a whole), and planning: offsets inside an arena are lower's.
package pool
