package kernel

import (
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
)

// cumulates takes cumsum and cumprod of all but half floats, in the order of the
// reference: floats accumulate in float64, and each result is rounded once.
var cumulates = &Row{Name: "cumulate", reach: reach{heart: aCumulation, alone: true}, Make: func(b *Body, _ *Options) (*Prepared, string) {
	c, why := onlyCall(b)
	if why != "" {
		return nil, why
	}
	if c.Op.Name != "cumsum" && c.Op.Name != "cumprod" {
		return nil, notMine
	}
	f, ok := cumulators[c.In[0].DType]
	if !ok {
		return nil, c.Op.Name + " of " + c.In[0].DType.String() + " does not accumulate here"
	}
	t := &cumulating{size: c.In[0].DType.Size(), cumulator: f.sums}
	if c.Op.Name == "cumprod" {
		t.cumulator = f.products
	}
	t.outer, t.n, t.inner = extents(c.In[0].Ints(), axisIn(c.Int("axis"), c.In[0].Rank()))
	t.pieces = (t.inner + cumulateRun - 1) / cumulateRun
	return &Prepared{Work: min(int64(t.outer)*int64(t.n)*int64(t.inner)*2, MaxWork), Runner: t}, ""
}}

// cumulateRun is how many neighbours accumulate at a time where the axis is not the
// last.
const cumulateRun = 256

// A cumulating goes along an axis of size n, with outer indices before and inner
// elements behind; these are done in pieces.
type cumulating struct {
	outer, n, inner, pieces int
	size                    int
	cumulator
}

// A cumulator accumulates the rows of a piece, at most cumulateRun elements wide, in
// room for as many wide elements: start takes the first row, and more takes rows behind
// it that lie step elements apart.
type cumulator struct {
	start func(room []byte, to, from unsafe.Pointer, cols int)
	more  func(room []byte, to, from unsafe.Pointer, rows, cols, step int)
}

func (t *cumulating) Parts(want int) int { return max(1, min(want, t.outer*t.pieces)) }

func (t *cumulating) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	if t.n == 0 {
		return nil
	}
	items := int64(t.outer * t.pieces)
	room := x.Bytes(8 * cumulateRun)
	for item := int(items * int64(part) / int64(parts)); item < int(items*int64(part+1)/int64(parts)); item++ {
		col := item % t.pieces * cumulateRun
		at := (item/t.pieces*t.n*t.inner + col) * t.size
		if err := t.piece(x, room, unsafe.Pointer(&out[0].Data[at]), unsafe.Pointer(&in[0].Data[at]), min(cumulateRun, t.inner-col)); err != nil {
			return err
		}
	}
	return nil
}

// cumulateStop is after how many elements it is asked whether to go on.
const cumulateStop = 1 << 16

// piece goes along a piece of so many columns.
func (t *cumulating) piece(x *Exec, room []byte, to, from unsafe.Pointer, cols int) error {
	t.start(room, to, from, cols)
	most := cumulateStop / cols
	for row := 1; row < t.n; row += most {
		at := row * t.inner * t.size
		t.more(room, unsafe.Add(to, at), unsafe.Add(from, at), min(most, t.n-row), cols, t.inner)
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return x.Stop()
}

// cumulators are the loops of a dtype.
var cumulators = map[tensor.DType]struct{ sums, products cumulator }{
	tensor.F64: cumulatorsOf[float64, float64](),
	tensor.F32: cumulatorsOf[float32, float64](),
	tensor.I64: cumulatorsOf[int64, int64](),
	tensor.I32: cumulatorsOf[int32, int32](),
	tensor.I16: cumulatorsOf[int16, int16](),
	tensor.I8:  cumulatorsOf[int8, int8](),
	tensor.U64: cumulatorsOf[uint64, uint64](),
	tensor.U32: cumulatorsOf[uint32, uint32](),
	tensor.U16: cumulatorsOf[uint16, uint16](),
	tensor.U8:  cumulatorsOf[uint8, uint8](),
}

// cumulatorsOf accumulate E in W.
func cumulatorsOf[E, W anyNumber]() struct{ sums, products cumulator } {
	return struct{ sums, products cumulator }{
		cumulator{startRow[E, W], sumsOf[E, W]},
		cumulator{startRow[E, W], productsOf[E, W]},
	}
}

// startRow begins with the first row, whose elements are the first sums, so that -0
// stays.
func startRow[E, W anyNumber](room []byte, to, from unsafe.Pointer, cols int) {
	wide := wideRow[W](room, cols)
	d, s := rowAt[E](to, 0, cols), rowAt[E](from, 0, cols)
	for i, v := range s {
		wide[i] = W(v)
		d[i] = E(wide[i])
	}
}

func wideRow[W any](room []byte, cols int) []W {
	return elements[W](unsafe.Pointer(unsafe.SliceData(room)), cols)
}

// sumsOf goes on with the rows behind the first.
func sumsOf[E, W anyNumber](room []byte, to, from unsafe.Pointer, rows, cols, step int) {
	sums := wideRow[W](room, cols)
	if cols == 1 {
		to, from := elements[E](to, (rows-1)*step+1), elements[E](from, (rows-1)*step+1)
		sum := sums[0]
		for at := 0; at < len(from); at += step {
			sum += W(from[at])
			to[at] = E(sum)
		}
		sums[0] = sum
		return
	}
	for r := range rows {
		d, s := rowAt[E](to, r*step, cols), rowAt[E](from, r*step, cols)
		for i, v := range s {
			sums[i] += W(v)
			d[i] = E(sums[i])
		}
	}
}

// productsOf is sumsOf for products.
func productsOf[E, W anyNumber](room []byte, to, from unsafe.Pointer, rows, cols, step int) {
	products := wideRow[W](room, cols)
	for r := range rows {
		d, s := rowAt[E](to, r*step, cols), rowAt[E](from, r*step, cols)
		for i, v := range s {
			products[i] *= W(v)
			d[i] = E(products[i])
		}
	}
}

func rowAt[E any](p unsafe.Pointer, at, n int) []E {
	return elements[E](unsafe.Add(p, at*int(unsafe.Sizeof(*new(E)))), n)
}
