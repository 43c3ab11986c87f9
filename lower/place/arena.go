package place

import "math"

// An arena hands out ranges of [0, end) and takes them back. Free neighbours
// are always joined, so that the blocks' ends identify them.
type arena struct {
	end      int64
	bySize   *ordered[struct{}] // key: size, offset
	byStart  map[int64]int64    // offset of a free block: its size
	byFinish map[int64]int64    // end of a free block: its offset
}

func newArena() *arena {
	return &arena{bySize: newOrdered[struct{}](), byStart: map[int64]int64{}, byFinish: map[int64]int64{}}
}

// take returns the offset of size bytes: in the smallest block that fits, of
// equals the lowest; else at the end, beginning with a free block that lies
// there.
func (a *arena) take(size int64) int64 {
	if size == 0 {
		return 0
	}
	if k, _, ok := a.bySize.ceil(key{size, math.MinInt64}); ok {
		at := k[1]
		a.drop(at, k[0])
		a.add(at+size, k[0]-size)
		return at
	}
	at := a.end
	if start, ok := a.byFinish[a.end]; ok {
		a.drop(start, a.end-start)
		at = start
	}
	a.end = at + size
	return at
}

// give frees a range and joins it with free neighbours.
func (a *arena) give(at, size int64) {
	if size == 0 {
		return
	}
	if start, ok := a.byFinish[at]; ok {
		a.drop(start, at-start)
		at, size = start, size+at-start
	}
	if next, ok := a.byStart[at+size]; ok {
		a.drop(at+size, next)
		size += next
	}
	a.add(at, size)
}

func (a *arena) add(at, size int64) {
	if size > 0 {
		a.bySize.insert(key{size, at}, struct{}{})
		a.byStart[at] = size
		a.byFinish[at+size] = at
	}
}

func (a *arena) drop(at, size int64) {
	a.bySize.remove(key{size, at})
	delete(a.byStart, at)
	delete(a.byFinish, at+size)
}
