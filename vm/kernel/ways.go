package kernel

import (
	"fmt"

	"github.com/npulang/npu/vm/kernel/attn"
	"github.com/npulang/npu/vm/kernel/isa"
)

// Sizes are the ways of a row that differ in one number, such as how many rows are
// computed at a time. The first is 0: the number that the row works out of the shapes.
type sizes []int

// names are those of the ways: "usual", "rows=48".
func (s sizes) names(what string) []string {
	names := []string{"usual"}
	for _, n := range s[1:] {
		names = append(names, fmt.Sprintf("%s=%d", what, n))
	}
	return names
}

// wanted is the way that is asked for, and its number.
func (s sizes) wanted(o *Options) (way, n int) {
	way = max(0, o.way-1)
	return way, s[way]
}

// works estimates every way by what its number comes to for a body; a number that comes
// to what that of another way does is its double.
func (s sizes) works(own int, comesTo func(n int) int, work func(n int) int64) []int64 {
	works := make([]int64, len(s))
	seen := map[int]bool{comesTo(s[own]): true}
	works[own] = work(comesTo(s[own]))
	for i, n := range s {
		if at := comesTo(n); !seen[at] {
			seen[at] = true
			works[i] = work(at)
		}
	}
	return works
}

// againCost is the nanoseconds that it takes to read bytes that lie in a larger cache
// times more than once, beside what is computed meanwhile.
func againCost(bytes, times int) int64 {
	return int64(min(float64(bytes)*float64(max(0, times-1))/againB, MaxWork))
}

// attentionSizes are how many queries of a head are computed at a time: few of them
// read the keys and values often, and the scores of many leave the second cache.
var attentionSizes = sizes{0, 24, 48, 96, 144, 192}

func (t *attentionTask) way() int { return t.own }

func (t *attentionTask) works(*Options) []int64 {
	s := &t.shape
	queries := func(n int) int { return attn.New(t.level, *s, 1, t.causal).InBlocks(n).Queries() }
	usual := againCost(4*s.T*(s.D+s.E), ceil(s.S, max(1, queries(0))))
	return attentionSizes.works(t.own, queries, func(n int) int64 {
		more := againCost(4*s.T*(s.D+s.E), ceil(s.S, max(1, n))) - usual
		return max(1, t.work+more*int64(s.Batch*s.Heads))
	})
}

// scoresSizes are how many rows of scores are computed at a time.
var scoresSizes = sizes{0, 24, 48, 96, 192, 384}

func (t *scoresTask) way() int { return t.own }

func (t *scoresTask) works(*Options) []int64 {
	p, q := t.scores, t.mix
	bytes, usual := 4*p.n*(p.k+q.n), t.rowsOf(0)
	return scoresSizes.works(t.own, t.rowsOf, func(n int) int64 {
		more := againCost(bytes, ceil(p.m, n)) - againCost(bytes, ceil(p.m, usual))
		return max(1, t.work+more*int64(p.batches()))
	})
}

// gatedSizes are how many rows of two products are put aside at a time.
var gatedSizes = sizes{gatedRows, 48, 96, 144, 240, 480}

func (t *gatedTask) way() int { return t.own }

func (t *gatedTask) works(o *Options) []int64 {
	p := t.last
	bytes := 8 * p.k * p.n
	return gatedSizes.works(t.own, func(n int) int { return min(n, p.m) }, func(n int) int64 {
		more := againCost(bytes, ceil(p.m, n)) - againCost(bytes, ceil(p.m, gatedRows))
		return max(1, t.first.work(o.Level)+p.work(o.Level)+more*int64(p.batches()))
	})
}

// rowsSizes are how many floats of rows are computed at a time, between what stands
// before a norm or a reduction and what stands behind it.
var rowsSizes = sizes{0, 4 << 10, 8 << 10, 32 << 10, 64 << 10}

func (t *rowsTask) way() int { return t.own }

func (t *rowsTask) works(*Options) []int64 {
	return rowsSizes.works(t.own, func(n int) int { return rowsAt(t.n, n) }, func(int) int64 { return t.work })
}

// stripWays say whether results are written around the caches.
var stripWays = []string{"usual", "stores=cached", "stores=streamed"}

func (t *stripTask) way() int { return t.own }

// works: what is larger than the caches is read before it is written where it is not
// written around them.
func (t *stripTask) works(o *Options) []int64 {
	works := make([]int64, len(stripWays))
	works[t.own] = t.sheet.work(o.Level)
	if t.sheet.replaces || t.sheet.bytes < isa.StreamFrom()/8 || o.Level == isa.Portable {
		return works
	}
	for way := range stripWays {
		if way != t.own && t.streams(way) != t.sheet.stream {
			works[way] = works[t.own]
			break
		}
	}
	return works
}

// streams reports whether a way writes results around the caches.
func (t *stripTask) streams(way int) bool {
	if way == 0 {
		return t.sheet.bytes >= isa.StreamFrom()
	}
	return way == 2
}
