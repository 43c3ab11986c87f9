package lower

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// To reorder a plan is to put its tasks in another order that their results allow,
// in which less memory lives at once. Which order is best can't be found in
// reasonable time; of some that are good for different graphs the best is taken.

// orders is the table of ways to order tasks; of equals the first wins.
var orders = []func(*reorderer) []int{
	(*reorderer).asWritten,
	(*reorderer).leanFirst,
	(*reorderer).deepFirst,
}

// A reorderer knows what each task needs and uses.
type reorderer struct {
	p      *Plan
	uses   [][]int // by task: the arena buffers that it touches, each once
	users  [][]int // by buffer: the tasks
	before [][]int // by task: the tasks whose results it reads
	next   [][]int // by task: the tasks that read its results
	size   []int64 // by buffer
}

// reorder changes the order of the tasks where that lowers the peak.
func (p *Plan) reorder() {
	if len(p.Tasks) < 3 {
		return
	}
	r := newReorderer(p)
	var best []int
	least := int64(-1)
	for _, order := range orders {
		tasks := order(r)
		if peak := r.peak(tasks); least < 0 || peak < least {
			best, least = tasks, peak
		}
	}
	if !slices.IsSorted(best) {
		p.permute(best)
	}
}

func newReorderer(p *Plan) *reorderer {
	n := len(p.Tasks)
	r := &reorderer{
		p: p, uses: make([][]int, n), users: make([][]int, len(p.Buffers)),
		before: make([][]int, n), next: make([][]int, n), size: make([]int64, len(p.Buffers)),
	}
	last := make([]int, len(p.Buffers)) // by buffer: the task that has used it last, plus one
	p.eachUse(func(b, t int) {
		if p.Buffers[b].Space != Arena || p.Buffers[b].Local || last[b] == t+1 {
			return
		}
		last[b] = t + 1
		r.size[b] = roundUp(p.Buffers[b].Size, p.Align)
		r.uses[t] = append(r.uses[t], b)
		r.users[b] = append(r.users[b], t)
	})
	for t := range p.Tasks {
		r.before[t] = p.Tasks[t].After
		for _, d := range p.Tasks[t].After {
			r.next[d] = append(r.next[d], t)
		}
	}
	return r
}

func (r *reorderer) asWritten() []int {
	order := make([]int, len(r.uses))
	for i := range order {
		order[i] = i
	}
	return order
}

// peak is the largest sum that lives at once in an order.
func (r *reorderer) peak(order []int) (most int64) {
	l := newLiving(r)
	for _, t := range order {
		most = max(most, l.run(t))
	}
	return most
}

// living follows an order: what lives, and who is still to come.
type living struct {
	r       *reorderer
	left    []int  // by buffer: users that have not run
	started []bool // by buffer
	done    []bool // by task
	sum     int64
}

func newLiving(r *reorderer) *living {
	l := &living{r: r, left: make([]int, len(r.users)), started: make([]bool, len(r.users)), done: make([]bool, len(r.uses))}
	for b, users := range r.users {
		l.left[b] = len(users)
		if r.p.Buffers[b].Last == forever {
			l.left[b]++
		}
		if buf := &r.p.Buffers[b]; len(users) > 0 && buf.First < 0 {
			l.started[b], l.sum = true, l.sum+r.size[b]
		}
	}
	return l
}

// change is by how many bytes the sum grows when a task is done.
func (l *living) change(t int) (bytes int64) {
	for _, b := range l.r.uses[t] {
		if !l.started[b] {
			bytes += l.r.size[b]
		}
		if l.left[b] == 1 {
			bytes -= l.r.size[b]
		}
	}
	return bytes
}

// run runs a task and returns what lives while it does.
func (l *living) run(t int) (during int64) {
	l.done[t] = true
	for _, b := range l.r.uses[t] {
		if !l.started[b] {
			l.started[b], l.sum = true, l.sum+l.r.size[b]
		}
	}
	during = l.sum
	for _, b := range l.r.uses[t] {
		if l.left[b]--; l.left[b] == 0 {
			l.sum -= l.r.size[b]
		}
	}
	return during
}

// A choice is a task that can run next.
type choice struct {
	task  int
	bytes int64 // that the sum grows by
}

type choices []choice

func (c choices) Len() int      { return len(c) }
func (c choices) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c choices) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(c[i].bytes, c[j].bytes), cmp.Compare(c[i].task, c[j].task)) < 0
}
func (c *choices) Push(x any) { *c = append(*c, x.(choice)) }
func (c *choices) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// leanFirst always runs the task that frees most, or makes least. A choice whose
// bytes have changed meanwhile has been put in again, and is passed over.
func (r *reorderer) leanFirst() (order []int) {
	l, c := newLiving(r), &choices{}
	missing := make([]int, len(r.uses))
	for t := range missing {
		if missing[t] = len(r.before[t]); missing[t] == 0 {
			heap.Push(c, choice{t, l.change(t)})
		}
	}
	for c.Len() > 0 {
		pick := heap.Pop(c).(choice)
		if l.done[pick.task] || pick.bytes != l.change(pick.task) {
			continue
		}
		order = append(order, pick.task)
		changed := l.changedBy(pick.task)
		l.run(pick.task)
		for _, t := range r.next[pick.task] {
			if missing[t]--; missing[t] == 0 {
				heap.Push(c, choice{t, l.change(t)})
			}
		}
		for _, t := range changed {
			if missing[t] == 0 && !l.done[t] {
				heap.Push(c, choice{t, l.change(t)})
			}
		}
	}
	return order
}

// changedBy lists the tasks whose change will be another when a task has run:
// that write to what it begins, and that alone are left of a buffer's users.
func (l *living) changedBy(t int) (list []int) {
	for _, b := range l.r.uses[t] {
		if !l.started[b] || l.left[b] == 2 {
			list = append(list, l.r.users[b]...)
		}
	}
	return list
}

// deepFirst runs before each task what it needs, the argument first whose making
// takes most beside what is left of it: for trees that is the best order (Sethi
// and Ullman 1970).
func (r *reorderer) deepFirst() (order []int) {
	needs := r.needs()
	done := make([]bool, len(r.uses))
	type visit struct {
		task int
		args []int
	}
	var stack []visit
	push := func(t int) {
		args := slices.Clone(r.before[t])
		slices.SortStableFunc(args, func(a, b int) int { return cmp.Compare(needs[a], needs[b]) })
		stack = append(stack, visit{t, args})
	}
	for t := range r.uses {
		if done[t] || len(r.next[t]) > 0 {
			continue
		}
		for push(t); len(stack) > 0; {
			top := &stack[len(stack)-1]
			n := len(top.args)
			if n == 0 {
				if t := top.task; !done[t] {
					done[t] = true
					order = append(order, t)
				}
				stack = stack[:len(stack)-1]
				continue
			}
			a := top.args[n-1]
			top.args = top.args[:n-1]
			if !done[a] {
				push(a)
			}
		}
	}
	return order
}

// needs estimates, for each task, the bytes that making its results takes beyond
// the results themselves, as if the graph were a tree.
func (r *reorderer) needs() []int64 {
	peak, own := make([]int64, len(r.uses)), make([]int64, len(r.uses))
	for t := range r.uses {
		for _, b := range r.uses[t] {
			if r.p.Buffers[b].First == t {
				own[t] += r.size[b]
			}
		}
		args := slices.Clone(r.before[t])
		slices.SortStableFunc(args, func(a, b int) int { return cmp.Compare(peak[b]-own[b], peak[a]-own[a]) })
		held := int64(0)
		for _, a := range args {
			peak[t] = max(peak[t], held+peak[a])
			held += own[a]
		}
		peak[t] = max(peak[t], held+own[t])
	}
	for t := range peak {
		peak[t] -= own[t]
	}
	return peak
}

// permute puts the tasks in an order, and what refers to them with them.
func (p *Plan) permute(order []int) {
	tasks, at := make([]Task, len(order)), make([]int, len(order))
	for i, t := range order {
		tasks[i], at[t] = p.Tasks[t], i
	}
	for i := range tasks {
		for k, d := range tasks[i].After {
			tasks[i].After[k] = at[d]
		}
		slices.Sort(tasks[i].After)
		if r := tasks[i].Region; r != nil && r.Frame >= 0 {
			p.Buffers[r.Frame].Name = frameName(i)
		}
	}
	if p.order != nil { // they were in another order already
		for i, t := range order {
			at[i] = p.order[t]
		}
		order = at
	}
	p.Tasks, p.order = tasks, order
	p.relive()
}

// relive finds the first and last users of all buffers again.
func (p *Plan) relive() {
	seen := make([]bool, len(p.Buffers))
	p.eachUse(func(r, t int) {
		b := &p.Buffers[r]
		if !seen[r] {
			seen[r] = true
			if b.First >= 0 {
				b.First = t
			}
			if b.Last != forever {
				b.Last = t
			}
		}
		if b.Last != forever {
			b.Last = max(b.Last, t)
		}
	})
}

func frameName(task int) string { return fmt.Sprintf("frame(t%d)", task) }
