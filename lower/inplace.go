package lower

import (
	"slices"

	"github.com/npulang/npu/ir"
)

// A result takes the memory of an argument where the operator can compute it
// there, and where the task is the last that looks at the argument, whatever the
// streams' speed. The argument of a task may itself have taken the memory of
// another: then all of them lie in one slot.

// reuseArguments decides which results do. It goes backwards: where a result lies
// outside of the arena, what it takes the memory of lies there too, and so on.
func (p *Plan) reuseArguments(u *users) {
	var c *clocks
	if len(p.Streams) > 1 {
		c = p.clocks()
	}
	for t := len(p.Tasks) - 1; t >= 0; t-- {
		for i, out := range p.Tasks[t].Out {
			if a := p.argumentFor(t, i, u, c); a >= 0 {
				p.take(out, a)
			}
		}
	}
}

// take gives buffer b the memory of buffer a, or a that of b where b is a result
// of the function.
func (p *Plan) take(b, a int) {
	from := &p.Buffers[a]
	p.Buffers[b].Takes, from.Given = a, true
	if p.Buffers[b].Space == Output {
		from.Space, from.Slot = Output, p.Buffers[b].Slot
	}
}

// argumentFor finds a buffer whose memory result i of a task can take; -1: none.
func (p *Plan) argumentFor(task, i int, u *users, c *clocks) int {
	t := &p.Tasks[task]
	out := &p.Buffers[t.Out[i]]
	if t.Call == nil || out.Base >= 0 || out.Space != Arena && out.Space != Output || out.Size == 0 || out.Kept {
		return -1
	}
	for k, in := range t.In {
		if in < 0 || !t.canReplace(k, i) {
			continue
		}
		r := p.Root(in)
		a := &p.Buffers[r]
		if a.Space == Arena && !a.Given && !a.Kept && a.First >= 0 && a.Size == out.Size && p.isWhole(in) &&
			p.readOnce(t, r) && p.isLast(task, r, u, c) && p.mayLieThere(r, out, u) {
			return r
		}
	}
	return -1
}

// readOnce reports whether only one argument lies in a buffer.
func (p *Plan) readOnce(t *Task, root int) bool {
	n := 0
	for _, in := range t.In {
		if in >= 0 && p.Root(in) == root {
			n++
		}
	}
	return n == 1
}

// isLast reports whether all other users of a buffer are done when a task begins.
func (p *Plan) isLast(task, root int, u *users, c *clocks) bool {
	if p.Buffers[root].Last != task {
		return false
	}
	for _, t := range u.of(root) {
		if int(t) != task && c != nil && !c.before(int(t), task) {
			return false
		}
	}
	return true
}

// canReplace reports whether result i of a task may be made where argument k
// lies.
func (t *Task) canReplace(k, i int) bool {
	if t.Region == nil {
		return i == 0 && t.Call.InPlace(k)
	}
	if t.Region.Kind == Loop {
		return k == i && i < t.Region.Carry // the initial value of what it carries
	}
	first, ok := regionArgs[t.Region.Kind]
	if !ok || k < first {
		return false
	}
	for _, body := range t.Region.Bodies {
		if !body.canReplace(k-first, i) {
			return false
		}
	}
	return t.Region.Kind != Fused || i == 0 && t.Region.Bodies[0].byElements(k-first)
}

// byElements reports whether all who read parameter k could compute in its place. A
// kernel that runs a whole region writes elements of the result when others are
// still to be computed: what a product or a convolution reads must stay, and where
// there are sums over rows, everything.
func (p *Plan) byElements(k int) bool {
	in := p.Inputs[k].Buffer
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if t.Call != nil && t.Call.Op.Class != ir.Elementwise && t.Call.Op.Class != ir.Contract {
			return false
		}
		for j, r := range t.In {
			if r >= 0 && p.Root(r) == in && (t.Call == nil || !p.isWhole(r) || !t.Call.InPlace(j)) {
				return false
			}
		}
	}
	return true
}

// regionArgs says for the regions whose bodies run once which argument is the
// first that the bodies see. A loop reads its other arguments again in each round.
var regionArgs = map[RegionKind]int{Fused: 0, If: 1}

// canReplace reports whether a body may make result i where parameter k lies: all
// who read the parameter come before the first task that writes there, or that
// task can compute in place.
func (p *Plan) canReplace(k, i int) bool {
	in, out := p.Inputs[k].Buffer, p.Outputs[i].Buffer
	if p.Buffers[in].Size != p.Buffers[out].Size || p.Buffers[out].Space != Output {
		return false
	}
	first := p.firstWrite(p.Buffers[out].Slot)
	for t := len(p.Tasks) - 1; t >= first; t-- {
		reads := 0
		for _, r := range p.Tasks[t].In {
			if r >= 0 && p.Root(r) == in {
				reads++
			}
		}
		if reads > 0 && (t > first || reads > 1 || !p.replaces(t, in, p.Buffers[out].Slot)) {
			return false
		}
	}
	return true
}

// firstWrite is the first task of a body that writes to a result's memory.
func (p *Plan) firstWrite(result int) int {
	first := len(p.Tasks)
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Space == Output && b.Slot == result && b.Base < 0 {
			first = min(first, b.First)
		}
	}
	return first
}

// replaces reports whether a task can write what lies in a result's memory where it
// reads all of a parameter.
func (p *Plan) replaces(task, in, result int) bool {
	t := &p.Tasks[task]
	i := slices.IndexFunc(t.Out, func(out int) bool {
		b := &p.Buffers[out]
		return b.Space == Output && b.Slot == result && b.Base < 0
	})
	return i >= 0 && p.canReplaceParameter(t, in, i)
}

// canReplaceParameter reports whether a task can make its result i where it reads all
// of a parameter.
func (p *Plan) canReplaceParameter(t *Task, in, i int) bool {
	k := slices.IndexFunc(t.In, func(r int) bool { return r >= 0 && p.Root(r) == in })
	return t.Call != nil && k >= 0 && p.isWhole(t.In[k]) && t.canReplace(k, i)
}
