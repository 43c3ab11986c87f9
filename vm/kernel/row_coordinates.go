package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/move"
)

// Coordinates are rows of depth indices; a block of x is what stands behind the
// axes that they index.
type coordinates struct {
	placer
	sizes []int // of the axes that are indexed
	rows  int
	block int // elements
	size  int // bytes of one
	group int // rows of i for each batch of x; 0: there is no batch
}

func newCoordinates(c *ir.Call, p placer, batch int) *coordinates {
	x, i := c.In[0].Ints(), c.In[1].Ints()
	depth := i[len(i)-1]
	k := &coordinates{placer: p, sizes: x[batch : batch+depth], rows: 1, block: 1, size: c.In[0].DType.Size()}
	for _, n := range i[:len(i)-1] {
		k.rows *= n
	}
	for _, n := range x[batch+depth:] {
		k.block *= n
	}
	groups := 1
	for _, n := range x[:batch] {
		groups *= n
	}
	if batch > 0 && groups > 0 {
		k.group = k.rows / groups
	}
	return k
}

// blocksOf turns the rows of i from at on into numbers of blocks of x. Coordinates are
// read some rows at a time.
func (c *coordinates) blocksOf(list, room []int64, i *tensor.T, at int) bool {
	depth := len(c.sizes)
	if depth == 1 && c.group == 0 {
		return c.load(list, i, at, c.sizes[0])
	}
	per := max(1, len(room)/max(depth, 1))
	for k := 0; k < len(list); k += per {
		part := list[k:min(k+per, len(list))]
		values := coordinatesAt(room[:len(part)*depth], i, (at+k)*depth)
		c.begin(part, at+k)
		for a, n := range c.sizes {
			if !addCoordinates(part, values[a:], depth, int64(n), behindOf(i.DType, n)) {
				return false
			}
		}
	}
	return true
}

// coordinatesAt are as many indices as room has, from a place on: where they lie if they
// have eight bytes, else in room.
func coordinatesAt(room []int64, i *tensor.T, at int) []int64 {
	if i.DType == tensor.I64 {
		return tensor.Of[int64](i)[at : at+len(room)]
	}
	i.LoadInts(room, at)
	return room
}

// begin sets blocks to the batches of the rows of i from at on.
func (c *coordinates) begin(blocks []int64, at int) {
	clear(blocks)
	if c.group == 0 {
		return
	}
	for r := range blocks {
		blocks[r] = int64((at + r) / c.group)
	}
}

// addCoordinates goes from blocks to those of an axis of size n within them; every
// step-th value is the index of one, placed as by move.Place. Within its caller the loop
// would keep its numbers in memory.
//
//go:noinline
func addCoordinates(blocks, values []int64, step int, n, behind int64) (ok bool) {
	outside, at := int64(0), 0
	for r, b := range blocks {
		v := values[at]
		v += behind & (v >> 63)
		blocks[r] = b*n + v
		outside |= v | (n - 1 - v)
		at += step
	}
	return outside >= 0
}

// A gatherND takes blocks of x; its items are rows of i.
type gatherND struct{ *coordinates }

func newGatherND(c *ir.Call, p placer) (indexer, string) {
	k := newCoordinates(c, p, int(c.Int("batch_dims")))
	if len(k.sizes) > indexRun {
		return nil, "too many coordinates"
	}
	return &gatherND{k}, ""
}

func (g *gatherND) items() int { return g.rows }

func (g *gatherND) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	list, room, bytes := indexRoom(x), indexRoom(x), g.block*g.size
	if bytes == 0 && len(g.sizes) == 0 {
		return true, nil // the rows of i hold nothing, however many there are
	}
	for ; first < end; first += indexRun {
		part := list[:min(indexRun, end-first)]
		if !g.blocksOf(part, room, in[1], first) {
			return false, nil
		}
		move.Take(out[0].Data[first*bytes:], in[0].Data, bytes, part)
		if err := x.Stop(); err != nil {
			return true, err
		}
	}
	return true, nil
}
