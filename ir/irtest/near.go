package irtest

import (
	"math/rand/v2"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Near makes a function that is nearly f: what a rule looks for, but for one
// thing. It is f itself where no change was found that is legal.
//
//	%m = mean %x {axis=[-1]}         %m = mean %x {axis=[0]}
//	%c = const 0.5              =>   %c = const 0.50000006
//	%p = transpose %y {perm=[1,0]}   %p = transpose %y {perm=[0,1]}
//	%s = sub %x, %m                  %s = sub %m, %x
//	return %s                        return %s, %m
func Near(r *rand.Rand, f *ir.Func) *ir.Func {
	places := slices.Concat(f.Params, f.Body)
	if len(places) == 0 {
		return f
	}
	same := func(d ir.Dim) ir.Dim { return d }
	for range 6 {
		place := r.IntN(len(places))
		if r.IntN(4) == 0 {
			return withResult(f, places[place])
		}
		changed := false
		g := rebuild(f, same, func(at int, c *call) {
			for tries := 0; at == place && !changed && tries < 8; tries++ {
				changed = changes[r.IntN(len(changes))](r, c)
			}
		})
		if changed && g != nil {
			return g
		}
	}
	return f
}

// withResult is f with one more result: a value inside that has another reader.
func withResult(f *ir.Func, v *ir.Value) *ir.Func {
	g, copies := f.Clone()
	g.Results, g.ResultNames = append(g.Results, copies[v]), nil
	return g
}

// changes are what may be different in a call. Each says whether it found
// something to change.
var changes = []func(*rand.Rand, *call) bool{nearAttr, nearAttr, nearConst, nearArgs, nearOp, nearInput}

// nearAttr changes one attribute: an axis, an order of axes, a number, a flag.
func nearAttr(r *rand.Rand, c *call) bool {
	if len(c.attrs) == 0 || c.op == ir.Const {
		return false
	}
	l := &c.attrs[r.IntN(len(c.attrs))]
	switch l.Kind {
	case ir.KInts:
		if len(l.Ints) == 0 {
			return false
		}
		l.Ints = slices.Clone(l.Ints)
		i, j := r.IntN(len(l.Ints)), r.IntN(len(l.Ints))
		if l.Ints[i], l.Ints[j] = l.Ints[j], l.Ints[i]; i == j {
			l.Ints[i] += int64(r.IntN(3) - 1)
		}
	case ir.KInt:
		l.Int += int64(r.IntN(3) - 1)
	case ir.KBool:
		l.Int = 1 - l.Int
	case ir.KFloat:
		l.Float *= []float64{2, -1, 0, 1 + 0x1p-20}[r.IntN(4)]
	default:
		return false
	}
	return true
}

// nearConst changes one element of a constant, or all of them: to the next
// number, to its negative, to a special one.
func nearConst(r *rand.Rand, c *call) bool {
	if c.op != ir.Const || c.attrs[0].Tensor.Len() == 0 {
		return false
	}
	from := c.attrs[0].Tensor
	t := tensor.New(from.DType, from.Shape...)
	copy(t.Data, from.Data)
	change := func(i int) { t.SetInt(i, t.IntAt(i)+1) }
	if t.DType.IsFloat() {
		change = nearFloat(r, t)
	}
	first, last := 0, t.Len()
	if r.IntN(2) == 0 {
		first = r.IntN(t.Len())
		last = first + 1
	}
	for i := first; i < last; i++ {
		change(i)
	}
	c.attrs[0] = ir.TensorLit(t)
	return true
}

func nearFloat(r *rand.Rand, t *tensor.T) func(i int) {
	if r.IntN(4) == 0 {
		return func(i int) { setSpecial(r, t, i) }
	}
	factor := []float64{1 + 0x1p-52, 1 + 0x1p-23, 1 - 0x1p-24, 1 + 0x1p-10, 1 + 0x1p-7, -1, 2}[r.IntN(7)]
	return func(i int) { t.SetFloat(i, t.FloatAt(i)*factor) }
}

// nearArgs reads the arguments in another order, or one of them twice.
func nearArgs(r *rand.Rand, c *call) bool {
	if len(c.args) < 2 {
		return false
	}
	i, j := r.IntN(len(c.args)), r.IntN(len(c.args))
	if c.args[i], c.args[j] = c.args[j], c.args[i]; r.IntN(3) == 0 {
		c.args[i] = c.args[j]
	}
	return i != j
}

// nearOp takes another operator with the same arguments and attributes.
func nearOp(r *rand.Rand, c *call) bool {
	var like []*ir.Op
	for _, op := range ir.Ops() {
		if op != c.op && op.Class == c.op.Class && len(op.Args) == len(c.op.Args) && sameAttrs(op, c.op) && op.Sample != nil {
			like = append(like, op)
		}
	}
	if len(like) == 0 {
		return false
	}
	c.op = like[r.IntN(len(like))]
	return true
}

func sameAttrs(a, b *ir.Op) bool {
	return slices.EqualFunc(a.Attrs, b.Attrs, func(x, y ir.Attr) bool { return x.Name == y.Name && x.Kind == y.Kind })
}

// nearInput changes the type of an input: another rank, one element along an
// axis, another dtype.
func nearInput(r *rand.Rand, c *call) bool {
	rank := len(c.typ.Shape)
	if c.op != ir.Input {
		return false
	}
	shape := slices.Clone(c.typ.Shape)
	switch k := r.IntN(4); {
	case k == 0:
		c.typ.DType = tensor.DTypes[r.IntN(len(tensor.DTypes))]
	case k == 1 && rank > 0:
		shape = shape[1:]
	case k == 2 && rank > 0:
		shape[r.IntN(rank)] = ir.N(1)
	default:
		shape = append([]ir.Dim{ir.N(int64(r.IntN(3)))}, shape...)
	}
	c.typ.Shape = shape
	return true
}
