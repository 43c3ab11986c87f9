package move

import (
	"fmt"
	"unsafe"

	"github.com/npulang/npu/vm/kernel/isa"
)

// A Weave makes groups of two to four elements, each of another tensor:
//
//	stack of [N], [N] and [N] along the second axis   =>   [N,3]
//
// A piece of each tensor is brought into a room in the first-level cache, where they lie at
// one distance from each other, and is shuffled from there as a transposition of columns
// into groups is.
type Weave struct {
	leaf    leaf // from the room to the destination
	groups  int
	chunk   int    // groups of a piece
	streams bool   // around the caches
	to      span   // what is written
	from    []span // what is read of each tensor
}

// NewWeave makes a weave of blocks of a tensor whose elements come from as many tensors;
// nil: they are no groups.
func NewWeave(level isa.Level, size int, to, from []Block) *Weave {
	count := len(to)
	if count < 2 || count > mostGroup {
		return nil
	}
	w := &Weave{}
	own, all := size, axis{}
	for i := range to {
		if to[i].Len() == 0 {
			return nil
		}
		axes, toAt, fromAt := axesOf(size, to[i].finer(from[i].Shape), from[i])
		wide, axes := widen(size, axes, toAt, fromAt)
		if len(axes) != 1 {
			return nil
		}
		if i == 0 { // the others are like it
			own, all = wide, axis{axes[0].n, count * wide, wide}
			w.to = span{toAt, toAt + all.n*all.to}
		}
		if wide != own || axes[0] != all || toAt != w.to.low+i*own {
			return nil
		}
		w.from = append(w.from, span{fromAt, fromAt + all.n*own})
	}
	w.groups = all.n
	w.streams = w.Bytes() >= runsFrom && machineOf(level).stream != nil
	w.chunk = pieceBytes / (count * own) / line * line
	_, w.leaf = leafOf(level, own, []axis{{w.chunk, count * own, own}, {count, own, w.chunk*own + line}})
	if w.leaf.shuffle == nil && own < maxSize {
		return nil // single elements are written as fast where they belong
	}
	return w
}

// Bytes is how many the weave writes.
func (w *Weave) Bytes() int { return w.to.high - w.to.low }

// Groups is how many groups there are: parts are ranges of them.
func (w *Weave) Groups() int { return w.groups }

// Pace is how many groups are done in some ten microseconds.
func (w *Weave) Pace() int { return max(1, paceBytes/(w.leaf.row.n*w.leaf.size)/w.chunk) * w.chunk }

// Room is the bytes of memory that a part needs on its way.
func (w *Weave) Room() int { return w.leaf.row.n * (w.leaf.row.from + w.chunk*w.leaf.size) }

// Run makes the groups from first to before end of tensors that begin where src do. It
// panics if a tensor is shorter than its block.
func (w *Weave) Run(dst []byte, src [][]byte, room []byte, first, end int) {
	l := &w.leaf
	size, count := l.size, l.row.n
	if first >= end {
		return
	}
	if w.to.high > len(dst) || end > w.groups {
		panic(fmt.Sprintf("move: groups %d to %d of bytes %v of %d", first, end, w.to, len(dst)))
	}
	room = room[:w.Room()]
	pieces, made := unsafe.Pointer(&room[0]), unsafe.Pointer(&room[count*l.row.from])
	around := around{near: *l, streams: true}
	for ; first < end; first += w.chunk {
		n := min(w.chunk, end-first)
		for i, s := range src {
			copy(room[i*l.row.from:], s[:w.from[i].high][w.from[i].low+first*size:][:n*size])
		}
		d := unsafe.Pointer(&dst[w.to.low+first*count*size])
		if !w.streams {
			l.loop(d, pieces, l, n, count)
			continue
		}
		l.loop(made, pieces, l, n, count)
		around.write(d, made, n*count*size)
	}
	if w.streams {
		l.machine.fence()
	}
}
