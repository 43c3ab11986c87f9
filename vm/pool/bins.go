package pool

import (
	"math"
	"math/bits"
)

// Bins hold the free spans by size. Sizes of up to 16 grains have a bin each;
// above, each power of two is parted into eight bins, so that the spans of one
// differ by an eighth at most. A bit for each bin that is not empty finds the
// next larger one in a few instructions (the two-level segregated fit of
// Masmano, Ripoll, Crespo and Real, ECRTS 2004, in one table).
type bins struct {
	first [numBins]*span
	full  [(numBins + 63) / 64]uint64
}

const (
	fine    = 3         // log2 of the bins of a power of two
	exactly = 2 << fine // sizes below have a bin each
	powers  = 40 + 1    // maxBlock of the smallest grains, and what rounding adds
	numBins = (powers + 1) << fine
)

// binOf is the bin of spans of n grains.
func binOf(n int64) int {
	if n < exactly {
		return int(n)
	}
	shift := bits.Len64(uint64(n)) - 1 - fine
	return min(shift<<fine+int(n>>shift), numBins-1)
}

func (b *bins) add(s *span, grain int64) {
	i := binOf(s.size / grain)
	s.before, s.after = nil, b.first[i]
	if s.after != nil {
		s.after.before = s
	}
	b.first[i] = s
	b.full[i/64] |= 1 << (i % 64)
}

func (b *bins) remove(s *span, grain int64) {
	i := binOf(s.size / grain)
	if s.before != nil {
		s.before.after = s.after
	} else if b.first[i] = s.after; s.after == nil {
		b.full[i/64] &^= 1 << (i % 64)
	}
	if s.after != nil {
		s.after.before = s.before
	}
	s.before, s.after = nil, nil
}

// best finds the smallest span of at least want bytes among the first few of the
// bin of its size, else of the next bin that is not empty.
func (b *bins) best(want, grain int64) *span {
	i := binOf(want / grain)
	if s := smallest(b.first[i], want, few); s != nil {
		return s
	}
	if i = b.next(i + 1); i < 0 {
		return nil
	}
	return smallest(b.first[i], want, few)
}

// few is how many spans of a bin are looked at: all of them would make a hundred
// thousand free blocks of about one size slow, and save an eighth at most.
const few = 32

func smallest(s *span, want int64, most int) *span {
	var best *span
	for ; s != nil && most > 0; s, most = s.after, most-1 {
		if s.size == want {
			return s
		}
		if s.size > want && (best == nil || s.size < best.size) {
			best = s
		}
	}
	return best
}

// any is best for the case that there is no other memory: it looks at all of the
// bin of the size.
func (b *bins) any(want, grain int64) *span {
	return smallest(b.first[binOf(want/grain)], want, math.MaxInt)
}

// exact finds a span of just that size.
func (b *bins) exact(want, grain int64) *span {
	if s := smallest(b.first[binOf(want/grain)], want, few); s != nil && s.size == want {
		return s
	}
	return nil
}

// next is the first bin from i on that is not empty, or -1.
func (b *bins) next(i int) int {
	for word := i / 64; word < len(b.full); word++ {
		full := b.full[word]
		if word == i/64 {
			full &= ^uint64(0) << (i % 64)
		}
		if full != 0 {
			return word*64 + bits.TrailingZeros64(full)
		}
	}
	return -1
}

// largest is the size of the largest free span.
func (b *bins) largest() int64 {
	for word := len(b.full) - 1; word >= 0; word-- {
		if b.full[word] == 0 {
			continue
		}
		most := int64(0)
		for s := b.first[word*64+63-bits.LeadingZeros64(b.full[word])]; s != nil; s = s.after {
			most = max(most, s.size)
		}
		return most
	}
	return 0
}
