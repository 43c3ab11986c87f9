package place

import (
	"cmp"
	"slices"
)

// A ranking decides which of several buffers at one offset is placed first, and
// so which plans the search sees first. It is made anew when a part is split off,
// with what is live in the part alone.
type ranking struct {
	keys   []measure
	static [measures][]float64 // by buffer, perhaps blurred
	plain  [measures][]float64
	list   []int32
	room   []int64 // by section, of the part at hand
	random xorshift
}

// A measure is what a buffer is ranked by: the larger comes first.
type measure uint8

const (
	breadth measure = iota // how much is live at the fullest time of its life
	length
	width // in sections
	area
	measures
)

// rankings are the orders that the search goes by in turn. Which one leads to a
// plan soon differs much between problems.
var rankings = [][]measure{
	{breadth, length, area},
	{breadth, width, area},
	{breadth, area},
	{width, area, breadth},
	{length, area},
	{area, length},
}

func newRanking(j *job) ranking {
	r := ranking{room: make([]int64, len(j.load)), random: 1}
	for m := range r.plain {
		r.plain[m] = make([]float64, len(j.of))
	}
	for k := range j.of {
		l := float64(j.length[k])
		r.plain[length][k] = l
		r.plain[width][k] = float64(j.hi[k] - j.lo[k])
		r.plain[area][k] = l * float64(j.size[k])
	}
	r.static = r.plain
	return r
}

// blurs say how far the measures of a buffer may be changed in the rounds of a
// search, one after the other: by the ratio of two random numbers from n up to
// n+1023. 0: they are what they are.
var blurs = []uint64{0, 4096, 1024}

// use chooses a ranking, for a round of the search.
func (r *ranking) use(keys []measure, round int) {
	blur := blurs[round%len(blurs)]
	r.keys = keys
	for m := range r.static {
		r.static[m] = r.plain[m]
		if blur > 0 && measure(m) != breadth {
			r.static[m] = slices.Clone(r.plain[m])
		}
	}
	if blur == 0 {
		return
	}
	for k := range r.plain[length] {
		factor := float64(blur+r.random.next()%1024) / float64(blur+r.random.next()%1024)
		for m := length; m < measures; m++ {
			r.static[m][k] *= factor
		}
	}
}

// rerank gives the members of a part their ranks.
func (s *search) rerank(p *part) {
	s.list = append(s.list[:0], s.members[p.from:p.to]...)
	list := s.list
	s.measureBreadth(list)
	slices.SortFunc(list, func(a, b int32) int {
		for _, m := range s.keys {
			if x, y := s.static[m][a], s.static[m][b]; x != y {
				return cmp.Compare(y, x)
			}
		}
		return cmp.Compare(a, b)
	})
	for i, b := range list {
		s.boxes[b].rank = int32(i)
	}
	p.last = none
}

// measureBreadth sums what of the list is live in each section.
func (s *search) measureBreadth(list []int32) {
	j := s.job
	for _, b := range list {
		clear(s.room[j.lo[b]:j.hi[b]])
	}
	for _, b := range list {
		room := s.room[j.lo[b]:j.hi[b]]
		for i := range room {
			room[i] += j.size[b]
		}
	}
	for _, b := range list {
		most := int64(0)
		for _, r := range s.room[j.lo[b]:j.hi[b]] {
			most = max(most, r)
		}
		s.static[breadth][b] = float64(most)
	}
}
