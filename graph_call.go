package npu

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// add appends a call of an operator: what every generated method does.
func (g *Graph) add(op *ir.Op, args []Operand, attrs []Attr) []*Value {
	return g.call(op, args, attrs, func(vs []*ir.Value, lits []ir.Lit) ([]*ir.Value, error) {
		return g.frame().Add(op, vs, lits)
	}, promised(attrs))
}

// promised is how many results a call that fails leaves behind, so that the
// code which takes them apart goes on: as many as its attributes ask for.
func promised(attrs []Attr) int {
	n := int64(0)
	for _, a := range attrs {
		switch {
		case a.name == "sizes":
			n = max(n, int64(len(a.lit.Dims)))
		case a.name == "parts" || a.name == "n":
			n = max(n, a.lit.Int)
		}
	}
	return int(min(n, maxPromised))
}

const maxPromised = 1 << 12

// call prepares arguments and attributes, has the call appended, and turns its
// error into a diagnostic; the results are so many values without meaning then.
func (g *Graph) call(op *ir.Op, args []Operand, attrs []Attr, add func([]*ir.Value, []ir.Lit) ([]*ir.Value, error), promised int) []*Value {
	vs, ok := g.values(op, args)
	if !ok {
		return g.blanks(promised)
	}
	lits, err := literals(op, attrs)
	var results []*ir.Value
	if err == nil {
		results, err = add(vs, lits)
	}
	if err != nil {
		g.failCall(op, err)
		return g.blanks(promised)
	}
	place := caller().Loc()
	f := g.frame()
	f.Func.PlaceAsserts(place)
	out := make([]*Value, len(results))
	for i, r := range results {
		r.Pos, r.Annots = place, g.annots
		out[i] = &Value{g, r, f}
	}
	return out
}

// blanks are the results of a call that was not made.
func (g *Graph) blanks(n int) []*Value {
	out := make([]*Value, n)
	for i := range out {
		out[i] = &Value{g: g}
	}
	return out
}

// values turns operands into values; numbers become constants of the dtype of
// the first value among them, once it is known that all values are the graph's.
func (g *Graph) values(op *ir.Op, args []Operand) ([]*ir.Value, bool) {
	if !g.takesMore() {
		return nil, false
	}
	vs, dtype := make([]*ir.Value, len(args)), DType(0)
	for i, a := range args {
		v, ok := a.(*Value)
		if !ok || v == nil {
			continue
		}
		if vs[i] = g.use(op.Name, op.ArgName(i), v); vs[i] == nil {
			return nil, false
		}
		dtype = cmp.Or(dtype, vs[i].Type.DType)
	}
	for i, a := range args {
		if n, ok := a.(Num); ok {
			vs[i] = g.number(op, n, cmp.Or(dtype, F32))
		}
	}
	return vs, g.err == nil
}

// number makes a number a constant; nil: it does not fit the dtype.
func (g *Graph) number(op *ir.Op, n Num, d DType) *ir.Value {
	c, err := scalar(d, float64(n))
	if err != nil {
		g.failCall(op, err)
		return nil
	}
	return g.Const(c).v
}

// use returns the IR's value of v, for a reader and under the name that it has
// there, or nil after a mistake.
func (g *Graph) use(reader, name string, v *Value) *ir.Value {
	switch {
	case !g.takesMore():
	case v == nil:
		g.failf("missing-argument", reader, "%s is nil", name)
	case v.g != g || v.v == nil:
		g.failf("wrong-arguments", reader, "%s belongs to another graph", name)
	case !slices.Contains(g.frames, v.in):
		g.failf("wrong-arguments", reader, "%s was made in a body that is closed; what a body returns are the results of its If, For or While", name)
	default:
		return v.v
	}
	return nil
}

// takesMore reports whether the graph can be added to: it has no mistake, and has not
// been compiled.
func (g *Graph) takesMore() bool {
	if g.done != nil {
		g.failf("wrong-arguments", g.done.Name, "the graph is compiled; nothing can be added")
	}
	return g.err == nil
}

// literals lays the attributes that were set over the defaults.
func literals(op *ir.Op, attrs []Attr) ([]ir.Lit, error) {
	lits := op.Defaults()
next:
	for _, a := range attrs {
		if (a.lit.Kind == ir.KDType || a.lit.Kind == ir.KType) && a.lit.DType.Kind() == tensor.None {
			return nil, ir.Errorf("wrong-arguments", "attribute %s has no dtype", a.name)
		}
		for i, decl := range op.Attrs {
			if decl.Name == a.name {
				lits[i] = fit(decl.Kind, a.lit)
				continue next
			}
		}
		return nil, ir.Errorf("wrong-arguments", "has no attribute %s", a.name)
	}
	return lits, nil
}

// fit turns a literal into the kind that the row declares, where one builder
// function serves several kinds.
func fit(kind ir.AttrKind, l ir.Lit) ir.Lit {
	switch {
	case kind == ir.KInt && l.Kind == ir.KInts && len(l.Ints) == 1:
		return ir.IntLit(l.Ints[0])
	case kind == ir.KDims && l.Kind == ir.KInts:
		return ir.DimsLit(dimsOf(l.Ints)...)
	case (kind == ir.KDim || kind == ir.KNum) && l.Kind == ir.KInts && len(l.Ints) == 1:
		return ir.DimLit(ir.N(l.Ints[0]))
	case kind == ir.KFloat && l.Kind == ir.KInts && len(l.Ints) == 1:
		return ir.FloatLit(float64(l.Ints[0]))
	case kind == ir.KFloat && l.Kind == ir.KDim && len(l.Dims) == 1 && l.Dims[0].IsConst():
		n, _ := l.Dims[0].Const()
		return ir.FloatLit(float64(n))
	case kind == ir.KDim && l.Kind == ir.KDims && len(l.Dims) == 1:
		return ir.DimLit(l.Dims[0])
	case kind == ir.KInts && l.Kind == ir.KDims:
		ints := make([]int64, len(l.Dims))
		for i, d := range l.Dims {
			n, ok := d.Const()
			if !ok {
				return l
			}
			ints[i] = n
		}
		return ir.IntsLit(ints...)
	}
	return l
}

func dimsOf(ns []int64) []ir.Dim {
	out := make([]ir.Dim, len(ns))
	for i, n := range ns {
		out[i] = ir.N(n)
	}
	return out
}

func intsLit(ns []int) ir.Lit {
	out := make([]int64, len(ns))
	for i, n := range ns {
		out[i] = int64(n)
	}
	return ir.IntsLit(out...)
}

// numLit keeps whole numbers exact.
func numLit(f float64) ir.Lit {
	if n := int64(f); float64(n) == f && n > -1<<53 && n < 1<<53 {
		return ir.DimLit(ir.N(n))
	}
	return ir.FloatLit(f)
}

func first(vs []*Value) *Value { return nth(vs, 0) }

func nth(vs []*Value, i int) *Value {
	if i >= len(vs) {
		return &Value{}
	}
	return vs[i]
}

func (g *Graph) parseType(text string) (ir.Type, bool) {
	t, err := ir.ParseType(text)
	if err != nil {
		d := *AsDiagnostic(err)
		d.Subject = "type " + text
		g.fail(d)
		return ir.Type{}, false
	}
	return t, true
}

// failCall reports what an operator said of its arguments.
func (g *Graph) failCall(op *ir.Op, err error) {
	d := diag.Diagnostic{Code: "wrong-arguments", Subject: op.Name, Message: err.Error()}
	if e, ok := err.(*ir.Error); ok {
		d = diag.Diagnostic{Code: e.Code, Subject: op.Name, Message: e.Msg, Notes: e.Notes, Helps: e.Helps}
		for _, l := range e.Labels {
			d.Notes = append(d.Notes, op.ArgName(l.Arg)+" is "+l.Text)
		}
	}
	g.fail(d)
}

func (g *Graph) failf(code, subject, format string, args ...any) {
	g.fail(diag.Diagnostic{Code: code, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

// fail keeps the first mistake, with the place of the call that made it.
func (g *Graph) fail(d diag.Diagnostic) {
	if g.err == nil {
		d.Span = caller()
		d.Loc = d.Span.Loc()
		g.err = &d
	}
}

// caller finds the line outside this package that called the builder; the
// file is named without its folder, so that listings are the same everywhere.
func caller() diag.Span {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if !inBuilder(f.Function) {
			return diag.At(filepath.Base(f.File), f.Line)
		}
		if !more {
			return diag.Span{}
		}
	}
}

// inBuilder reports whether a function is a method of the builder, or one that
// it calls back through.
func inBuilder(function string) bool {
	return strings.HasPrefix(function, "github.com/npulang/npu.(*Graph)") || strings.HasPrefix(function, "github.com/npulang/npu.caller") || strings.HasPrefix(function, "runtime.")
}
