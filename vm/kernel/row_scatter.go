package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/move"
)

// Operators that write elements by indices into a copy of x, the last of equals in
// the order of i staying, or combine updates with what is there, also in that order.

// A scatter has as items what is before the axis in x: updates never leave theirs.
type scatter struct {
	placer
	outer, n, inner, size int       // of x
	shape, steps          []int     // of i, without the axis and what is before; steps in x
	count                 int       // indices along the axis
	combine               *combiner // nil: an update takes the place of what is there
	before                []int     // sizes of i before the axis
	xBefore               []int     // those of x
	within                int       // elements of i behind the axis
}

func newScatter(c *ir.Call, p placer) (indexer, string) {
	x, i := c.In[0].Ints(), c.In[1].Ints()
	axis := axisIn(c.Int("axis"), len(x))
	s := &scatter{placer: p, size: c.In[0].DType.Size(), count: i[axis], within: 1}
	s.outer, s.n, s.inner = extents(x, axis)
	s.before, s.xBefore = i[:axis], x[:axis]
	s.shape, s.steps = i[axis+1:], tensor.Strides(x)[axis+1:]
	for _, n := range s.shape {
		s.within *= n
	}
	if how := c.Str("reduce"); how != "none" {
		s.combine = combinerOf(c.In[0].DType, how)
		if s.combine.wide != nil && s.n*s.inner > mostWide {
			return nil, "too many elements are combined as f64"
		}
	}
	return s, ""
}

func (s *scatter) items() int { return s.outer }

func (s *scatter) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	room, slab := indexRoom(x), s.n*s.inner*s.size
	var wide wideRoom
	if s.combine != nil && s.combine.wide != nil {
		wide = x.wideRoom(s.n*s.inner, indexRun)
	}
	for o := first; o < end; o++ {
		to := out[0].Data[o*slab : (o+1)*slab]
		copy(to, in[0].Data[o*slab:])
		if i, ok := s.slabOf(o); ok && !s.slab(&wide, room, to, o, i*s.count*s.within, out[0], in) {
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

// slab brings the updates of slab o, whose bytes are to; they begin at an element of i.
func (s *scatter) slab(wide *wideRoom, room []int64, to []byte, o, at int, out *tensor.T, in []*tensor.T) bool {
	switch {
	case s.combine == nil:
		return s.update(room, in[1], at, func(list []int64, at int) { move.Put(to, in[2].Data[at*s.size:], s.size, list) })
	case s.combine.wide == nil:
		return s.update(room, in[1], at, func(list []int64, at int) { s.combine.at(to, in[2].Data[at*s.size:], list) })
	}
	values, first := wide.values, o*s.n*s.inner
	in[0].LoadFloats(values, first)
	ok := s.update(room, in[1], at, func(list []int64, at int) {
		part := wide.updates[:len(list)]
		in[2].LoadFloats(part, at)
		for j, p := range list {
			values[p] = s.combine.wide(values[p], part[j])
		}
	})
	// Only what was touched is rounded: all else stays bit for bit.
	return ok && s.update(room, in[1], at, func(list []int64, _ int) { storeEach(out, first, values, list) })
}

// update goes through the updates of one slab, which begin at an element of i: put is
// told their places in the slab, and where in i they lie.
func (s *scatter) update(room []int64, i *tensor.T, at int, put func(list []int64, at int)) bool {
	total := s.count * s.within
	for k := 0; k < total; k += indexRun {
		list := room[:min(indexRun, total-k)]
		if !s.load(list, i, at+k, s.n) {
			return false
		}
		if s.inner > 1 {
			for j := range list {
				list[j] = list[j]*int64(s.inner) + int64(s.behind((k+j)%s.within))
			}
		}
		put(list, at+k)
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
	combine        *combiner // nil: an update takes the place of what is there
	blocks, pieces int
}

// scatterPiece is how many bytes of a block are worth a part of their own.
const scatterPiece = 256

func newScatterND(c *ir.Call, p placer) (indexer, string) {
	k := newCoordinates(c, p, 0)
	switch {
	case len(k.sizes) > indexRun:
		return nil, "too many coordinates"
	}
	s := &scatterND{coordinates: k, blocks: 1, pieces: max(1, k.block*k.size/scatterPiece)}
	for _, n := range k.sizes {
		s.blocks *= n
	}
	if how := c.Str("reduce"); how != "none" {
		s.combine = combinerOf(c.In[0].DType, how)
		if s.combine.wide != nil {
			s.pieces = max(s.pieces, min(s.block, ceil(s.blocks*s.block, mostWide)))
			if s.blocks*ceil(s.block, s.pieces) > 2*mostWide {
				return nil, "too many elements are combined as f64"
			}
		}
	}
	return s, ""
}

func (s *scatterND) items() int { return s.pieces }

func (s *scatterND) run(x *Exec, first, end int, out, in []*tensor.T) (bool, error) {
	bytes := s.block * s.size
	if bytes == 0 && len(s.sizes) == 0 {
		return true, nil
	}
	if s.combine != nil && s.combine.wide != nil {
		each := ceil(s.block, s.pieces)
		wide, list, room := x.wideRoom(s.blocks*each, each), indexRoom(x), indexRoom(x)
		for ; first < end; first++ {
			if ok, err := s.widely(x, &wide, list, room, s.block*first/s.pieces, s.block*(first+1)/s.pieces, out[0], in); !ok || err != nil {
				return ok, err
			}
		}
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
		if !s.blocksOf(part, room, in[1], k) {
			return false, nil
		}
		switch {
		case s.combine != nil:
			s.combinePieces(out[0].Data, in[2].Data[k*bytes:], low, high, part)
		case whole:
			move.Put(out[0].Data, in[2].Data[k*bytes:], bytes, part)
		default:
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

// combinePieces combines the bytes low to high of each block.
func (s *scatterND) combinePieces(dst, src []byte, low, high int, index []int64) {
	bytes := s.block * s.size
	for i, to := range index {
		s.combine.rows(dst[int(to)*bytes+low:int(to)*bytes+high], src[i*bytes+low:i*bytes+high])
	}
}

// widely combines the elements low to high of each block as float64.
func (s *scatterND) widely(x *Exec, wide *wideRoom, list, room []int64, low, high int, out *tensor.T, in []*tensor.T) (bool, error) {
	n, bytes := high-low, s.block*s.size
	values, updates := wide.values[:s.blocks*n], wide.updates[:n]
	for b := range s.blocks {
		copy(out.Data[b*bytes+low*s.size:b*bytes+high*s.size], in[0].Data[b*bytes+low*s.size:])
		in[0].LoadFloats(values[b*n:(b+1)*n], b*s.block+low)
	}
	for _, last := range []bool{false, true} {
		for k := 0; k < s.rows; k += indexRun {
			part := list[:min(indexRun, s.rows-k)]
			if !s.blocksOf(part, room, in[1], k) {
				return false, nil
			}
			for i, b := range part {
				to := values[int(b)*n : (int(b)+1)*n]
				if last { // only what was touched is rounded: all else stays bit for bit
					out.StoreFloats(int(b)*s.block+low, to)
					continue
				}
				in[2].LoadFloats(updates, (k+i)*s.block+low)
				for j, u := range updates {
					to[j] = s.combine.wide(to[j], u)
				}
			}
			if err := x.Stop(); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}
