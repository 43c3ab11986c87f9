package npu

import "github.com/npulang/npu/vm/pool"

// A MemoryPool is the memory of one device of a runtime, from which its tensors
// come too.
type MemoryPool struct{ pool *pool.Pool }

// A MemoryBlock is memory of a pool: its Data begins at a multiple of the
// device's alignment. It is freed once, however often it is copied.
type MemoryBlock = pool.Block

// MemoryInfo says what a pool holds: in all, given out, free, from the system, at
// its peak, in how many pieces.
type MemoryInfo = pool.Info

// MemoryPool is the memory of the current device.
func (rt *Runtime) MemoryPool() *MemoryPool { return &MemoryPool{rt.here().pool} }

// Allocate gives out a block of size bytes, which is not cleared.
func (m *MemoryPool) Allocate(size int64) (MemoryBlock, error) {
	b, err := m.pool.Allocate(size)
	return b, located(err)
}

// Free takes a block back. Freeing it twice, or in another pool, is an error.
func (m *MemoryPool) Free(b MemoryBlock) error { return located(m.pool.Free(b)) }

// FreeBytes is how many bytes can be given out without asking the system.
func (m *MemoryPool) FreeBytes() int64 { return m.pool.FreeBytes() }

// Info returns the figures of now.
func (m *MemoryPool) Info() MemoryInfo { return m.pool.Info() }

// Trim gives back to the system what holds no block.
func (m *MemoryPool) Trim() { m.pool.Trim() }
