package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/move"
)

// Operators that write elements by indices into a copy of x, the last of equals in
// the order of i staying. What combines updates with what is there is left to the
// reference, which does so in a wider type.

// A scatter has as items what is before the axis in x: updates never leave theirs.
type scatter struct {
	outer, n, inner, size int   // of x
	shape, steps          []int // of i, without the axis and what is before; steps in x
	count                 int   // indices along the axis
	before                []int // sizes of i before the axis
	xBefore               []int // those of x
	within                int   // elements of i behind the axis
}

func newScatter(c *ir.Call) (indexer, string) {
	if c.Str("reduce") != "none" {
		return nil, "updates are combined"
	}
	x, i := c.In[0].Ints(), c.In[1].Ints()
	axis := axisIn(c.Int("axis"), len(x))
	s := &scatter{size: c.In[0].DType.Size(), count: i[axis], within: 1}
	s.outer, s.n, s.inner = extents(x, axis)
	s.before, s.xBefore = i[:axis], x[:axis]
	s.shape, s.steps = i[axis+1:], tensor.Strides(x)[axis+1:]
	for _, n := range s.shape {
		s.within *= n
	}
	return s, ""
}

func (s *scatter) items() int { return s.outer }

func (s *scatter) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	room, slab := indexRoom(x), s.n*s.inner*s.size
	for o := first; o < end; o++ {
		to := out[0].Data[o*slab : (o+1)*slab]
		copy(to, in[0].Data[o*slab:])
		if i, ok := s.slabOf(o); ok && !s.update(room, to, in, i*s.count*s.within) {
			return false, nil
		}
		if err := x.Stop(); err != nil {
			return true, err
		}
	}
	return true, nil
}

// slabOf is the slab of i that belongs to one of x, if there is one: i may be
// smaller.
func (s *scatter) slabOf(o int) (slab int, ok bool) {
	step := 1
	for a := len(s.before) - 1; a >= 0; a-- {
		k := o % s.xBefore[a]
		o /= s.xBefore[a]
		if k >= s.before[a] {
			return 0, false
		}
		slab, step = slab+k*step, step*s.before[a]
	}
	return slab, true
}

// update writes the updates of one slab, which begin at an element of i.
func (s *scatter) update(room []int64, to []byte, in []*tensor.T, at int) bool {
	total := s.count * s.within
	for k := 0; k < total; k += indexRun {
		list := room[:min(indexRun, total-k)]
		if !loadIndices(list, in[1], at+k, s.n) {
			return false
		}
		if s.inner > 1 {
			for j := range list {
				list[j] = list[j]*int64(s.inner) + int64(s.behind((k+j)%s.within))
			}
		}
		move.Put(to, in[2].Data[(at+k)*s.size:], s.size, list)
	}
	return true
}

// behind is where an element of i lies in x, behind the axis.
func (s *scatter) behind(k int) (at int) {
	for a := len(s.shape) - 1; a >= 0; a-- {
		at += k % s.shape[a] * s.steps[a]
		k /= s.shape[a]
	}
	return at
}

// A scatterND has as items pieces of the blocks: each part writes its own of all of
// them, in the order of i.
type scatterND struct {
	*coordinates
	blocks, pieces int
}

// scatterPiece is how many bytes of a block are worth a part of their own.
const scatterPiece = 256

func newScatterND(c *ir.Call) (indexer, string) {
	k := newCoordinates(c, 0)
	switch {
	case c.Str("reduce") != "none":
		return nil, "updates are combined"
	case len(k.sizes) > indexRun:
		return nil, "too many coordinates"
	}
	s := &scatterND{coordinates: k, blocks: 1, pieces: max(1, k.block*k.size/scatterPiece)}
	for _, n := range k.sizes {
		s.blocks *= n
	}
	return s, ""
}

func (s *scatterND) items() int { return s.pieces }

func (s *scatterND) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	bytes := s.block * s.size
	if bytes == 0 && len(s.sizes) == 0 {
		return true, nil
	}
	// Pieces are whole elements.
	low, high := s.block*first/s.pieces*s.size, s.block*end/s.pieces*s.size
	whole := high-low == bytes
	if whole {
		copy(out[0].Data, in[0].Data)
	} else {
		for b := range s.blocks {
			copy(out[0].Data[b*bytes+low:b*bytes+high], in[0].Data[b*bytes+low:])
		}
	}
	list, room := indexRoom(x), indexRoom(x)
	for k := 0; k < s.rows; k += indexRun {
		part := list[:min(indexRun, s.rows-k)]
		if !s.load(part, room, in[1], k) {
			return false, nil
		}
		if whole {
			move.Put(out[0].Data, in[2].Data[k*bytes:], bytes, part)
		} else {
			putPieces(out[0].Data, in[2].Data[k*bytes:], bytes, low, high, part)
		}
		if err := x.Stop(); err != nil {
			return true, err
		}
	}
	return true, nil
}

// putPieces is move.Put of the bytes low to high of each block.
func putPieces(dst, src []byte, bytes, low, high int, index []int64) {
	for i, to := range index {
		copy(dst[int(to)*bytes+low:int(to)*bytes+high], src[i*bytes+low:])
	}
}
