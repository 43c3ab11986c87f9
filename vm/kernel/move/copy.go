package move

import (
	"fmt"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Copy takes the elements of a block of one tensor to a block of another, in
// any number of parts.
type Copy struct {
	outer     []axis // the odometer; its size is rounds
	rounds    int
	leaf      leaf
	toAt      int // bytes; of the first element
	fromAt    int
	to, from  span // what is touched
	perRound  int  // chunks of the leaf
	items     int  // rounds * perRound: what parts share
	bytes     int
	itemBytes int
}

// A span is the bytes that a copy touches of a tensor.
type span struct{ low, high int }

// NewCopy makes a copy of elements of 1, 2, 4, 8 or 16 bytes between two blocks of
// the same shape, but that several axes of the source may stand for one of the
// destination, as Of makes them. No element of the destination may be in its block
// twice.
func NewCopy(level isa.Level, size int, to, from Block) *Copy {
	c := &Copy{bytes: to.Len() * size}
	if c.bytes == 0 {
		return c
	}
	to = to.finer(from.Shape)
	c.to, c.from = spanOf(to, size), spanOf(from, size)
	axes, toAt, fromAt := axesOf(size, to, from)
	size, axes = widen(size, axes, toAt, fromAt)
	c.toAt, c.fromAt = toAt, fromAt
	c.outer, c.leaf = leafOf(level, size, axes)
	c.leaf.around = aroundOf(&c.leaf, c.bytes)
	c.rounds = 1
	for _, x := range c.outer {
		c.rounds *= x.n
	}
	c.perRound = c.leaf.chunks()
	c.items = c.rounds * c.perRound
	c.itemBytes = max(1, c.bytes/c.items)
	return c
}

func spanOf(b Block, size int) span {
	low, high := b.reach()
	return span{low * size, (high + 1) * size}
}

// Bytes is how many the copy writes.
func (c *Copy) Bytes() int { return c.bytes }

// Kind names the loop that does the work, for listings: "runs", "transpose".
func (c *Copy) Kind() string {
	if c.bytes == 0 {
		return "nothing"
	}
	return c.leaf.kind.name
}

// Room is the bytes of memory that a part needs on its way.
func (c *Copy) Room() int {
	if c.leaf.around == nil {
		return 0
	}
	return c.leaf.around.room
}

// Run copies one of several parts of src to dst, which begin where the tensors
// do. It panics if a tensor is shorter than its block, or room than Room says.
func (c *Copy) Run(dst, src, room []byte, part, parts int) {
	c.Items(dst, src, room, int(int64(c.items)*int64(part)/int64(parts)), int(int64(c.items)*int64(part+1)/int64(parts)))
}

// Pace is how many items are done in some ten microseconds: after so many, a long
// copy may look whether to go on.
func (c *Copy) Pace() int { return max(1, paceBytes/c.itemBytes) }

const paceBytes = 1 << 20

// Count is how many items the copy has, the pieces of work that parts share.
func (c *Copy) Count() int { return c.items }

// Items is Run for the items from first to before end.
func (c *Copy) Items(dst, src, room []byte, first, end int) {
	if first >= end {
		return
	}
	if c.to.low < 0 || c.to.high > len(dst) || c.from.low < 0 || c.from.high > len(src) {
		panic(fmt.Sprintf("move: bytes %v of %d from bytes %v of %d", c.to, len(dst), c.from, len(src)))
	}
	room = room[:c.Room()]
	c.run(room, unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), first, end)
	if a := c.leaf.around; a != nil && a.streams {
		c.leaf.machine.fence()
	}
}

// maxOuter is how many axes an odometer has without a list from the heap: blocks
// seldom have half of them.
const maxOuter = 12

// run copies the items from first to before end. Chunks of one leaf that follow
// each other are done at once.
func (c *Copy) run(room []byte, dst, src unsafe.Pointer, first, end int) {
	var few [maxOuter]int
	at := few[:]
	if len(c.outer) > maxOuter {
		at = make([]int, len(c.outer))
	}
	to, from := c.seek(at, first/c.perRound)
	for first < end {
		chunk := first % c.perRound
		n := min(c.perRound-chunk, end-first)
		c.leaf.run(room, unsafe.Add(dst, to), unsafe.Add(src, from), chunk, n)
		first += n
		if first < end {
			to, from = c.next(at, to, from)
		}
	}
}

// seek sets the odometer to a round.
func (c *Copy) seek(at []int, round int) (to, from int) {
	to, from = c.toAt, c.fromAt
	for i := len(c.outer) - 1; i >= 0 && round > 0; i-- {
		x := &c.outer[i]
		at[i] = round % x.n
		round /= x.n
		to, from = to+at[i]*x.to, from+at[i]*x.from
	}
	return to, from
}

// next sets the odometer to the next round, if there is one.
func (c *Copy) next(at []int, to, from int) (int, int) {
	for i := len(c.outer) - 1; i >= 0; i-- {
		x := &c.outer[i]
		to, from = to+x.to, from+x.from
		if at[i]++; at[i] < x.n {
			return to, from
		}
		at[i] = 0
		to, from = to-x.n*x.to, from-x.n*x.from
	}
	return to, from
}
