package kernel

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/move"
)

// orders takes sort, argsort and topk of elements of up to four bytes. An element
// becomes a whole number with the same order, its position stands below it in one
// word of eight bytes, and words have no equals: sorting them is stable, whatever the
// method.
//
//	f32 2, NaN, -0, 0    =>    c0000000_00000000, ffffffff_00000001,
//	                           80000000_00000002, 80000000_00000003
var orders = &Row{Name: "order", reach: reach{heart: anOrder, alone: true}, Make: func(b *Body, _ *Options) (*Prepared, string) {
	c, why := onlyCall(b)
	if why != "" {
		return nil, why
	}
	descending, sorts := sorters[c.Op.Name]
	switch {
	case !sorts:
		return nil, notMine
	case c.In[0].DType.Size() > 4:
		return nil, "elements of eight bytes leave no room for positions"
	}
	axis := axisIn(c.Int("axis"), c.In[0].Rank())
	s := &sorting{size: c.In[0].DType.Size(), key: keyers[c.In[0].DType]}
	s.outer, s.n, s.inner = extents(c.In[0].Ints(), axis)
	if s.n > maxLine {
		return nil, "a line has more elements than caches hold"
	}
	if c.Bool(descending) {
		s.flip = math.MaxUint32
	}
	k, _ := c.Out[0].Shape[axis].Const()
	if s.k = int(k); s.k > s.n {
		return nil, "there are fewer elements than wanted"
	}
	s.values, s.positions = 0, 1
	if c.Op.Name == "argsort" {
		s.values, s.positions = Absent, 0
	}
	return &Prepared{Work: min(int64(s.outer)*int64(s.inner)*int64(s.n)*8, MaxWork), Runner: s}, ""
}}

// sorters has, by operator, the attribute that says whether the largest come first.
var sorters = map[string]string{"sort": "descending", "argsort": "descending", "topk": "largest"}

// maxLine bounds a line: its words are memory that nobody accounts for.
const maxLine = 1 << 18

// A sorting sorts lines along an axis, or finds the first k of each.
type sorting struct {
	outer, n, inner, k int
	size               int
	key                func(to []uint64, x *tensor.T, at, step int, flip uint32)
	flip               uint32 // all ones: the largest come first
	values, positions  int    // the results; Absent: it has none
}

func (s *sorting) Parts(want int) int { return max(1, min(want, s.outer*s.inner)) }

func (s *sorting) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	if s.k == 0 {
		return nil
	}
	lines := int64(s.outer * s.inner)
	words, spare := s.words(x, s.n), s.words(x, s.n)
	for line := int(lines * int64(part) / int64(parts)); line < int(lines*int64(part+1)/int64(parts)); line++ {
		o, i := line/s.inner, line%s.inner
		s.key(words, in[0], o*s.n*s.inner+i, s.inner, s.flip)
		first := s.first(words, spare)
		s.store(out, in[0], first, o*s.n*s.inner+i, o*s.k*s.inner+i)
		if err := x.Stop(); err != nil {
			return err
		}
	}
	return nil
}

func (s *sorting) words(x *Exec, n int) []uint64 {
	b := x.Bytes(8 * n)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// store writes one line of the results.
func (s *sorting) store(out []*tensor.T, x *tensor.T, words []uint64, from, to int) {
	if s.values != Absent {
		for j, w := range words {
			words[j] = w & math.MaxUint32 // the key is not needed any more
		}
		d, f := out[s.values].Data[to*s.size:], x.Data[from*s.size:]
		places := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
		move.Pick(d, f, s.size, s.inner, places)
	}
	if s.positions != Absent && s.positions < len(out) {
		p := tensor.Of[int64](out[s.positions])
		for j, w := range words {
			p[to+j*s.inner] = int64(uint32(w))
		}
	}
}

// first brings the smallest k words to the front, in order.
func (s *sorting) first(words, spare []uint64) []uint64 {
	switch {
	case s.k*selectShare <= s.n:
		return smallest(words, spare[:s.k])
	case s.n >= radixFrom:
		return radixSort(words, spare)[:s.k]
	}
	slices.Sort(words)
	return words[:s.k]
}

const (
	// selectShare is how small a share is wanted for it to be found without sorting
	// all.
	selectShare = 8
	// radixFrom is from how many words on sorting them by their digits is faster than
	// by comparing.
	radixFrom = 256
)

// smallest finds the smallest words, as many as keep has room for: a heap holds
// those that are smallest so far, the largest of them on top.
func smallest(words, keep []uint64) []uint64 {
	copy(keep, words)
	for i := len(keep)/2 - 1; i >= 0; i-- {
		sink(keep, i)
	}
	for _, w := range words[len(keep):] {
		if w < keep[0] {
			keep[0] = w
			sink(keep, 0)
		}
	}
	slices.Sort(keep)
	return keep
}

// sink restores a heap whose word i may be smaller than those below it.
func sink(heap []uint64, i int) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && heap[c+1] > heap[c] {
			c++
		}
		if heap[i] >= heap[c] {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}

// radixBits is how large a digit is: a count for each of its values fits the
// first-level cache.
const radixBits = 11

// radixSort sorts words by the digits of their upper half, the last digit first, to
// and fro between two lists; positions are in order already. It returns the list
// that has the words in the end.
func radixSort(words, spare []uint64) []uint64 {
	var counts [3][1 << radixBits]uint32
	for _, w := range words {
		counts[0][w>>32&(1<<radixBits-1)]++
		counts[1][w>>(32+radixBits)&(1<<radixBits-1)]++
		counts[2][w>>(32+2*radixBits)]++
	}
	for d := range counts {
		shift := 32 + d*radixBits
		if counts[d][words[0]>>shift&(1<<radixBits-1)] == uint32(len(words)) {
			continue // all words have the same digit
		}
		scatterDigits(spare, words, &counts[d], shift)
		words, spare = spare, words
	}
	return words
}

func scatterDigits(to, from []uint64, count *[1 << radixBits]uint32, shift int) {
	sum := uint32(0)
	for i, n := range count {
		count[i], sum = sum, sum+n
	}
	for _, w := range from {
		digit := w >> shift & (1<<radixBits - 1)
		to[count[digit]] = w
		count[digit]++
	}
}

// keyers make words of a line, which begins at an element and goes in steps.
var keyers = map[tensor.DType]func(to []uint64, x *tensor.T, at, step int, flip uint32){
	tensor.F32:  floatKeys,
	tensor.F16:  keysOf(func(v tensor.Float16) uint32 { return floatKey(v.Float32()) }),
	tensor.BF16: keysOf(func(v tensor.BFloat16) uint32 { return floatKey(v.Float32()) }),
	tensor.I32:  keysOf(signedKey[int32]),
	tensor.I16:  keysOf(signedKey[int16]),
	tensor.I8:   keysOf(signedKey[int8]),
	tensor.U32:  keysOf(func(v uint32) uint32 { return v }),
	tensor.U16:  keysOf(func(v uint16) uint32 { return uint32(v) }),
	tensor.U8:   keysOf(func(v uint8) uint32 { return uint32(v) }),
	tensor.Bool: keysOf(func(v uint8) uint32 { return uint32(cmp.Compare(v, 0)) }),
}

func signedKey[E int8 | int16 | int32](v E) uint32 { return uint32(int32(v)) ^ 1<<31 }

// floatKey orders floats as comparing does: -0 is 0, NaN the largest.
func floatKey(v float32) uint32 {
	b := math.Float32bits(v)
	switch {
	case v != v:
		return math.MaxUint32
	case b == 1<<31:
		b = 0
	}
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

// floatKeys is keysOf floatKey, without a call for each element.
func floatKeys(to []uint64, x *tensor.T, at, step int, flip uint32) {
	all := tensor.Of[float32](x)
	for i := range to {
		to[i] = uint64(floatKey(all[at])^flip)<<32 | uint64(i)
		at += step
	}
}

func keysOf[E tensor.Native](key func(E) uint32) func([]uint64, *tensor.T, int, int, uint32) {
	return func(to []uint64, x *tensor.T, at, step int, flip uint32) {
		all := tensor.Of[E](x)
		for i := range to {
			to[i] = uint64(key(all[at])^flip)<<32 | uint64(i)
			at += step
		}
	}
}
