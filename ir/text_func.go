package ir

import (
	"errors"
	"slices"

	"github.com/npulang/npu/ir/diag"
)

// A scope is the names of one function or body while it is read.
type scope struct {
	f      *Func
	values map[string]*Value // by nameKey
	spans  map[string]diag.Span
	keys   map[*Value]string // the other way round
}

func newScope(f *Func) *scope {
	return &scope{f, map[string]*Value{}, map[string]diag.Span{}, map[*Value]string{}}
}

// nameKey tells %12 and %"12" apart.
func nameKey(t token) string {
	if t.kind == tokTemp {
		return "#" + t.text
	}
	return "%" + t.text
}

// define binds the name at t to v.
func (p *parser) define(s *scope, t token, v *Value) {
	key := nameKey(t)
	if s.values[key] != nil && p.err == nil {
		p.fail(t, "bad-ir", "%s is defined twice", t.describe()).witness(s.spans[key], "defined here first")
		return
	}
	s.values[key], s.spans[key], s.keys[v] = v, t.span(p.src), key
	if t.kind == tokValue {
		v.Name = t.text
	}
}

// use reads the name of a value that is defined.
func (p *parser) use(s *scope) *Value {
	t := p.tok
	if t.kind != tokValue && t.kind != tokTemp {
		p.expected("a value")
		return nil
	}
	p.next()
	v := s.values[nameKey(t)]
	if v == nil && p.err == nil {
		p.fail(t, "bad-ir", "%s is not defined", t.describe()).suggest("%"+t.text, s.names())
	}
	return v
}

// names lists the names of the scope for suggestions.
func (s *scope) names() []string {
	var names []string
	for _, v := range append(slices.Clone(s.f.Params), s.f.Body...) {
		if v.Name != "" {
			names = append(names, "%"+quoteName(v.Name))
		}
	}
	return names
}

// function reads func @name(%x: f32[4]) -> (y: f32[4]) { ... }, with in "file"
// behind the name where locations name none.
func (p *parser) function() *Func {
	f := &Func{}
	s := newScope(f)
	p.file = ""
	p.expectWord("func")
	p.expect("@")
	f.Name = p.name("the name of a function")
	if p.acceptWord("in") {
		p.file = p.name("the name of a file")
	}
	p.params(s)
	p.expect("->")
	at := p.tok
	types := p.resultTypes(f)
	p.body(s, "return")
	p.checkResults(at, f, types)
	return f
}

func (p *parser) params(s *scope) {
	p.expect("(")
	for !p.is(")") && p.err == nil {
		t := p.tok
		if t.kind != tokValue && t.kind != tokTemp {
			p.expected("a parameter")
		}
		p.next()
		p.expect(":")
		v := s.f.NewInput("", p.typ())
		v.Annots, v.Pos = p.annots(), p.loc()
		p.define(s, t, v)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
}

// resultTypes reads f32[4] or (y: f32[4], f32[2]).
func (p *parser) resultTypes(f *Func) []Type {
	if !p.accept("(") {
		return []Type{p.typ()}
	}
	var types []Type
	named := false
	for !p.is(")") && p.err == nil {
		name := ""
		if mark := *p; p.tok.kind == tokString || p.tok.kind == tokWord {
			p.next()
			if p.accept(":") {
				name, named = mark.tok.text, true
			} else {
				p.rewind(mark)
			}
		}
		f.ResultNames = append(f.ResultNames, name)
		types = append(types, p.typ())
		if !p.accept(",") {
			break
		}
	}
	if !named {
		f.ResultNames = nil
	}
	p.expect(")")
	return types
}

func (p *parser) checkResults(at token, f *Func, types []Type) {
	if p.err != nil {
		return
	}
	if len(types) != len(f.Results) {
		p.fail(at, "bad-ir", "%s declared, %d returned", plural(len(types), "result"), len(f.Results))
		return
	}
	for i, v := range f.Results {
		if !v.Type.Equal(types[i]) {
			p.fail(at, "bad-ir", "result %d is declared %s, but %s is returned", i, types[i], v.Type)
		}
	}
}

// body reads { ... return %a, %b }; in a region the last word is yield.
func (p *parser) body(s *scope, last string) {
	p.expect("{")
	for p.isWord("assert") {
		p.assert(s.f)
	}
	for p.err == nil && !p.isWord(last) {
		p.statement(s)
	}
	p.expectWord(last)
	for !p.is("}") && p.err == nil {
		s.f.Results = append(s.f.Results, p.use(s))
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
}

// assert reads assert B*S == 4*T "reshape" @3:9.
func (p *parser) assert(f *Func) {
	p.next()
	a := Assert{Left: p.dim()}
	t := p.tok
	if t.kind != tokPunct || !slices.Contains(relationNames, t.text) {
		p.expected("one of == <= %")
		return
	}
	p.next()
	a.Rel, a.Right = t.text, p.dim()
	if p.tok.kind == tokString {
		a.What = p.tok.text
		p.next()
	}
	a.Pos = p.loc()
	f.Asserts = append(f.Asserts, a)
}

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
	if p.regions > maxRegionNesting {
		p.fail(p.tok, "limit", "regions are nested more than %d deep", maxRegionNesting)
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
