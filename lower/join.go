package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
)

// A join is a concat or stack whose arguments lie behind each other in its
// result. Those that a task makes, and that lie nowhere else, are made there: they
// are parts of the join's buffer from the beginning. Others are copied, and if
// these are the more, the join is a task like any other: one task costs less than
// many copies.
type join struct {
	value   *ir.Value
	at      []int64  // by argument: where it begins in the result, in bytes
	why     []string // by argument: why it is copied; empty: it is made in place
	inPlace int
	copied  int
	buffer  int // of the result; -1: nothing was made there yet
}

// A part is a place in a join.
type part struct {
	of *join
	at int64
}

// joins is the table of operators that put tensors behind each other, and how
// many axes a part has less than the result.
var joins = map[*ir.Op]int{ir.Concat: 0, ir.Stack: 1}

// planJoins decides which values are made in place, before any buffer is made.
// It looks at the last join first: a join that is a part of another has its place
// by then.
func (b *builder) planJoins() error {
	var shown map[*ir.Value]bool
	for i := len(b.f.Body) - 1; i >= 0; i-- {
		v := b.f.Body[i]
		if _, ok := joins[v.Op]; !ok {
			continue
		}
		if shown == nil {
			shown = b.shown()
		}
		if err := b.planJoin(v, shown); err != nil {
			return err
		}
	}
	return nil
}

// shown is the set of values that the function returns.
func (b *builder) shown() map[*ir.Value]bool {
	set := make(map[*ir.Value]bool, len(b.f.Results))
	for _, v := range b.f.Results {
		set[origin(v)] = true
	}
	return set
}

// origin is the value whose memory, all of it, v is.
func origin(v *ir.Value) *ir.Value {
	for v.Op.Flags&ir.View != 0 && v.Op.Flags&ir.Projection == 0 {
		v = v.Args[0]
	}
	return v
}

func (b *builder) planJoin(v *ir.Value, shown map[*ir.Value]bool) error {
	c, err := b.call(v)
	if err != nil {
		return err
	}
	j := &join{value: v, at: joinOffsets(c), why: make([]string, len(v.Args)), buffer: -1}
	b.joins[v] = j
	if j.at == nil {
		return nil
	}
	var taken []*ir.Value
	for i, a := range v.Args {
		from := origin(a)
		if n, _ := c.In[i].Bytes().Const(); n == 0 {
			continue // nothing to make, nothing to copy
		}
		if j.why[i], err = b.whyCopied(from, shown); err != nil {
			return err
		}
		if j.why[i] != "" {
			j.copied++
			continue
		}
		j.inPlace++
		b.parts[from] = part{j, j.at[i]}
		taken = append(taken, from)
	}
	if j.copied > j.inPlace {
		for _, a := range taken {
			delete(b.parts, a)
		}
		j.inPlace = 0
	}
	return nil
}

// joinOffsets says where each argument begins in the result, in bytes; nil: they
// do not lie there in one piece, since the axis has others in front of it.
func joinOffsets(c *ir.Call) []int64 {
	shape := c.Out[0].Ints()
	axis := int(c.Int("axis"))
	if axis < 0 {
		axis += len(shape)
	}
	for _, n := range shape[:axis] {
		if n != 1 {
			return nil
		}
	}
	at, next := make([]int64, len(c.In)), int64(0)
	for i, t := range c.In {
		at[i] = next
		n, _ := t.Bytes().Const()
		next += n
	}
	return at
}

// reasons why a value is not made in the memory of a join, by its operator.
var notMade = map[*ir.Op]string{
	ir.Input: "is an input",
	ir.Param: "is a weight",
	ir.Const: "is a constant",
	ir.Loop:  "is kept by a loop",
}

// whyCopied says why a value can't be made in place; empty: it can.
func (b *builder) whyCopied(v *ir.Value, shown map[*ir.Value]bool) (string, error) {
	maker := v
	if v.Op.Flags&ir.Projection != 0 {
		maker = v.Args[0]
	}
	if p, ok := b.parts[v]; ok {
		return "is a part of " + b.names[p.of.value], nil
	}
	switch {
	case notMade[maker.Op] != "":
		return notMade[maker.Op], nil
	case shown[v]:
		return "is a result", nil
	case b.kept[b.names[v]]:
		return "is kept apart", nil
	case maker.Op.MayView():
		c, err := b.call(maker)
		if err != nil {
			return "", err
		}
		if _, ok := c.Within(); ok {
			return "is a view", nil
		}
	}
	return "", nil
}

// join lowers a join of which a part was made in place: what is left is copied.
func (b *builder) join(j *join) error {
	into := b.joined(j)
	for i, a := range j.value.Args {
		if j.why[i] == "" {
			continue
		}
		from, err := b.read(a)
		if err != nil {
			return err
		}
		t := b.plan.Buffers[from].Type
		b.copyTo(from, b.part(into, j.at[i], t, b.names[j.value]), j.value)
	}
	return nil
}

// joined is the buffer of a join, which is made with its first part, and before it
// that of the join that it is a part of, if that is not there either.
func (b *builder) joined(j *join) int {
	var missing []*join // inside out
	for k, inside := j, true; inside && k.buffer < 0; {
		missing = append(missing, k)
		var outer part
		if outer, inside = b.parts[k.value]; inside {
			k = outer.of
		}
	}
	for _, k := range slices.Backward(missing) {
		t, _ := b.bind(k.value, k.value.Type) // was bound when the join was planned
		k.buffer = b.made(k.value, t)
	}
	return j.buffer
}

// partOf makes the buffer of a value that is a part of a join.
func (b *builder) partOf(q part, t ir.Type, name string) int {
	into := b.joined(q.of)
	b.plan.extend(into, len(b.plan.Tasks))
	return b.part(into, q.at, t, name)
}

// told says in words what is made in place, what is copied, and why.
func (b *builder) told(j *join) string {
	var made, copied []string
	for i, a := range j.value.Args {
		name := b.names[a]
		if j.why[i] != "" {
			copied = append(copied, fmt.Sprintf("%s (it %s)", name, j.why[i]))
		} else {
			made = append(made, name)
		}
	}
	switch {
	case j.at == nil:
		return "a task, since its parts do not lie there in one piece"
	case j.inPlace == 0:
		return "a task, since these would have to be copied: " + few(copied, ", ")
	case len(copied) == 0:
		return few(made, " ") + " made in place"
	}
	return few(made, " ") + " made in place, " + few(copied, ", ") + " copied"
}

// maxNamed bounds the names in a line of the listing.
const maxNamed = 8

func few(names []string, between string) string {
	if n := len(names); n > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], between), n-maxNamed)
	}
	return strings.Join(names, between)
}
