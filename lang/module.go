package lang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/lang/syntax"
)

// An instance is a module with its arguments. Its weights are named by the path
// of instances that hold it.
type instance struct {
	decl   *syntax.ModuleDecl
	space  *space
	annots []syntax.Annotation // of the declaration that made it
}

// annotations are those of a fn, inside those of the instance and its module.
func (f funcVal) annotations() []syntax.Annotation {
	inst := f.in.self
	if inst == nil {
		return f.decl.Annots
	}
	return slices.Concat(inst.decl.Annots, inst.annots, f.decl.Annots)
}

// annotate notes the annotations of a declaration on the instances that it makes.
func annotate(v value, annots []syntax.Annotation) {
	switch v := v.(type) {
	case *instance:
		v.annots = annots
	case listVal:
		for _, el := range v.elems {
			annotate(el, annots)
		}
	}
}

// instantiate makes an instance of a module under the current path.
func (e *elaborator) instantiate(m moduleVal, at diag.Span, args []argument) value {
	name := m.decl.Name.Name
	ops, ok := e.match(name, at, m.decl.Params, args)
	if !ok {
		return poison{}
	}
	key := callKey{decl: m.decl}
	if e.busy[key] {
		d := e.errorf("recursion", at, "the module %s contains itself", name)
		witness(d, m.decl.Name.At, "%s is declared here", name)
		return poison{}
	}
	if e.act.depth >= maxCalls || !e.enter(at) {
		e.stop(at, "modules are nested more than %d deep", maxCalls)
		return poison{}
	}
	e.busy[key], e.made[m.decl] = true, true
	inst := &instance{decl: m.decl, space: &space{
		outer: m.in, file: m.in.file, path: e.act.path, args: map[string]*local{}, decls: map[string]*declared{},
	}}
	if inst.space.path == "" {
		inst.space.path = name
	}
	inst.space.self = inst
	a := &activation{name: name, call: at, in: inst.space, scope: newScope(nil, bodyScope), body: m.decl.At}
	e.inActivation(a, func() { ok = e.construct(inst, ops) })
	delete(e.busy, key)
	e.leave()
	if !ok {
		return poison{}
	}
	return inst
}

// construct binds the arguments and makes the members.
func (e *elaborator) construct(inst *instance, ops []operand) bool {
	ok := true
	for i := range inst.decl.Params {
		p := &inst.decl.Params[i]
		o := ops[i]
		if o.val == nil {
			e.inPath(inst.space.path+"."+p.Name.Name, func() { o = operand{e.eval(p.Default), p.Default.Span()} })
		}
		k := kindOf(p, false)
		v, good := convertStatic(k, o.val)
		if _, none := o.val.(noneVal); none && isNone(p.Default) {
			v, good = o.val, true
		}
		switch {
		case isPoison(o.val):
			ok = false
		case !good:
			e.wrongKind(inst.decl.Name.Name, p, k, o)
			ok = false
		}
		if old := inst.space.args[p.Name.Name]; old != nil {
			e.duplicate(p.Name, "parameter", old.at)
		}
		inst.space.args[p.Name.Name] = &local{v, p.Name.At}
	}
	if !ok {
		return false
	}
	if !e.step(inst.decl.At, instanceSteps+memberSteps*len(inst.decl.Members)) {
		return false
	}
	e.declare(inst.space, inst.decl.Members)
	for _, d := range inst.space.order {
		switch d.decl.(type) {
		case *syntax.InstanceDecl, *syntax.ConstDecl:
			ok = !isPoison(e.declaredValue(inst.space, d)) && ok
		}
	}
	return ok
}

// declaredValue evaluates a declaration, once; weights are made anew for every
// program that reads them.
func (e *elaborator) declaredValue(in *space, d *declared) value {
	if p, ok := d.decl.(*syntax.ParamDecl); ok {
		return e.param(in, p)
	}
	switch d.state {
	case done:
		return d.val
	case running:
		e.errorf("recursion", d.at, "%s depends on itself", d.name)
		return poison{}
	}
	d.state = running
	d.val = e.evalDecl(in, d)
	d.state = done
	return d.val
}

// evalDecl evaluates a declaration for the first time.
func (e *elaborator) evalDecl(in *space, d *declared) value {
	switch decl := d.decl.(type) {
	case *syntax.FuncDecl:
		return funcVal{decl, in}
	case *syntax.ModuleDecl:
		return moduleVal{decl, in}
	case *syntax.ImportDecl:
		return e.importedFile(in.file, decl)
	case *syntax.ConstDecl:
		return e.inDecl(in, d, decl.Value, "", e.constValue)
	case *syntax.InstanceDecl:
		path := d.name
		if in.path != "" {
			path = in.path + "." + d.name
		}
		v := e.inDecl(in, d, decl.Value, path, e.instanceValue)
		if len(decl.Annots) > 0 {
			annotate(v, decl.Annots)
		}
		return v
	}
	return poison{}
}

// inDecl evaluates the expression of a declaration where it stands.
func (e *elaborator) inDecl(in *space, d *declared, x syntax.Expr, path string, check func(*declared, operand) value) value {
	var v value = poison{}
	a := &activation{name: d.name, in: in, scope: newScope(nil, bodyScope), path: path, plain: true}
	if e.act != nil {
		a.call, a.body = e.act.call, e.act.body
	}
	if !e.enter(d.at) {
		return v
	}
	e.inActivation(a, func() {
		e.annotated(d.decl.Annotations(), func() { v = check(d, e.operand(x)) })
	})
	e.leave()
	return v
}

// constValue refuses constants that only a run would know.
func (e *elaborator) constValue(d *declared, o operand) value {
	if _, isTensor := o.val.(tensorVal); isTensor {
		diagnosis := e.errorf("not-constant", o.at, "%s is not known when the program is compiled", d.name)
		labelled(diagnosis, o)
		note(diagnosis, "a const is a number, a bool, a string, a dtype, an instance, a function or a list of such")
		return poison{}
	}
	return o.val
}

// instanceValue refuses what is no instance: values need const.
func (e *elaborator) instanceValue(d *declared, o operand) value {
	if isPoison(o.val) || isInstances(o.val) {
		return o.val
	}
	diagnosis := e.errorf("wrong-arguments", o.at, "%s is %s, not an instance of a module", d.name, o.val.noun())
	labelled(diagnosis, o)
	note(diagnosis, "name = expr makes instances; values need const")
	if _, isTensor := o.val.(tensorVal); !isTensor {
		help(diagnosis, "write const %s = %s", d.name, clip(text(o.at), 60))
	}
	return poison{}
}

// isInstances accepts instances, lists of them, and None: a submodule that is left
// out.
func isInstances(v value) bool {
	switch v := v.(type) {
	case *instance, noneVal:
		return true
	case listVal:
		for _, el := range v.elems {
			if !isInstances(el) {
				return false
			}
		}
		return true
	}
	return false
}

// inPath runs body with a path for the instances that it makes.
func (e *elaborator) inPath(path string, body func()) {
	old := e.act.path
	e.act.path = path
	body()
	e.act.path = old
}

// index extends a path by the position in a list.
func index(path string, i int) string {
	if path == "" {
		return ""
	}
	return path + "." + strconv.Itoa(i)
}

// callInstance calls the forward of an instance.
func (e *elaborator) callInstance(inst *instance, at diag.Span, op *syntax.CallOp) value {
	args, ok := e.evalArgs(op, nil)
	f, found := inst.space.decls["forward"]
	if !found {
		d := e.errorf("unknown-name", at, "the module %s has no forward", inst.decl.Name.Name)
		witness(d, inst.decl.Name.At, "declared here")
		note(d, "calling an instance calls its fn forward")
		return poison{}
	}
	fn, isFunc := f.decl.(*syntax.FuncDecl)
	if !isFunc {
		e.errorf("wrong-arguments", at, "forward of %s is not a fn", inst.decl.Name.Name)
		return poison{}
	}
	if !ok {
		return poison{}
	}
	return e.callFunc(funcVal{fn, inst.space}, inst.decl.Name.Name, at, args)
}

// member is instance.name.
func (e *elaborator) member(inst *instance, name syntax.Ident) value {
	if d := inst.space.decls[name.Name]; d != nil {
		return e.declaredValue(inst.space, d)
	}
	if a := inst.space.args[name.Name]; a != nil {
		return a.val
	}
	d := e.errorf("unknown-name", name.At, "the module %s has no member %s", inst.decl.Name.Name, name.Name)
	var names []string
	for _, m := range inst.space.order {
		names = append(names, m.name)
	}
	for _, p := range inst.decl.Params {
		if !slices.Contains(names, p.Name.Name) {
			names = append(names, p.Name.Name)
		}
	}
	if len(names) > 0 {
		note(d, "it has %s", strings.Join(names, ", "))
	}
	suggest(d, name.Name, names)
	return poison{}
}

// param is a weight of the program. However often it is read, it is one value.
func (e *elaborator) param(in *space, decl *syntax.ParamDecl) value {
	name := decl.Name.Name
	if in.path != "" {
		name = in.path + "." + name
	}
	if known := e.prog.params[name]; known != nil {
		if known.decl == decl && known.owner == in {
			return e.boundValue(known)
		}
		d := e.errorf("duplicate-name", decl.Name.At, "two weights have the full name %s", name)
		witness(d, known.decl.Name.At, "the other one")
		note(d, "a weight is named by the instances that hold it; make each instance under a name of its own")
		return poison{}
	}
	bound := &boundParam{decl: decl, owner: in, running: true, val: poison{}}
	e.prog.params[name] = bound
	var attrs []ir.Lit
	ok := false
	a := &activation{name: name, in: in, scope: newScope(nil, bodyScope), plain: true}
	e.inActivation(a, func() { attrs, ok = e.paramAttrs(decl) })
	bound.running = false
	if !ok {
		return bound.val
	}
	v := &ir.Value{Op: ir.Param, Attrs: attrs, Type: attrs[0].Type(), Name: name, Pos: e.where(decl.Name.At)}
	e.prog.weights = append(e.prog.weights, v)
	outer := e.annots
	e.annots = nil // where a weight is read first says nothing about it
	e.annotated(decl.Annots, func() { v.Annots = e.annots })
	e.annots = outer
	e.prog.declared[v] = decl.At
	bound.val = e.tensor(v)
	return bound.val
}

// boundValue is the value of a weight that was asked for before. A type or an
// init that names its own weight asks while it is evaluated.
func (e *elaborator) boundValue(p *boundParam) value {
	if p.running {
		e.errorf("recursion", p.decl.Name.At, "%s depends on itself", p.decl.Name.Name)
		return poison{}
	}
	return p.val
}

// paramAttrs evaluates the type and the init of a weight.
func (e *elaborator) paramAttrs(decl *syntax.ParamDecl) ([]ir.Lit, bool) {
	t, ok := e.typeOf(decl.Type)
	if !ok {
		return nil, false
	}
	attrs := ir.Param.Defaults()
	set := func(name string, l ir.Lit) {
		for i, a := range ir.Param.Attrs {
			if a.Name == name {
				attrs[i] = l
			}
		}
	}
	set("type", ir.TypeLit(t))
	if decl.Init == nil {
		return attrs, true
	}
	init, ok := e.initOf(decl.Init, t)
	if !ok {
		return nil, false
	}
	if init.value != nil {
		set("value", ir.TensorLit(init.value))
	} else {
		set("init", ir.StrLit(init.text))
	}
	return attrs, true
}

// whereDeclared tells where a weight was declared.
func (e *elaborator) whereDeclared(t tensorVal) []string {
	if d, ok := t.home.declared[t.v]; ok && !e.inLibrary(d) {
		return []string{t.v.Name + " is declared at " + at(d)}
	}
	return nil
}
