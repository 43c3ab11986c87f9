package ir

import (
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
// behind the name where locations name none, and weights { ... yield %w } behind the
// body where weights are made of others.
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
	if p.acceptWord("weights") {
		f.Weights = &Func{Name: f.Name}
		p.body(newScope(f.Weights), "yield")
	}
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
