package kernel

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// An access says which element of a value belongs to an index of a sheet: how many
// of the value's elements, in their order in memory, lie between neighbours along
// each of the sheet's axes.
type access []int

// accesses finds how a body's values are read, from the results back. An axis of the
// sheet that crosses the axes of some value is split there, and all is begun anew.
type accesses struct {
	body  *Body
	heart int // an operator that is not looked into, or noHeart
	sizes []int
	need  [][]access // by value
}

// A crossing is an axis of the sheet to be split: inner is how many indices the inner
// of the two has.
type crossing struct{ axis, inner int }

// find fills need for a sheet of a shape, or says why there is none.
func (a *accesses) find(shape []int) (why string) {
	a.sizes = slices.Clone(shape)
	for {
		cross, why := a.try()
		if why != "" || cross == nil {
			return why
		}
		a.split(*cross)
	}
}

func (a *accesses) split(c crossing) {
	outer := a.sizes[c.axis] / c.inner
	a.sizes = slices.Replace(a.sizes, c.axis, c.axis+1, outer, c.inner)
}

// maxAccesses bounds in how many orders a value is computed.
const maxAccesses = 4

func (a *accesses) try() (*crossing, string) {
	b := a.body
	a.need = make([][]access, values(b))
	for _, v := range b.Out {
		a.add(v, tensor.Strides(a.sizes))
	}
	for i := len(b.Ops) - 1; i >= 0; i-- {
		o := &b.Ops[i]
		if i == a.heart {
			if cross, why := a.atHeart(o); cross != nil || why != "" {
				return cross, why
			}
			continue
		}
		if a.further(o) {
			return nil, "a further result of " + o.Call.Op.Name
		}
		if len(a.need[o.First]) == 0 {
			continue
		}
		if o.Call != nil && loweringOf(o.Call) == nil {
			return nil, o.Call.Op.Name + " is not element-wise on " + dtypes(o.Call)
		}
		if len(a.need[o.First]) > maxAccesses {
			return nil, "a value is read in too many orders"
		}
		for _, acc := range a.need[o.First] {
			for j, arg := range o.Args {
				if arg == Absent {
					continue
				}
				to, cross, why := through(b, o, j, acc, a.sizes)
				if cross != nil || why != "" {
					return cross, why
				}
				a.add(arg, to)
			}
		}
	}
	return nil, ""
}

// further reports whether a result of an operator that is not its first is read. What has
// several results is not element-wise, whichever of them is asked for.
func (a *accesses) further(o *Op) bool {
	for _, need := range a.need[o.First+1 : o.First+o.Results()] {
		if len(need) > 0 {
			return true
		}
	}
	return false
}

// atHeart splits axes of the sheet that cross those of the heart's result.
func (a *accesses) atHeart(o *Op) (*crossing, string) {
	if len(a.need[o.First]) != 1 {
		return nil, "its result is not read in one order"
	}
	shape := o.Call.Out[0].Ints()
	for i, s := range a.need[o.First][0] {
		if s == 0 || a.sizes[i] == 1 {
			continue
		}
		if _, cross, why := within(shape, tensor.Strides(shape), s, i, a.sizes[i]); cross != nil || why != "" {
			return cross, why
		}
	}
	return nil, ""
}

// within finds the axis of a value along which axis i of the sheet leads with a
// stride: the whole of it, or it has to be split.
func within(shape, strides []int, s, i, size int) (k int, cross *crossing, why string) {
	k = axisOf(shape, strides, s)
	if k < 0 {
		return 0, nil, uneven
	}
	room := strides[k] * shape[k] // up to here the axis goes
	if s*(size-1) < room {
		return k, nil, ""
	}
	if inner := room / s; room%s == 0 && size%inner == 0 {
		return 0, &crossing{i, inner}, ""
	}
	return 0, nil, uneven
}

const uneven = "a view that cuts axes unevenly"

// add notes an access, once.
func (a *accesses) add(v int, acc access) {
	for _, have := range a.need[v] {
		if slices.Equal(have, acc) {
			return
		}
	}
	a.need[v] = append(a.need[v], acc)
}

// values is how many values a body has.
func values(b *Body) int {
	n := len(b.In)
	for i := range b.Ops {
		n += b.Ops[i].Results()
	}
	return n
}

// through is how an operator's argument is read if its result is read by an access.
func through(b *Body, o *Op, arg int, acc access, sizes []int) (access, *crossing, string) {
	if o.Call == nil {
		return acc, nil, "" // the elements have the same order
	}
	from, to := o.Call.In[arg].Ints(), o.Call.Out[0].Ints()
	steps := argumentSteps(o.Call, from, to)
	own := tensor.Strides(to)
	if slices.Equal(steps, own) {
		return acc, nil, ""
	}
	by := make(access, len(acc))
	for i, s := range acc {
		if s == 0 || sizes[i] == 1 {
			continue
		}
		k, cross, why := within(to, own, s, i, sizes[i])
		if cross != nil || why != "" {
			return nil, cross, why
		}
		by[i] = s / own[k] * steps[k]
	}
	return by, nil, ""
}

// axisOf finds the axis along which a stride leads.
func axisOf(shape, strides []int, s int) int {
	for k, n := range shape {
		if n > 1 && s >= strides[k] && s < strides[k]*n && s%strides[k] == 0 {
			return k
		}
	}
	return -1
}

// argumentSteps is, by axis of the result, how many elements of an argument lie
// between neighbours.
func argumentSteps(c *ir.Call, from, to []int) []int {
	strides := tensor.Strides(from)
	steps := make([]int, len(to))
	if c.Op.Name == "transpose" {
		for k, a := range permutation(c, len(from)) {
			steps[k] = strides[a]
		}
		return steps
	}
	lead := len(to) - len(from)
	for i, n := range from {
		if n != 1 || to[lead+i] == 1 {
			steps[lead+i] = strides[i]
		}
	}
	return steps
}

// permutation is, by axis of a transposition's result, the axis of its argument.
func permutation(c *ir.Call, rank int) []int {
	perm := upTo(rank)
	l := c.Attr("perm")
	if l.Kind != ir.KInts {
		perm[rank-1], perm[rank-2] = perm[rank-2], perm[rank-1]
		return perm
	}
	for i, a := range l.Ints {
		if perm[i] = int(a); a < 0 {
			perm[i] += rank
		}
	}
	return perm
}
