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
	t := &cumulating{size: c.In[0].DType.Size(), loop: f.sums}
	if c.Op.Name == "cumprod" {
		t.loop = f.products
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
	loop                    cumulator
}

// A cumulator accumulates the rows of a piece, at most cumulateRun elements wide:
// rows lie step elements apart. room is for as many wide elements.
type cumulator func(room []byte, to, from unsafe.Pointer, rows, cols, step int)

func (t *cumulating) Parts(want int) int { return max(1, min(want, t.outer*t.pieces)) }

func (t *cumulating) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	items := int64(t.outer * t.pieces)
	room := x.Bytes(8 * cumulateRun)
	for item := int(items * int64(part) / int64(parts)); item < int(items*int64(part+1)/int64(parts)); item++ {
		col := item % t.pieces * cumulateRun
		at := (item/t.pieces*t.n*t.inner + col) * t.size
		if t.n > 0 {
			t.loop(room, unsafe.Pointer(&out[0].Data[at]), unsafe.Pointer(&in[0].Data[at]), t.n, min(cumulateRun, t.inner-col), t.inner)
		}
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// cumulators are the loops of a dtype.
var cumulators = map[tensor.DType]struct{ sums, products cumulator }{
	tensor.F64: {sumsOf[float64, float64], productsOf[float64, float64]},
	tensor.F32: {sumsOf[float32, float64], productsOf[float32, float64]},
	tensor.I64: {sumsOf[int64, int64], productsOf[int64, int64]},
	tensor.I32: {sumsOf[int32, int32], productsOf[int32, int32]},
	tensor.I16: {sumsOf[int16, int16], productsOf[int16, int16]},
	tensor.I8:  {sumsOf[int8, int8], productsOf[int8, int8]},
	tensor.U64: {sumsOf[uint64, uint64], productsOf[uint64, uint64]},
	tensor.U32: {sumsOf[uint32, uint32], productsOf[uint32, uint32]},
	tensor.U16: {sumsOf[uint16, uint16], productsOf[uint16, uint16]},
	tensor.U8:  {sumsOf[uint8, uint8], productsOf[uint8, uint8]},
}

// sumsOf accumulates sums of E in W. The first element is the first sum, so that -0
// stays.
func sumsOf[E, W anyNumber](room []byte, to, from unsafe.Pointer, rows, cols, step int) {
	if cols == 1 {
		to, from := elements[E](to, (rows-1)*step+1), elements[E](from, (rows-1)*step+1)
		sum := W(from[0])
		to[0] = E(sum)
		for at := step; at < len(from); at += step {
			sum += W(from[at])
			to[at] = E(sum)
		}
		return
	}
	sums := startRow[E, W](room, to, from, cols)
	for r := 1; r < rows; r++ {
		d, s := rowAt[E](to, r*step, cols), rowAt[E](from, r*step, cols)
		for i, v := range s {
			sums[i] += W(v)
			d[i] = E(sums[i])
		}
	}
}

// productsOf is sumsOf for products.
func productsOf[E, W anyNumber](room []byte, to, from unsafe.Pointer, rows, cols, step int) {
	products := startRow[E, W](room, to, from, cols)
	for r := 1; r < rows; r++ {
		d, s := rowAt[E](to, r*step, cols), rowAt[E](from, r*step, cols)
		for i, v := range s {
			products[i] *= W(v)
			d[i] = E(products[i])
		}
	}
}

// startRow begins with the first row.
func startRow[E, W anyNumber](room []byte, to, from unsafe.Pointer, cols int) []W {
	wide := elements[W](unsafe.Pointer(unsafe.SliceData(room)), cols)
	d, s := rowAt[E](to, 0, cols), rowAt[E](from, 0, cols)
	for i, v := range s {
		wide[i] = W(v)
		d[i] = E(wide[i])
	}
	return wide
}

func rowAt[E any](p unsafe.Pointer, at, n int) []E {
	return elements[E](unsafe.Add(p, at*int(unsafe.Sizeof(*new(E)))), n)
}
