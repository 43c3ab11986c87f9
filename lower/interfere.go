package lower

import (
	"slices"

	"github.com/npulang/npu/lower/place"
)

// On several streams, two slots may share memory if all tasks that use the one
// are done, by the order of streams and events, before any task that writes the
// other begins. That is asked of the clocks: for a slot, how far its users are on
// each stream; and what the tasks that write another's first buffer know of that.

// A reach is how far on one stream the users of a slot are: the place of the last.
type reach struct {
	stream int
	place  int32
}

// maxPairs bounds the pairs of slots that are looked at one by one. With more, a
// slot lives, for the placer, until every stream knows that its users are done;
// then its life is a range of the program order again, at most too long.
const maxPairs = 1 << 20

// interfere puts into the problem which slots must not share memory: as pairs, or
// of large plans as longer lives. Of these it returns, by slot, the stream that
// alone uses it, or -1; of others nil.
func (p *Plan) interfere(problem *place.Problem, slots []slot, u *users) (homes []int) {
	c := p.clocks()
	reaches := make([][]reach, len(slots))
	until := make([]int, len(slots)) // the last task that may not know that the users are done
	for i := range slots {
		reaches[i] = c.reach(&slots[i], u)
		until[i] = len(p.Tasks)
		if !slots[i].kept && slots[i].last < len(p.Tasks) {
			until[i] = c.unknown(reaches[i])
		}
	}
	order := byFirst(slots)
	if pairs(slots, order, until) <= maxPairs {
		problem.Conflicts = p.conflicts(slots, order, until, reaches, c, u)
		return nil
	}
	homes = make([]int, len(slots))
	for i := range slots {
		problem.Buffers[i].Upper = max(problem.Buffers[i].Upper, int64(until[i])+1)
		homes[i] = -1
		if len(reaches[i]) == 1 {
			homes[i] = reaches[i][0].stream
		}
	}
	return homes
}

// placeStreams places the slots of a plan with several streams. In a large one,
// streams that do not wait for each other would take memory without end by the
// longer lives; then it is better that each has a part of the arena for itself.
func (p *Plan) placeStreams(slots []slot, problem *place.Problem, opts *Options, u *users) {
	homes := p.interfere(problem, slots, u)
	if homes == nil {
		p.solve(slots, problem, opts, true)
		return
	}
	p.solve(slots, problem, opts, false)
	effort := opts.effort(len(p.Streams))
	if offsets, height := p.apart(slots, problem, homes, effort); height < p.Arena {
		p.Arena, p.Method = height, "by-stream"
		p.setOffsets(slots, offsets)
	}
}

// apart places what one stream alone uses in a part of the arena that is the
// stream's, where the order of its tasks says when a place is free, and behind
// these parts what several streams use.
func (p *Plan) apart(slots []slot, problem *place.Problem, homes []int, effort place.Effort) (offsets []int64, height int64) {
	members := make([][]int, len(p.Streams)+1)
	for i, home := range homes {
		if home < 0 {
			home = len(p.Streams)
		}
		members[home] = append(members[home], i)
	}
	offsets = make([]int64, len(slots))
	for stream, list := range members {
		part := &place.Problem{Align: problem.Align}
		for _, i := range list {
			b := problem.Buffers[i]
			if stream < len(p.Streams) {
				b = slots[i].life(p)
			}
			part.Buffers = append(part.Buffers, b)
		}
		plan := place.Solve(part, effort)
		for k, i := range list {
			offsets[i] = height + plan.Offsets[k]
		}
		height += plan.Height
	}
	return offsets, height
}

// byFirst orders the slots by their first task.
func byFirst(slots []slot) []int {
	order := make([]int, len(slots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slots[a].begin() - slots[b].begin() })
	return order
}

// begin is the first task at which nothing else may lie in the slot's place.
func (s *slot) begin() int {
	if s.kept {
		return -1
	}
	return s.first
}

// pairs counts the pairs that may have to be kept apart, up to a bit more than
// maxPairs.
func pairs(slots []slot, order, until []int) (n int) {
	ends := slices.Clone(until)
	slices.Sort(ends)
	gone := 0
	for k, i := range order {
		for gone < len(ends) && ends[gone] < slots[i].begin() {
			gone++
		}
		if n += k - gone; n > maxPairs {
			break
		}
	}
	return n
}

// conflicts lists the pairs that must be kept apart. A slot that begins later in
// program order can't be done before the other, so that one direction is asked.
func (p *Plan) conflicts(slots []slot, order, until []int, reaches [][]reach, c *clocks, u *users) [][]int32 {
	list := make([][]int32, len(slots))
	var live []int
	for _, i := range order {
		knows := p.knownAtStart(&slots[i], c, u)
		live = slices.DeleteFunc(live, func(j int) bool { return until[j] < slots[i].begin() })
		for _, j := range live {
			if slots[j].kept || slots[i].kept || slots[j].last >= len(p.Tasks) || !covers(knows, reaches[j]) {
				list[i] = append(list[i], int32(j))
				list[j] = append(list[j], int32(i))
			}
		}
		live = append(live, i)
	}
	for i := range list {
		slices.Sort(list[i])
	}
	return list
}

// knownAtStart is how many tasks of each stream are done whenever one of those
// begins that write the slot first; nil: nothing is known.
func (p *Plan) knownAtStart(s *slot, c *clocks, u *users) []int32 {
	first := p.writers(s.buffers[0], u)
	if len(first) == 0 {
		return nil
	}
	knows := c.at(int(first[0]))
	if len(first) == 1 {
		return knows
	}
	knows = slices.Clone(knows)
	for _, t := range first[1:] {
		for k, n := range c.at(int(t)) {
			knows[k] = min(knows[k], n)
		}
	}
	return knows
}

// covers reports whether all that a slot's users do is known to be done.
func covers(knows []int32, users []reach) bool {
	if knows == nil {
		return false
	}
	for _, r := range users {
		if knows[r.stream] <= r.place {
			return false
		}
	}
	return true
}

// at is the clock when a task begins.
func (c *clocks) at(task int) []int32 { return c.known[task*c.streams : (task+1)*c.streams] }

// reach is how far on each stream the users of a slot are.
func (c *clocks) reach(s *slot, u *users) (list []reach) {
	for _, b := range s.buffers {
		for _, t := range u.of(b) {
			list = reached(list, c.p.Tasks[t].Stream, c.place[t])
		}
	}
	return list
}

func reached(list []reach, stream int, place int32) []reach {
	for i := range list {
		if list[i].stream == stream {
			list[i].place = max(list[i].place, place)
			return list
		}
	}
	return append(list, reach{stream, place})
}

// unknown is the last task, in program order, that may begin before all users
// are done. What a stream knows only grows along the stream.
func (c *clocks) unknown(users []reach) int {
	last := -1
	for i := range c.p.Streams {
		tasks := c.p.Streams[i].Tasks
		lo, hi := 0, len(tasks)
		for lo < hi {
			if mid := (lo + hi) / 2; covers(c.at(tasks[mid]), users) {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		if lo > 0 {
			last = max(last, tasks[lo-1])
		}
	}
	return last
}
