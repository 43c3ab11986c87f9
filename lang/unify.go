package lang

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/lang/syntax"
)

// The parameters of a fn are laid beside the arguments of a call:
//
//	fn f[T: float](x: T[..., N], w: T[2 * N])
//
// First the compile-time parameters are bound; then every tensor binds T, the
// dimensions that ... stands for, and names that stand alone (N); then numbers
// and lists take the dtypes; last the dimensions that are expressions (2 * N)
// are compared.

// A unifier is the state of one call.
type unifier struct {
	e      *elaborator
	f      funcVal
	sig    *signature
	ops    []operand
	dtypes map[string]boundDType
	dims   map[string]boundDim
	dots   []ir.Dim
	dotsBy int // parameter that gave dots, or -1
}

// A boundDType is a dtype variable with its value and who gave it.
type boundDType struct {
	dtype tensor.DType
	by    int // parameter
}

// A boundDim is a dimension variable with its value and who gave it.
type boundDim struct {
	dim ir.Dim
	by  int
}

// bindParams binds the parameters of the activation that runs now.
func (e *elaborator) bindParams(f funcVal, sig *signature, ops []operand) bool {
	u := &unifier{e: e, f: f, sig: sig, ops: ops, dtypes: map[string]boundDType{}, dims: map[string]boundDim{}, dotsBy: -1}
	return u.statics() && u.tensors(false) && u.tensors(true) && u.expressions()
}

func (u *unifier) param(i int) *syntax.Param { return &u.f.decl.Params[i] }

// bind gives a parameter its value.
func (u *unifier) bind(i int, v value) {
	p := u.param(i)
	at := u.ops[i].at
	if at.Src == nil {
		at = p.Name.At
	}
	u.e.act.scope.set(p.Name.Name, named(v, ""), at)
}

// statics binds the compile-time parameters, and evaluates defaults.
func (u *unifier) statics() bool {
	ok := true
	for i := range u.ops {
		p := u.param(i)
		if u.ops[i].val == nil {
			u.ops[i] = u.e.defaultArg(u.f, i)
		}
		o := u.ops[i]
		if isPoison(o.val) {
			ok = false
			continue
		}
		if _, none := o.val.(noneVal); none && isNone(p.Default) {
			u.bind(i, o.val)
			continue
		}
		if u.sig.kinds[i] == tensorParam {
			continue
		}
		v, fits := convertStatic(u.sig.kinds[i], o.val)
		if !fits {
			u.e.wrongKind(u.e.act.name, p, u.sig.kinds[i], o)
			ok = false
			continue
		}
		u.bind(i, v)
	}
	return ok
}

// wrongKind reports an argument that is not of the parameter's kind.
func (e *elaborator) wrongKind(name string, p *syntax.Param, k paramKind, o operand) {
	code := "wrong-arguments"
	if isTensor(o.val) || isLate(o.val) && k == floatParam {
		code = "not-constant"
	}
	d := e.errorf(code, o.at, "%s must be %s, not %s", p.Name.Name, kindNouns[k], o.val.noun())
	d.Subject = name
	labelled(d, o)
	if code == "not-constant" {
		note(d, "%s is known when the program is compiled; a run-time scalar is declared f32[] or bool[]", kindNouns[k])
	}
}

// tensors binds the tensor parameters: in the first pass those that have a
// dtype, in the second the numbers and lists, which take one.
func (u *unifier) tensors(weak bool) bool {
	ok := true
	for i := range u.ops {
		o := u.ops[i]
		if _, none := o.val.(noneVal); none && isNone(u.param(i).Default) || u.sig.kinds[i] != tensorParam {
			continue
		}
		if isWeak(o.val) == weak {
			ok = u.tensor(i, weak) && ok
		}
	}
	return ok
}

// isWeak reports whether a value takes its dtype from elsewhere.
func isWeak(v value) bool {
	_, isTensor := v.(tensorVal)
	l, isList := v.(listVal)
	return !isTensor && !(isList && l.strong)
}

// tensor binds one tensor parameter and what its type determines.
func (u *unifier) tensor(i int, weak bool) bool {
	want := tensor.Invalid
	if weak {
		want = u.knownDType(i)
	}
	v, ok := u.e.toTensor(u.ops[i], want, u.e.act.name)
	if !ok {
		return false
	}
	val := u.e.retag(u.ops[i].val, v).(tensorVal)
	if !u.dtype(i, v.Type) || !u.rank(i, v.Type) || !u.bareDims(i, v.Type) {
		return false
	}
	u.bind(i, val)
	u.ops[i].val = val
	return true
}

// knownDType is the dtype of a parameter if it is known by now.
func (u *unifier) knownDType(i int) tensor.DType {
	id := u.param(i).Type.DType
	if _, isVar := u.sig.dtypes[id.Name]; isVar {
		return u.dtypes[id.Name].dtype
	}
	if d, ok := dtypeWord(id.Name); ok {
		return tensor.DType(d)
	}
	if v, ok := u.e.lookup(id.Name); ok {
		if d, isDType := v.(dtypeVal); isDType {
			return tensor.DType(d)
		}
	}
	return tensor.Invalid
}

// refuse reports an argument that does not fit its parameter.
func (u *unifier) refuse(code string, i int, have ir.Type, format string, args ...any) *diag.Diagnostic {
	d := u.e.errorf(code, u.ops[i].at, format, args...)
	d.Subject = u.e.act.name
	d.Label = have.String()
	p := u.param(i)
	note(d, "%s is declared %s at %s", p.Name.Name, text(p.Type.At), at(p.At))
	if t, ok := u.ops[i].val.(tensorVal); ok {
		d.Helps = append(d.Helps, u.e.whereDeclared(t)...)
	}
	return d
}

// dtype compares dtypes, or binds a dtype variable.
func (u *unifier) dtype(i int, have ir.Type) bool {
	id := u.param(i).Type.DType
	kind, isVar := u.sig.dtypes[id.Name]
	if !isVar {
		want, ok := u.e.dtypeOf(id)
		if ok && want != have.DType {
			d := u.refuse("dtype-mismatch", i, have, "%s is %s, not %s", u.param(i).Name.Name, have.DType, want)
			help(d, "write cast(%s, %s)", clip(text(u.ops[i].at), 60), want)
		}
		return ok && want == have.DType
	}
	bound, known := u.dtypes[id.Name]
	switch {
	case !dtypeKinds[kind.Name].Has(have.DType):
		u.refuse("dtype-mismatch", i, have, "%s is %s, but %s must be %s", u.param(i).Name.Name, have.DType, id.Name, dtypeKinds[kind.Name])
		return false
	case known && bound.dtype != have.DType:
		d := u.refuse("dtype-mismatch", i, have, "%s is %s, but %s is %s", u.param(i).Name.Name, have.DType, id.Name, bound.dtype)
		witness(d, u.ops[bound.by].at, "%s", show(u.ops[bound.by].val))
		help(d, "write cast(%s, %s)", clip(text(u.ops[i].at), 60), bound.dtype)
		return false
	}
	if !known {
		u.dtypes[id.Name] = boundDType{have.DType, i}
		u.e.act.scope.set(id.Name, dtypeVal(have.DType), id.At)
	}
	return true
}

// rank compares ranks and binds what ... stands for.
func (u *unifier) rank(i int, have ir.Type) bool {
	t := u.param(i).Type
	if !t.Ellipsis {
		if have.Rank() != len(t.Dims) {
			u.refuse("rank-mismatch", i, have, "%s has rank %d, not %d", u.param(i).Name.Name, have.Rank(), len(t.Dims))
			return false
		}
		return true
	}
	lead := have.Rank() - len(t.Dims)
	if lead < 0 {
		u.refuse("rank-mismatch", i, have, "%s has rank %d, but needs at least %d", u.param(i).Name.Name, have.Rank(), len(t.Dims))
		return false
	}
	dots := have.Shape[:lead]
	if u.dotsBy < 0 {
		u.dots, u.dotsBy = dots, i
		u.e.act.ellipsis, u.e.act.spread = dots, true
		return true
	}
	if ir.SameShape(dots, u.dots) {
		return true
	}
	code := "shape-mismatch"
	if len(dots) != len(u.dots) {
		code = "rank-mismatch"
	}
	d := u.refuse(code, i, have, "the ... of %s is %s, but %s of %s", u.param(i).Name.Name, ir.ShapeString(dots), ir.ShapeString(u.dots), u.param(u.dotsBy).Name.Name)
	witness(d, u.ops[u.dotsBy].at, "%s", show(u.ops[u.dotsBy].val))
	note(d, "all the ... of one signature are the same")
	return false
}

// dimAt is the actual size for the k-th written dimension of parameter i.
func (u *unifier) dimAt(i, k int, have ir.Type) (axis int, d ir.Dim) {
	axis = have.Rank() - len(u.param(i).Type.Dims) + k
	return axis, have.Shape[axis]
}

// bareDims binds the names that stand alone in a shape.
func (u *unifier) bareDims(i int, have ir.Type) bool {
	for k, x := range u.param(i).Type.Dims {
		n, ok := x.(*syntax.NameExpr)
		if !ok || !u.sig.isDim[n.Name] {
			continue
		}
		axis, d := u.dimAt(i, k, have)
		bound, known := u.dims[n.Name]
		if !known {
			u.dims[n.Name] = boundDim{d, i}
			u.e.act.scope.set(n.Name, intVal{d: d}, u.ops[i].at)
			continue
		}
		if !bound.dim.Equal(d) {
			diagnosis := u.refuse("shape-mismatch", i, have, "dimension %d of %s is %s, not %s", axis, u.param(i).Name.Name, d, equation(n.Name, bound.dim))
			if u.ops[bound.by].at.Src != nil && bound.by != i {
				witness(diagnosis, u.ops[bound.by].at, "%s, %s", show(u.ops[bound.by].val), equation(n.Name, bound.dim))
			}
			return false
		}
	}
	return true
}

// equation says what an expression of dimensions is worth, N = 4, unless that is
// what it says itself.
func equation(written string, d ir.Dim) string {
	if written == d.String() || written == "" {
		return d.String()
	}
	return written + " = " + d.String()
}

// expressions compares the dimensions that are not bare names.
func (u *unifier) expressions() bool {
	ok := true
	for i := range u.ops {
		t, isTensor := u.ops[i].val.(tensorVal)
		if !isTensor || u.sig.kinds[i] != tensorParam {
			continue
		}
		for k, x := range u.param(i).Type.Dims {
			if n, bare := x.(*syntax.NameExpr); bare && u.sig.isDim[n.Name] {
				continue
			}
			want, known := u.e.intOf(x, "a dimension")
			axis, have := u.dimAt(i, k, t.v.Type)
			if !known {
				ok = false
				continue
			}
			if !want.Equal(have) {
				u.expressionDiffers(i, axis, x, have, want)
				ok = false
				break
			}
		}
	}
	return ok
}

// expressionDiffers reports a size that is not what an expression gives.
func (u *unifier) expressionDiffers(i, axis int, x syntax.Expr, have, want ir.Dim) {
	what := equation(text(x.Span()), want)
	t := u.ops[i].val.(tensorVal).v.Type
	d := u.refuse("shape-mismatch", i, t, "dimension %d of %s is %s, not %s", axis, u.param(i).Name.Name, have, what)
	if !have.IsConst() || !want.IsConst() {
		note(d, "a reshape to the wanted shape asserts that the sizes agree")
	}
}

// defaultArg evaluates the default of a parameter, in the scope of the fn.
func (e *elaborator) defaultArg(f funcVal, i int) operand {
	p := &f.decl.Params[i]
	o := operand{at: p.Default.Span()}
	if f.decl.Graph {
		o.val = e.defaultTensor(f, i)
		return o
	}
	e.inPath("", func() { o.val = e.eval(p.Default) })
	return o
}
