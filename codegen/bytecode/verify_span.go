package bytecode

import (
	"cmp"
	"slices"
	"sort"
)

// A span is the addresses [lo, hi).
type span struct{ lo, hi int64 }

// spans are memory that a body declares, by lo ascending; hi is the highest end of
// a span and all before it, so that one look finds whether any holds a range.
type spans []span

func (v *verifier) spans(lists ...[]int) spans {
	var s spans
	for _, list := range lists {
		for _, b := range list {
			lo, hi := v.span(b)
			s = append(s, span{lo, hi})
		}
	}
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	for i := 1; i < len(s); i++ {
		s[i].hi = max(s[i].hi, s[i-1].hi)
	}
	return s
}

// hold reports whether one of the spans has all of [lo, hi). No bytes are
// everywhere.
func (s spans) hold(lo, hi int64) bool {
	n := sort.Search(len(s), func(i int) bool { return s[i].lo > lo })
	return lo >= hi || n > 0 && s[n-1].hi >= hi
}
