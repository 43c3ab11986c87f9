package ir

import (
	"reflect"

	"github.com/npulang/npu/ir/tensor"
)

// A Scratch is memory that evaluations use over and over: what one of them
// needs on its way, the next one finds. Its zero value is ready for use, by one
// goroutine at a time.
type Scratch struct {
	slabs []slab
}

// A slab has the elements of one Go type.
type slab interface {
	reset()
	forget()
}

// maxSlab bounds the bytes that a slab keeps: an image of 64 channels of 112 x
// 112 in float64 is 6.4 MB. Evaluations that need more make it themselves, which
// takes little beside their work.
const maxSlab = 8 << 20

type slabOf[E any] struct {
	buf   []E
	at    int // of them are in use
	asked int // since the last reset
	most  int // that an evaluation has asked for
}

// Forget lets go of tensors that the last evaluation has seen.
func (s *Scratch) Forget() {
	for _, b := range s.slabs {
		b.forget()
	}
}

// reset takes everything back.
func (s *Scratch) reset() {
	if s != nil {
		for _, b := range s.slabs {
			b.reset()
		}
	}
}

func (b *slabOf[E]) reset() {
	b.most = max(b.most, b.asked)
	b.at, b.asked = 0, 0
}

func (b *slabOf[E]) forget() {
	switch any(b.buf).(type) {
	case []int, []byte, []bool, []float64, []int64, []uint64:
	default:
		clear(b.buf)
	}
}

func (b *slabOf[E]) size() int { return int(reflect.TypeFor[E]().Size()) }

func (b *slabOf[E]) take(n int) []E {
	b.asked += n
	if n > len(b.buf)-b.at {
		if n > maxSlab/b.size() {
			return make([]E, n)
		}
		// What is in use stays where it is; the next time all finds room.
		b.buf, b.at = make([]E, max(n, min(b.most, maxSlab/b.size()))), 0
	}
	part := b.buf[b.at : b.at+n : b.at+n]
	b.at += n
	return part
}

// room is memory for n elements on the way of an evaluation, gone with it. It
// holds anything.
func room[E any](c *Call, n int) []E {
	if c == nil || c.Scratch == nil {
		return make([]E, n)
	}
	s := c.Scratch
	for _, b := range s.slabs {
		if b, ok := b.(*slabOf[E]); ok {
			return b.take(n)
		}
	}
	b := &slabOf[E]{}
	s.slabs = append(s.slabs, b)
	return b.take(n)
}

// zeros is room, cleared.
func zeros[E any](c *Call, n int) []E {
	list := room[E](c, n)
	clear(list)
	return list
}

// roomCopy is a copy of a list.
func roomCopy[E any](c *Call, of []E) []E {
	list := room[E](c, len(of))
	copy(list, of)
	return list
}

// tensorRoom is room for a tensor, which holds anything. It keeps the shape.
func tensorRoom(c *Call, d tensor.DType, shape []int) *tensor.T {
	n := d.Size()
	for _, s := range shape {
		n *= s
	}
	t := &room[tensor.T](c, 1)[0]
	// Multiples of a cache line begin where elements of any dtype may.
	*t = tensor.T{DType: d, Shape: shape, Data: room[byte](c, (n+63)&^63)[:n:n]}
	return t
}

// reshaped is t.Reshape for a shape that holds as many elements.
func reshaped(c *Call, t *tensor.T, shape ...int) *tensor.T {
	r := &room[tensor.T](c, 1)[0]
	*r = tensor.T{DType: t.DType, Shape: roomCopy(c, shape), Data: t.Data}
	return r
}

// stridesOf is tensor.Strides.
func stridesOf(c *Call, shape []int) []int {
	s := room[int](c, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// intsOf is Type.Ints.
func intsOf(c *Call, t Type) []int {
	ns := room[int](c, len(t.Shape))
	for i, d := range t.Shape {
		n, ok := d.Const()
		if !ok {
			panic("ir: the size of the symbolic type " + t.String())
		}
		ns[i] = int(n)
	}
	return ns
}

// wideOf is t.Floats.
func wideOf(c *Call, t *tensor.T) []float64 {
	v := room[float64](c, t.Len())
	t.LoadFloats(v, 0)
	return v
}
