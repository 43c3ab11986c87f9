package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/vec"
)

// stripRow runs bodies of element-wise operators, with views, transpositions and
// broadcasts between them, in one pass over their operands.
var stripRow = &Row{Name: "strip", reach: reach{heart: anElement, rest: aMove}, ways: stripWays, Make: makeStrip}

func makeStrip(b *Body, o *Options) (*Prepared, string) {
	shape, why := stripShape(b)
	if why != "" {
		return nil, why
	}
	if b.InPlace != Absent && !b.Type(b.Out[0]).Equal(b.In[b.InPlace]) {
		return nil, "it replaces an argument of another type"
	}
	s, why := sheetOf(b, o.Level, noHeart, shape)
	if why != "" {
		return nil, why
	}
	if b.InPlace != Absent && !s.follows(b.InPlace) {
		return nil, "it reads the argument that it replaces in another order"
	}
	s.settle(1, 1)
	within := s.within
	if len(b.Ops) == 1 && b.Ops[0].Is("cast") {
		within = 0 // it is the rounding that casts are defined by
	} else if len(s.codes) > 1 {
		within *= magnified
	}
	return &Prepared{Work: s.work(o.Level), Within: within, Runner: newStrip(s, o)}, ""
}

// newStrip makes the task of a sheet, in the way that is wanted.
func newStrip(s *sheet, o *Options) *stripTask {
	t := &stripTask{s, max(0, o.way-1)}
	s.stream = t.streams(t.own) && !s.replaces
	return t
}

// magnified is by how much later operators may enlarge, relative to the result, what
// an earlier one is off: where terms cancel, or an exponential of up to 88 follows.
const magnified = 128

// stripShape is the shape that the body works on: that of its results, which must
// have the same number of elements.
func stripShape(b *Body) (shape []int, why string) {
	for i := range b.Ops {
		if c := b.Ops[i].Call; c != nil && loweringOf(c) == nil {
			if c.Op.Class != ir.Elementwise {
				return nil, notMine
			}
			return nil, c.Op.Name + " is not element-wise on " + dtypes(c)
		}
	}
	if !computes(b) {
		return nil, "it only moves data"
	}
	shape = b.Type(b.Out[0]).Ints()
	for _, v := range b.Out[1:] {
		if count(b.Type(v).Ints()) != count(shape) {
			return nil, "results of different sizes"
		}
	}
	return shape, ""
}

// computes reports whether there is an operator that is more than an order of
// elements.
func computes(b *Body) bool {
	for i := range b.Ops {
		if c := b.Ops[i].Call; c != nil && c.Op.Class == ir.Elementwise {
			return true
		}
	}
	return false
}

func count(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// work estimates nanoseconds: what the codes take on an element, and the traffic
// of the operands.
func (s *sheet) work(level isa.Level) int64 {
	n := int64(s.elements())
	if n == 0 {
		return 1
	}
	pico := int64(100 * s.prog.Views())
	for _, c := range s.codes {
		pico += int64(vec.Cost(level, c))
	}
	if n > MaxWork/max(pico, 1) {
		return MaxWork
	}
	return max(1, n*pico/1000)
}
