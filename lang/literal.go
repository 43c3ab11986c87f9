package lang

import (
	"math"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// Numbers and bracket lists become tensors where one is needed.

// alone names the arguments that do not share the dtype of the others: indices
// and conditions.
var alone = map[string]bool{"i": true, "indices": true, "index": true, "c": true, "cond": true, "mask": true, "lengths": true}

// standsAlone reports whether argument i of an operator has a dtype of its own.
func standsAlone(row *ir.Op, i int) bool {
	if i >= len(row.Args) {
		return false
	}
	name, _, _ := ir.ArgKind(row.Args[i])
	return alone[name]
}

// dtypeBeside is the dtype that numbers among the arguments take: the first
// tensor's; when there is none, f32 if one of them is a float, else their own.
func dtypeBeside(row *ir.Op, args []operand) tensor.DType {
	own := tensor.Invalid
	for i, a := range args {
		if standsAlone(row, i) {
			continue
		}
		switch v := a.val.(type) {
		case tensorVal:
			return v.v.Type.DType
		case listVal:
			if v.strong {
				return ownDType(v)
			}
		}
		if a.val != nil && ownDType(a.val) == tensor.F32 {
			own = tensor.F32
		}
	}
	return own
}

// ownDType is the dtype of a number or list that meets no tensor.
func ownDType(v value) tensor.DType {
	switch v := v.(type) {
	case floatVal, lateVal:
		return tensor.F32
	case intVal:
		return tensor.I64
	case boolVal:
		return tensor.Bool
	case tensorVal:
		return v.v.Type.DType
	case listVal:
		return listDType(v)
	}
	return tensor.Invalid
}

// listDType is f32 if the list holds a float, bool if it holds bools, else i64.
func listDType(l listVal) tensor.DType {
	d := tensor.Invalid
	for _, el := range l.elems {
		switch ed := ownDType(el); {
		case ed == tensor.F32:
			return ed
		case ed == tensor.Bool, d == tensor.Invalid:
			d = ed
		}
	}
	if d == tensor.Invalid {
		return tensor.I64
	}
	return d
}

// tensorLike reports whether a list holds numbers, bools, or lists of such.
func tensorLike(l listVal) bool {
	for _, el := range l.elems {
		if inner, ok := el.(listVal); ok && !tensorLike(inner) || !ok && !isStatic(el) {
			return false
		}
	}
	return true
}

// toTensor makes a tensor of an operand. Numbers and lists take the dtype want,
// unless it is Invalid or of another kind: that the operator will refuse.
func (e *elaborator) toTensor(o operand, want tensor.DType, user string) (*ir.Value, bool) {
	switch v := o.val.(type) {
	case poison:
		return nil, false
	case tensorVal:
		return e.use(v), true
	case intVal, floatVal, lateVal, boolVal:
		return e.scalar(o, meet(ownDType(v), want))
	case listVal:
		if v.strong {
			want = tensor.Invalid
		}
		if tensorLike(v) && !v.tuple {
			return e.listTensor(o, v, meet(listDType(v), want))
		}
	}
	d := e.errorf("wrong-arguments", o.at, "%s needs a tensor here, not %s", user, o.val.noun())
	labelled(d, o)
	if l, ok := o.val.(listVal); ok {
		switch {
		case l.tuple:
			help(d, "bind the results by name first: a, b = ...")
		default:
			help(d, "stack([...]) makes one tensor of several")
		}
	}
	return nil, false
}

// meet is the dtype that a literal of dtype own takes beside want. An integer
// fits every number dtype, a float the float dtypes, a bool only bool.
func meet(own, want tensor.DType) tensor.DType {
	switch {
	case want == tensor.Invalid:
	case own == tensor.I64 && (want.IsInt() || want.IsFloat()), own == tensor.F32 && want.IsFloat():
		return want
	}
	return own
}

// scalar makes a tensor of rank 0. A symbolic number is computed when the
// program runs.
func (e *elaborator) scalar(o operand, d tensor.DType) (*ir.Value, bool) {
	switch n := o.val.(type) {
	case lateVal:
		return e.settle(o, n, d)
	case intVal:
		if isLate(n) {
			return e.symbolTensor(o, n.d, d)
		}
	}
	t, ok := e.literal(o, []value{o.val}, nil, []int{}, d)
	if !ok {
		return nil, false
	}
	return e.constant(t, o.at), true
}

// symbolTensor is a dimension as a scalar.
func (e *elaborator) symbolTensor(o operand, n ir.Dim, d tensor.DType) (*ir.Value, bool) {
	full := ir.Lookup("full")
	v := e.add(site{name: "full", at: o.at}, full, nil, []ir.Lit{ir.TypeLit(ir.T(d)), ir.DimLit(n)})[0]
	t, ok := v.(tensorVal)
	if !ok {
		return nil, false
	}
	return t.v, true
}

// constant adds a tensor that is known. In a test it is an input of the program
// that runs, so that nothing is computed ahead.
func (e *elaborator) constant(t *tensor.T, at diag.Span) *ir.Value {
	if e.prog.test != nil {
		return e.prog.test.literal(e, t)
	}
	v := e.add(site{name: "const", at: at}, ir.Const, nil, []ir.Lit{ir.TensorLit(t)})[0]
	if t, ok := v.(tensorVal); ok {
		return t.v
	}
	return nil
}

// listTensor makes a tensor of a bracket list.
func (e *elaborator) listTensor(o operand, l listVal, d tensor.DType) (*ir.Value, bool) {
	flat, ats, shape, ok := e.flatten(o, l)
	if !ok {
		return nil, false
	}
	for i, v := range flat {
		if isLate(v) {
			return e.symbolList(flat, ats, i, shape, d)
		}
	}
	t, ok := e.literal(o, flat, ats, shape, d)
	if !ok {
		return nil, false
	}
	c := e.constant(t, o.at)
	if c != nil && c.Name == "" {
		c.Name = l.label
	}
	return c, true
}

// symbolList makes a tensor of numbers that are not all known yet.
func (e *elaborator) symbolList(flat []value, ats []diag.Span, first int, shape []int, d tensor.DType) (*ir.Value, bool) {
	at := ats[first]
	vs := make([]*ir.Value, len(flat))
	for i, f := range flat {
		v, ok := e.scalar(operand{f, ats[i]}, d)
		if !ok {
			return nil, false
		}
		vs[i] = v
	}
	row := ir.Lookup("stack")
	v, ok := e.add(site{name: "stack", at: at}, row, vs, nil)[0].(tensorVal)
	if !ok {
		return nil, false
	}
	dims := make([]ir.Dim, len(shape))
	for i, n := range shape {
		dims[i] = ir.N(int64(n))
	}
	return e.reshape(v.v, dims, at)
}

// flatten lists the elements of nested lists row by row.
func (e *elaborator) flatten(o operand, l listVal) (flat []value, ats []diag.Span, shape []int, ok bool) {
	for cur, depth := l, 0; ; depth++ {
		if depth >= ir.MaxRank {
			e.errorf("limit", o.at, "the list is nested more than %d deep", ir.MaxRank)
			return nil, nil, nil, false
		}
		shape = append(shape, len(cur.elems))
		if len(cur.elems) == 0 {
			break
		}
		inner, isList := cur.elems[0].(listVal)
		if !isList {
			break
		}
		cur = inner
	}
	ok = e.flattenInto(operand{l, o.at}, shape, &flat, &ats)
	return flat, ats, shape, ok
}

// flattenInto appends the elements of one list, which must have the given shape.
func (e *elaborator) flattenInto(o operand, shape []int, flat *[]value, ats *[]diag.Span) bool {
	l, isList := o.val.(listVal)
	if !isList != (len(shape) == 0) {
		e.ragged(o, "a number beside a list")
		return false
	}
	if !isList {
		*flat, *ats = append(*flat, o.val), append(*ats, o.at)
		return true
	}
	if len(l.elems) != shape[0] {
		d := e.errorf("shape-mismatch", o.at, "a row has %s, the first one has %d", count(len(l.elems), "element"), shape[0])
		note(d, "the rows of a tensor have one length")
		return false
	}
	if !e.step(o.at, len(l.elems)) {
		return false
	}
	for i, el := range l.elems {
		if !e.flattenInto(operand{el, elemSpan(l, i, o.at)}, shape[1:], flat, ats) {
			return false
		}
	}
	return true
}

// ragged reports brackets of several depths.
func (e *elaborator) ragged(o operand, what string) {
	d := e.errorf("shape-mismatch", o.at, "%s", what)
	labelled(d, o)
	note(d, "all elements of a tensor stand equally deep in brackets")
}

// elemSpan is where an element of a list was written.
func elemSpan(l listVal, i int, list diag.Span) diag.Span {
	if l.node != nil && i < len(l.node.Elems) {
		return l.node.Elems[i].Span()
	}
	return list
}

// literal stores known values as elements of dtype d.
func (e *elaborator) literal(o operand, flat []value, ats []diag.Span, shape []int, d tensor.DType) (*tensor.T, bool) {
	at := func(i int) diag.Span {
		if i < len(ats) {
			return ats[i]
		}
		return o.at
	}
	t := tensor.New(d, shape...)
	floats, ints := make([]float64, 0, len(flat)), make([]int64, 0, len(flat))
	for i, v := range flat {
		if d.IsFloat() {
			f, ok := e.floatElem(v, d, at(i))
			if !ok {
				return nil, false
			}
			floats = append(floats, f)
			continue
		}
		n, ok := e.intElem(v, d, at(i))
		if !ok {
			return nil, false
		}
		ints = append(ints, n)
	}
	if d.IsFloat() {
		t.StoreFloats(0, floats)
	} else {
		t.StoreInts(0, ints)
	}
	return t, true
}

// floatElem rounds a number to a float dtype, once, from its decimal form.
func (e *elaborator) floatElem(v value, d tensor.DType, at diag.Span) (float64, bool) {
	f, isNum := asFloat(v)
	if !isNum {
		e.notNumber(v, d, at)
		return 0, false
	}
	rounded := tensor.Round(d, f)
	if fv, ok := v.(floatVal); ok && fv.text != "" && !math.IsInf(f, 0) && !math.IsNaN(f) {
		exact, err := tensor.ParseFloat(d, fv.text)
		if err == nil {
			return exact, true
		}
		rounded = math.Inf(1)
	}
	if fv, ok := v.(floatVal); math.IsInf(rounded, 0) && !(ok && math.IsInf(f, 0) && isInfText(fv.text)) {
		e.outOfRange(v, d, at)
		return 0, false
	}
	return rounded, true
}

// isInfText reports whether an infinite float was meant: computed, or written
// as inf.
func isInfText(s string) bool { return s == "" || s == "inf" || s == "-inf" }

// intElem checks that a number fits an integer dtype, or is true or false for
// bool.
func (e *elaborator) intElem(v value, d tensor.DType, at diag.Span) (int64, bool) {
	if b, ok := v.(boolVal); ok && d == tensor.Bool {
		return map[boolVal]int64{true: 1}[b], true
	}
	n, ok := v.(intVal)
	if !ok || d == tensor.Bool {
		e.notNumber(v, d, at)
		return 0, false
	}
	if n.big != nil {
		if n.big.IsUint64() && tensor.FitsUint(d, n.big.Uint64()) {
			return int64(n.big.Uint64()), true
		}
		if n.big.IsInt64() && tensor.FitsInt(d, n.big.Int64()) {
			return n.big.Int64(), true
		}
		e.outOfRange(v, d, at)
		return 0, false
	}
	c, _ := n.d.Const()
	if !tensor.FitsInt(d, c) {
		e.outOfRange(v, d, at)
		return 0, false
	}
	return c, true
}

// notNumber reports an element of the wrong kind.
func (e *elaborator) notNumber(v value, d tensor.DType, at diag.Span) {
	diagnosis := e.errorf("dtype-mismatch", at, "%s is not an element of %s", show(v), d)
	switch {
	case d == tensor.Bool:
		note(diagnosis, "a bool literal holds true and false")
	case d.IsInt():
		note(diagnosis, "an integer literal holds integers; cast(x, %s) converts a tensor", d)
	default:
		note(diagnosis, "a literal holds numbers of one kind")
	}
}

// outOfRange reports a number that its dtype cannot hold.
func (e *elaborator) outOfRange(v value, d tensor.DType, at diag.Span) {
	diagnosis := e.errorf("out-of-range", at, "%s does not fit %s", show(v), d)
	if d.IsInt() {
		note(diagnosis, "%s holds %d to %d", d, tensor.MinInt(d), tensor.MaxInt(d))
	} else {
		note(diagnosis, "a finite number must not become infinite")
	}
}
