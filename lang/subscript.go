package lang

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// Subscripts. Integers and slices become one slice, the axes of the integers
// are dropped, tensors gather, None adds axes:
//
//	x[0, i, 1:, None]  =>  slice, squeeze, gather, unsqueeze
//
// Where several tensors index, their shapes broadcast together and the result's
// axes stand where the first of them stood, or in front when another subscript
// stands between them, as in NumPy.

// farAway bounds the numbers that a slice may be written with: no tensor is that
// large, and sums of such numbers do not overflow.
const farAway = 1 << 41

// A subscripts is x[...] for a tensor x, read from the source.
type subscripts struct {
	e  *elaborator
	x  operand
	at diag.Span

	starts, ends []ir.Dim
	axes, steps  []int64
	squeeze      []int64   // axes of x that integers drop
	points       []point   // integers that may be out of range when the program runs
	tensors      []operand // tensors that index
	tensorAxes   []int     // the axes of x that they index
	added        []newAxis
	advanced     []int // positions of subscripts that are integers or tensors
	position     int
}

// A point is an integer index that only a run can check.
type point struct {
	axis int
	at   operand
}

// A newAxis is a None in a subscript.
type newAxis struct {
	kept   int  // how many axes of x that stay stand before it
	behind bool // an index tensor stands before it
}

// read sorts the subscripts by kind.
func (s *subscripts) read(op *syntax.IndexOp) bool {
	rank := s.rank()
	used, ellipsis := 0, false
	for _, sub := range op.Subs {
		switch sub.Kind {
		case syntax.IndexSub, syntax.SliceSub:
			used++
		case syntax.EllipsisSub:
			if ellipsis {
				s.e.errorf("wrong-arguments", sub.At, "a subscript has one ...")
				return false
			}
			ellipsis = true
		}
	}
	if used > rank {
		d := s.e.errorf("rank-mismatch", op.At, "%s for a tensor of rank %d", count(used, "subscript"), rank)
		witness(d, s.x.at, "%s", show(s.x.val))
		return false
	}
	axis, kept, ok := 0, 0, true
	for i, sub := range op.Subs {
		s.position = i
		switch sub.Kind {
		case syntax.NoneSub:
			s.added = append(s.added, newAxis{kept, len(s.tensors) > 0})
		case syntax.EllipsisSub:
			axis, kept = axis+rank-used, kept+rank-used
		case syntax.SliceSub:
			ok = s.slice(axis, sub) && ok
			axis, kept = axis+1, kept+1
		case syntax.IndexSub:
			ok = s.element(axis, sub, kept) && ok
			axis++
		}
	}
	return ok
}

func (s *subscripts) rank() int { return s.x.val.(tensorVal).v.Type.Rank() }

func (s *subscripts) size(axis int) ir.Dim { return s.x.val.(tensorVal).v.Type.Shape[axis] }

// element reads one index: an integer, or a tensor of integers.
func (s *subscripts) element(axis int, sub syntax.Subscript, kept int) bool {
	o := s.e.operand(sub.Index)
	switch v := o.val.(type) {
	case poison:
		return false
	case listVal, tensorVal:
		return s.tensor(axis, o)
	case boolVal:
		d := s.e.errorf("wrong-arguments", o.at, "an index is an integer, not a bool")
		labelled(d, o)
		return false
	case noneVal:
		s.added = append(s.added, newAxis{kept, len(s.tensors) > 0})
		return true
	case intVal:
		if v.big != nil {
			s.e.outOfRange(v, tensor.I64, o.at)
			return false
		}
		s.advanced = append(s.advanced, s.position)
		return s.integer(axis, o, v.d)
	}
	_, ok := s.e.asInt(o, "an index")
	return ok
}

// integer checks a fixed index against the size of its axis. Where that is not
// known, gather takes the element and checks when the program runs.
func (s *subscripts) integer(axis int, o operand, i ir.Dim) bool {
	size := s.size(axis)
	at, needs := i, i.Add(ir.N(1)) // the size must be at least this
	n, known := i.Const()
	if known && n < 0 {
		at, needs = size.Add(i), i.Mul(ir.N(-1))
	}
	m, sizeKnown := size.Const()
	least, _ := needs.Const()
	switch {
	case known && sizeKnown && least > m:
		d := s.e.errorf("out-of-range", o.at, "index %s is outside axis %d of size %s", i, axis, size)
		witness(d, s.x.at, "%s", show(s.x.val))
		return false
	case !ir.LessEq(needs, size) || !known && !i.NonNeg():
		s.points = append(s.points, point{axis, o})
		return true
	}
	s.starts, s.ends = append(s.starts, at), append(s.ends, at.Add(ir.N(1)))
	s.axes, s.steps = append(s.axes, int64(axis)), append(s.steps, 1)
	s.squeeze = append(s.squeeze, int64(axis))
	return true
}

// tensor reads an index that is a tensor of integers.
func (s *subscripts) tensor(axis int, o operand) bool {
	v, ok := s.e.toTensor(o, tensor.Invalid, "a subscript")
	if !ok {
		return false
	}
	if !v.Type.DType.IsInt() {
		d := s.e.errorf("dtype-mismatch", o.at, "an index tensor holds integers, not %s", v.Type.DType)
		d.Label = v.Type.String()
		if v.Type.DType == tensor.Bool {
			help(d, "where(c, a, b) chooses by a bool tensor; how many elements are true is not known when the program is compiled")
		}
		return false
	}
	s.advanced = append(s.advanced, s.position)
	s.tensors = append(s.tensors, operand{s.e.retag(o.val, v), o.at})
	s.tensorAxes = append(s.tensorAxes, axis)
	return true
}

// slice reads a:b:c.
func (s *subscripts) slice(axis int, sub syntax.Subscript) bool {
	if sub.Start == nil && sub.End == nil && sub.Step == nil {
		return true
	}
	step, ok := s.e.constBound(sub.Step, 1)
	if !ok {
		return false
	}
	if step == 0 {
		s.e.errorf("out-of-range", sub.At, "the step of a slice is 0")
		return false
	}
	size := s.size(axis)
	first, last := ir.N(0), size
	if step < 0 {
		first, last = size.Sub(ir.N(1)), ir.N(-1).Sub(size)
	}
	from, okFrom := s.bound(sub.Start, first)
	to, okTo := s.bound(sub.End, last)
	if !okFrom || !okTo {
		return false
	}
	s.starts, s.ends = append(s.starts, from), append(s.ends, to)
	s.axes, s.steps = append(s.axes, int64(axis)), append(s.steps, step)
	return true
}

// bound evaluates a bound, perhaps symbolic.
func (s *subscripts) bound(x syntax.Expr, absent ir.Dim) (ir.Dim, bool) {
	if x == nil {
		return absent, true
	}
	d, ok := s.e.intOf(x, "a bound of a slice")
	if n, known := d.Const(); known {
		d = ir.N(max(-farAway, min(farAway, n)))
	}
	return d, ok
}

// apply adds the operators.
func (s *subscripts) apply() value {
	v := s.e.use(s.x.val.(tensorVal))
	ok := true
	step := func(name string, args []*ir.Value, attrs ...ir.Lit) {
		if !ok {
			return
		}
		row := ir.Lookup(name)
		all := row.Defaults()
		copy(all, attrs)
		ops := []operand{s.x}
		out, good := s.e.add(site{name: name, at: s.at, args: ops}, row, args, all)[0].(tensorVal)
		v, ok = out.v, good
	}
	if len(s.axes) > 0 {
		steps := ir.None
		if slices.ContainsFunc(s.steps, func(n int64) bool { return n != 1 }) {
			steps = ir.IntsLit(s.steps...)
		}
		step("slice", []*ir.Value{v}, ir.DimsLit(s.starts...), ir.DimsLit(s.ends...), ir.IntsLit(s.axes...), steps)
	}
	for _, p := range slices.Backward(s.points) {
		i, good := s.e.scalar(p.at, tensor.I64)
		ok = ok && good
		step("gather", []*ir.Value{v, i}, ir.IntLit(int64(p.axis)))
	}
	if len(s.squeeze) > 0 {
		step("squeeze", []*ir.Value{v}, ir.IntsLit(s.squeezed()...))
	}
	if len(s.tensors) > 0 && ok {
		v, ok = s.gather(v, step, &v)
	}
	if axes := s.newAxes(); len(axes) > 0 {
		step("unsqueeze", []*ir.Value{v}, ir.IntsLit(axes...))
	}
	if !ok {
		return poison{}
	}
	if v == s.x.val.(tensorVal).v {
		return s.x.val
	}
	return s.e.tensor(v)
}

// squeezed lists the axes to drop once the points are gone.
func (s *subscripts) squeezed() []int64 {
	axes := slices.Clone(s.squeeze)
	for i, q := range s.squeeze {
		for _, p := range s.points {
			axes[i] -= int64(boolInt(p.axis < int(q)))
		}
	}
	return axes
}

// gather applies the index tensors. cur is where step leaves its result.
func (s *subscripts) gather(v *ir.Value, step func(string, []*ir.Value, ...ir.Lit), cur **ir.Value) (*ir.Value, bool) {
	axes := make([]int, len(s.tensorAxes)) // of v, from which integers have dropped some
	for i, a := range s.tensorAxes {
		axes[i] = a
		for _, q := range s.squeeze {
			axes[i] -= boolInt(int(q) < a)
		}
		for _, p := range s.points {
			axes[i] -= boolInt(p.axis < a)
		}
	}
	front := s.separated()
	lead := s.tensors[0].val.(tensorVal).v.Type.Rank()
	if len(axes) == 1 {
		step("gather", []*ir.Value{v, s.e.use(s.tensors[0].val.(tensorVal))}, ir.IntLit(int64(axes[0])))
	} else {
		var ok bool
		if lead, ok = s.gatherMany(v, axes, step, cur); !ok {
			return nil, false
		}
	}
	if *cur == nil {
		return nil, false
	}
	s.place(*cur, axes, lead, front, step)
	return *cur, *cur != nil
}

// separated reports whether a slice, ... or None stands between the integers
// and tensors that index.
func (s *subscripts) separated() bool {
	for i := 1; i < len(s.advanced); i++ {
		if s.advanced[i] != s.advanced[i-1]+1 {
			return true
		}
	}
	return false
}

// gatherMany brings the indexed axes to the front and gathers points.
func (s *subscripts) gatherMany(v *ir.Value, axes []int, step func(string, []*ir.Value, ...ir.Lit), cur **ir.Value) (lead int, ok bool) {
	var shape []ir.Dim
	for _, o := range s.tensors {
		t := o.val.(tensorVal).v.Type
		joined, fits := ir.Broadcast(shape, t.Shape)
		if !fits {
			d := s.e.errorf("shape-mismatch", o.at, "index tensors of shapes %s and %s do not broadcast", ir.ShapeString(shape), ir.ShapeString(t.Shape))
			d.Label = t.String()
			return 0, false
		}
		shape = joined
	}
	points := make([]*ir.Value, len(s.tensors))
	for i, o := range s.tensors {
		points[i] = s.e.use(o.val.(tensorVal))
		if !ir.SameShape(points[i].Type.Shape, shape) {
			step("expand", []*ir.Value{points[i]}, ir.DimsLit(shape...))
			points[i] = *cur
		}
		if points[i] != nil && points[i].Type.DType != tensor.I64 {
			step("cast", []*ir.Value{points[i]}, ir.DTypeLit(tensor.I64))
			points[i] = *cur
		}
		if points[i] == nil {
			return 0, false
		}
	}
	step("stack", points, ir.IntLit(-1))
	at := *cur
	perm := make([]int64, 0, v.Type.Rank())
	for _, a := range axes {
		perm = append(perm, int64(a))
	}
	for a := range v.Type.Rank() {
		if !slices.Contains(axes, a) {
			perm = append(perm, int64(a))
		}
	}
	*cur = v
	if !slices.IsSorted(perm) {
		step("transpose", []*ir.Value{v}, ir.IntsLit(perm...))
	}
	if at == nil || *cur == nil {
		return 0, false
	}
	step("gather_nd", []*ir.Value{*cur, at})
	return len(shape), *cur != nil
}

// place moves the lead axes that the index tensors gave to where they belong.
func (s *subscripts) place(v *ir.Value, axes []int, lead int, front bool, step func(string, []*ir.Value, ...ir.Lit)) {
	have, want := 0, axes[0]
	if len(axes) == 1 {
		have = axes[0]
	}
	if front {
		want = 0
	}
	if have == want || lead == 0 {
		return
	}
	rest := make([]int64, 0, v.Type.Rank())
	var moved []int64
	for a := range v.Type.Rank() {
		if a >= have && a < have+lead {
			moved = append(moved, int64(a))
		} else {
			rest = append(rest, int64(a))
		}
	}
	perm := slices.Concat(rest[:want], moved, rest[want:])
	step("transpose", []*ir.Value{v}, ir.IntsLit(perm...))
}

// newAxes tells where the axes of None stand in the result.
func (s *subscripts) newAxes() []int64 {
	if len(s.added) == 0 {
		return nil
	}
	lead := 0
	for _, o := range s.tensors {
		lead = max(lead, o.val.(tensorVal).v.Type.Rank())
	}
	var axes []int64
	for i, n := range s.added {
		at := n.kept + i
		if n.behind || s.separated() {
			at += lead
		}
		axes = append(axes, int64(at))
	}
	return axes
}
