package kernel

import (
	"bytes"
	"math"
	"slices"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/norm"
)

// tallyRow takes reductions to truths, counts and places of integers, bools and floats of
// eight bytes: any, all, count_nonzero, argmax, argmin. They are those of the reference.
var tallyRow = &Row{Name: "tally", reach: reach{heart: aReduction, alone: true}, Make: func(b *Body, _ *Options) (*Prepared, string) {
	c, why := onlyCall(b)
	if why != "" {
		return nil, why
	}
	if len(c.In) == 0 {
		return nil, notMine
	}
	f, ok := tallies[c.In[0].DType][c.Op.Name]
	if !ok {
		return nil, notMine
	}
	shape := c.In[0].Ints()
	y, why := layoutOf(shape, reducedAxes(c.Attr("axis"), len(shape)))
	if why != "" {
		return nil, why
	}
	t := &tallyTask{tally: f, layout: y, size: c.In[0].DType.Size(), to: c.Out[0].DType.Size()}
	return &Prepared{Work: min(int64(count(shape))+20, MaxWork), Runner: t}, ""
}}

// A tally goes through rows of n neighbouring elements, each of which belongs to another
// result, or through n elements of one result.
type tally struct {
	start func(to, best unsafe.Pointer, n int)
	// columns takes n elements, the ones at a place of n results; best is what a result has
	// found so far, of which only places need to know.
	columns func(to, best, from unsafe.Pointer, n int, place int64)
	row     func(to, best, from unsafe.Pointer, n int, place int64)
}

// A tallyTask tallies for each of Outer by Inner results, as foldTask does.
type tallyTask struct {
	tally
	layout   norm.Layout
	size, to int // bytes of an element and of a result
}

func (t *tallyTask) pieces() int { return (t.layout.Inner + foldRun - 1) / foldRun }

func (t *tallyTask) Parts(want int) int { return max(1, min(want, t.layout.Outer*t.pieces())) }

func (t *tallyTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	y, pieces := &t.layout, t.pieces()
	to, from := unsafe.Pointer(unsafe.SliceData(out[0].Data)), unsafe.Pointer(unsafe.SliceData(in[0].Data))
	best := unsafe.Pointer(unsafe.SliceData(x.Bytes(8 * foldRun)))
	first, n := share(y.Outer*pieces, part, parts, 1)
	for item := first; item < first+n; item++ {
		outer, col := item/pieces, item%pieces*foldRun
		cols := min(foldRun, y.Inner-col)
		d, s := unsafe.Add(to, (outer*y.Inner+col)*t.to), unsafe.Add(from, (outer*y.N*y.Inner+col)*t.size)
		t.start(d, best, cols)
		if err := t.one(x, d, best, s, cols); err != nil {
			return err
		}
	}
	return nil
}

// one goes through all elements of neighbouring results.
func (t *tallyTask) one(x *Exec, to, best, from unsafe.Pointer, cols int) error {
	y, f, step, run := &t.layout, t.columns, 1, cols
	if y.Inner == 1 {
		f, step = t.row, foldStop
	}
	for time := range y.Times {
		for i := 0; i < y.N; i += step {
			if y.Inner == 1 {
				run = min(step, y.N-i)
			}
			f(to, best, unsafe.Add(from, (time*y.Apart+i*y.Inner)*t.size), run, int64(time*y.N+i))
			if i%(foldStop/foldRun) == 0 {
				if err := x.Stop(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// startBytes starts truths, startCounts counts.
func startBytes(v uint8) func(to, _ unsafe.Pointer, n int) {
	return func(to, _ unsafe.Pointer, n int) {
		for i := range elements[uint8](to, n) {
			elements[uint8](to, n)[i] = v
		}
	}
}

func startCounts(to, _ unsafe.Pointer, n int) { clear(elements[int64](to, n)) }

func anyColumns[E anyNumber](to, _, from unsafe.Pointer, n int, _ int64) {
	d := elements[uint8](to, n)
	for i, v := range elements[E](from, n) {
		d[i] |= truthOf(v != 0)
	}
}

// Rows are looked through in pieces, behind the first of which that decides nothing counts.
const tallyRun = 64

func anyRow[E anyNumber](to, _, from unsafe.Pointer, n int, _ int64) {
	some := *(*uint8)(to)
	for part := range slices.Chunk(elements[E](from, n), tallyRun) {
		if some != 0 {
			break
		}
		for _, v := range part {
			some |= truthOf(v != 0)
		}
	}
	*(*uint8)(to) = some
}

func allColumns[E anyNumber](to, _, from unsafe.Pointer, n int, _ int64) {
	d := elements[uint8](to, n)
	for i, v := range elements[E](from, n) {
		d[i] &= truthOf(v != 0)
	}
}

func allRow[E anyNumber](to, _, from unsafe.Pointer, n int, _ int64) {
	every := *(*uint8)(to)
	for part := range slices.Chunk(elements[E](from, n), tallyRun) {
		if every == 0 {
			break
		}
		for _, v := range part {
			every &= truthOf(v != 0)
		}
	}
	*(*uint8)(to) = every
}

func countColumns[E anyNumber](to, _, from unsafe.Pointer, n int, _ int64) {
	d := elements[int64](to, n)
	for i, v := range elements[E](from, n) {
		d[i] += int64(truthOf(v != 0))
	}
}

func countRow[E anyNumber](to, _, from unsafe.Pointer, n int, _ int64) {
	var many int64
	for _, v := range elements[E](from, n) {
		many += int64(truthOf(v != 0))
	}
	*(*int64)(to) += many
}

// startPlaces begins with what the first element beats, or is equal to and comes first.
func startPlaces[E anyNumber](v E) func(to, best unsafe.Pointer, n int) {
	return func(to, best unsafe.Pointer, n int) {
		clear(elements[int64](to, n))
		for i := range elements[E](best, n) {
			elements[E](best, n)[i] = v
		}
	}
}

// above and below report whether an element beats the best one: NaN does, but for NaN.
func above[E anyNumber](v, best E) bool { return v > best || v != v && best == best }
func below[E anyNumber](v, best E) bool { return v < best || v != v && best == best }

func mostPlaces[E anyNumber](to, best, from unsafe.Pointer, n int, place int64) {
	d, most := elements[int64](to, n), elements[E](best, n)
	for i, v := range elements[E](from, n) {
		if above(v, most[i]) {
			most[i], d[i] = v, place
		}
	}
}

func mostPlace[E anyNumber](to, best, from unsafe.Pointer, n int, place int64) {
	at, most := (*int64)(to), *(*E)(best)
	for i, v := range elements[E](from, n) {
		if above(v, most) {
			most, *at = v, place+int64(i)
		}
	}
	*(*E)(best) = most
}

func leastPlaces[E anyNumber](to, best, from unsafe.Pointer, n int, place int64) {
	d, least := elements[int64](to, n), elements[E](best, n)
	for i, v := range elements[E](from, n) {
		if below(v, least[i]) {
			least[i], d[i] = v, place
		}
	}
}

func leastPlace[E anyNumber](to, best, from unsafe.Pointer, n int, place int64) {
	at, least := (*int64)(to), *(*E)(best)
	for i, v := range elements[E](from, n) {
		if below(v, least) {
			least, *at = v, place+int64(i)
		}
	}
	*(*E)(best) = least
}

// truthsOf are the tallies that look for what is not 0.
func truthsOf[E anyNumber]() map[string]tally {
	return map[string]tally{
		"any":           {startBytes(0), anyColumns[E], anyRow[E]},
		"all":           {startBytes(1), allColumns[E], allRow[E]},
		"count_nonzero": {startCounts, countColumns[E], countRow[E]},
	}
}

// byteTruths are those of bytes, rows of which the standard library goes through many at a
// time.
func byteTruths() map[string]tally {
	of := truthsOf[uint8]()
	for name, row := range map[string]func(to, best, from unsafe.Pointer, n int, place int64){"any": anyByte, "all": allBytes, "count_nonzero": countBytes} {
		t := of[name]
		t.row = row
		of[name] = t
	}
	return of
}

var zeroByte = []byte{0}

// byteRun is how many bytes anyByte looks through before it may stop.
const byteRun = 1 << 10

func anyByte(to, _, from unsafe.Pointer, n int, _ int64) {
	for part := range slices.Chunk(elements[byte](from, n), byteRun) {
		if bytes.Count(part, zeroByte) < len(part) {
			*(*uint8)(to) = 1
			return
		}
	}
}

func allBytes(to, _, from unsafe.Pointer, n int, _ int64) {
	if bytes.IndexByte(elements[byte](from, n), 0) >= 0 {
		*(*uint8)(to) = 0
	}
}

func countBytes(to, _, from unsafe.Pointer, n int, _ int64) {
	*(*int64)(to) += int64(n - bytes.Count(elements[byte](from, n), zeroByte))
}

// talliesOf are the tallies of a type with its least and greatest number.
func talliesOf[E anyNumber](lowest, highest E) map[string]tally {
	all := truthsOf[E]()
	if unsafe.Sizeof(lowest) == 1 {
		all = byteTruths()
	}
	all["argmax"] = tally{startPlaces(lowest), mostPlaces[E], mostPlace[E]}
	all["argmin"] = tally{startPlaces(highest), leastPlaces[E], leastPlace[E]}
	return all
}

// tallies are the tallies by dtype and operator.
var tallies = map[tensor.DType]map[string]tally{
	tensor.F64: talliesOf(math.Inf(-1), math.Inf(1)), tensor.Bool: byteTruths(),
	tensor.I64: talliesOf[int64](math.MinInt64, math.MaxInt64), tensor.U64: talliesOf[uint64](0, math.MaxUint64),
	tensor.I32: talliesOf[int32](math.MinInt32, math.MaxInt32), tensor.U32: talliesOf[uint32](0, math.MaxUint32),
	tensor.I16: talliesOf[int16](math.MinInt16, math.MaxInt16), tensor.U16: talliesOf[uint16](0, math.MaxUint16),
	tensor.I8: talliesOf[int8](math.MinInt8, math.MaxInt8), tensor.U8: talliesOf[uint8](0, math.MaxUint8),
}
