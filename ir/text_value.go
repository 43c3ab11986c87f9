package ir

import (
	"errors"
	"slices"
)

// statement reads %v, %i = topk %u {k=5} : f32[B,5], i64[B,5] !a(b) @3:9.
func (p *parser) statement(s *scope) {
	names := p.targets()
	p.expect("=")
	opTok := p.word("an operator")
	op := p.operator(opTok)
	if p.err != nil {
		return
	}
	v := &Value{Op: op, Attrs: op.Defaults()}
	var elements *tensorText
	if op == Const {
		w := p.tensorText()
		elements = &w
	} else if !p.tok.first {
		v.Args = trimAbsent(p.args(s))
	}
	p.attrs(v)
	typesTok := p.tok
	types := p.types()
	v.Annots, v.Pos = p.annots(), p.loc()
	p.impliedAttrs(v, opTok, elements, types)
	p.bodies(s, v)
	if p.err == nil {
		p.finish(s, v, names, opTok, typesTok, types)
	}
}

// targets reads the names that a statement defines; _ is a result not wanted.
func (p *parser) targets() []token {
	var names []token
	for {
		t := p.tok
		if t.kind != tokValue && t.kind != tokTemp && !p.isWord("_") {
			p.expected("a value or return")
			return nil
		}
		names = append(names, t)
		p.next()
		if !p.accept(",") {
			return names
		}
	}
}

func (p *parser) operator(t token) *Op {
	if p.err != nil {
		return nil
	}
	op := Lookup(t.text)
	if op == nil {
		p.fail(t, "bad-ir", "unknown operator %s", t.text).suggest(t.text, opNames())
	} else if op == Input || op.Flags&Projection != 0 {
		p.fail(t, "bad-ir", "%s is not written as an operator", t.text)
	}
	return op
}

func opNames() []string {
	var names []string
	for _, op := range Ops() {
		names = append(names, op.Name)
	}
	return names
}

func (p *parser) args(s *scope) []*Value {
	if p.tok.kind != tokValue && p.tok.kind != tokTemp && !p.isWord("_") {
		return nil
	}
	var args []*Value
	for p.err == nil {
		if p.acceptWord("_") {
			args = append(args, nil)
		} else {
			args = append(args, p.use(s))
		}
		if !p.accept(",") {
			break
		}
	}
	return args
}

// attrs reads {axis=-1, eps=1e-05}.
func (p *parser) attrs(v *Value) {
	if !p.is("{") || len(v.Op.Regions) > 0 && !p.attrsAhead() {
		return
	}
	p.next()
	given := map[int]bool{}
	for !p.is("}") && p.err == nil {
		t := p.word("an attribute")
		i := slices.IndexFunc(v.Op.Attrs, func(a Attr) bool { return a.Name == t.text })
		if p.err == nil && i < 0 {
			p.fail(t, "bad-ir", "operator %s has no attribute %s", v.Op.Name, t.text).suggest(t.text, attrNames(v.Op))
		}
		if p.err == nil && given[i] {
			p.fail(t, "bad-ir", "attribute %s is given twice", t.text)
		}
		if p.err != nil {
			return
		}
		given[i] = true
		p.expect("=")
		if p.acceptWord("none") {
			v.Attrs[i] = None
		} else {
			v.Attrs[i] = litReaders[v.Op.Attrs[i].Kind](p)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
}

// attrsAhead tells the attributes of a region operator from its body.
func (p *parser) attrsAhead() bool {
	mark := *p
	p.next()
	ahead := p.is("}") || p.tok.kind == tokWord && !p.tok.first
	if ahead && p.tok.kind == tokWord {
		p.next()
		ahead = p.is("=")
	}
	p.rewind(mark)
	return ahead
}

func attrNames(op *Op) []string {
	var names []string
	for _, a := range op.Attrs {
		names = append(names, a.Name)
	}
	return names
}

// types reads : f32[B,5], i64[B,5].
func (p *parser) types() []Type {
	if !p.accept(":") {
		return nil
	}
	var types []Type
	for p.err == nil {
		types = append(types, p.typ())
		if !p.accept(",") {
			break
		}
	}
	return types
}

// impliedAttrs sets what the printed type says: the type of a weight, and that
// of a constant's elements.
func (p *parser) impliedAttrs(v *Value, at token, elements *tensorText, types []Type) {
	if p.err != nil || elements == nil && v.Op != Param {
		return
	}
	if len(types) != 1 {
		p.fail(at, "bad-ir", "%s needs one type", v.Op.Name)
		return
	}
	if elements == nil {
		v.Attrs[0] = TypeLit(types[0])
		return
	}
	v.Attrs[0] = TensorLit(p.finishTensor(*elements, types[0]))
}

// bodies reads the regions of a value.
func (p *parser) bodies(s *scope, v *Value) {
	for _, r := range v.Op.Regions {
		if r.Optional && (r.Label == "" || !p.isWord(r.Label) || p.tok.first) {
			continue
		}
		if r.Label != "" {
			p.expectWord(r.Label)
		}
		v.Bodies = append(v.Bodies, p.region(s, v, r))
	}
}

// region reads one body. Without a list of parameters of its own it has one for
// each argument that it reads, under the argument's name.
func (p *parser) region(outer *scope, v *Value, r RegionDecl) *Func {
	f := &Func{}
	p.regions++
	defer func() { p.regions-- }()
	if tooDeep(v.Op, p.regions) {
		p.fail(p.tok, "limit", "regions are nested more than %d deep", MaxNesting)
		return f
	}
	s := newScope(f)
	if p.is("(") || r.First < 0 {
		p.params(s)
	} else {
		p.implicitParams(outer, s, v, r)
	}
	p.body(s, "yield")
	return f
}

func (p *parser) implicitParams(outer, s *scope, v *Value, r RegionDecl) {
	for i := r.First; i < len(v.Args) && p.err == nil; i++ {
		a := v.Args[i]
		if a == nil || s.values[outer.keys[a]] != nil {
			p.fail(p.tok, "bad-ir", "the body needs a list of its parameters, since argument %d is absent or repeated", i)
			return
		}
		key, param := outer.keys[a], s.f.NewInput(a.Name, a.Type)
		s.values[key], s.keys[param] = param, key
	}
}

// finish infers the types of a value, compares them with those written, and
// binds the names.
func (p *parser) finish(s *scope, v *Value, names []token, opTok, typesTok token, types []Type) {
	c := v.Call()
	if err := inferSafely(c); err != nil {
		p.fail(opTok, codeOf(err), "%s: %s", v.Op.Name, message(err))
		var e *Error
		if errors.As(err, &e) {
			p.err.Notes, p.err.Helps = e.Notes, e.Helps
		}
		return
	}
	if len(names) > len(c.Out) {
		p.fail(names[len(c.Out)], "bad-ir", "%s has %s, but %d names are given", v.Op.Name, plural(len(c.Out), "result"), len(names))
		return
	}
	if types != nil && len(types) != len(c.Out) {
		p.fail(typesTok, "bad-ir", "%s has %s, but %d types are written", v.Op.Name, plural(len(c.Out), "result"), len(types))
		return
	}
	for i, t := range types {
		if !t.Equal(c.Out[i]) {
			p.fail(typesTok, "bad-ir", "%s: the type %s is written, but the result is %s", v.Op.Name, t, c.Out[i])
			return
		}
	}
	v.Type = c.Out[0]
	s.f.require(c) // a text written by hand need not say what a call relies on
	s.f.Body = append(s.f.Body, v)
	for i, t := range names {
		r := v
		if i > 0 {
			if t.kind == tokWord {
				continue // not wanted
			}
			r = projection(v, i, c.Out[i])
			s.f.Body = append(s.f.Body, r)
		}
		if t.kind != tokWord {
			p.define(s, t, r)
		}
	}
}
