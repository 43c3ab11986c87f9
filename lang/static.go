package lang

import (
	"slices"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

// A staticScope is a scope as far as the source shows it.
type staticScope struct {
	outer *staticScope
	names map[string]*staticName
	order []*staticName
}

// A staticName is a name of a staticScope.
type staticName struct {
	name string
	at   diag.Span
	stmt diag.Span // the statement that binds it first
	read bool
	mute bool // never worth a warning: a parameter, a counter, one of several results
}

// dropUnread takes back the warnings about names whose statements have errors:
// what is wrong there is said already.
func (e *elaborator) dropUnread() {
	var wrong []diag.Span
	for _, d := range e.diags {
		if d.Severity == diag.Error {
			wrong = append(wrong, d.Span)
		}
	}
	e.diags = slices.DeleteFunc(e.diags, func(w *diag.Diagnostic) bool {
		stmt, ok := e.unread[w]
		return ok && slices.ContainsFunc(wrong, func(s diag.Span) bool { return covers(stmt, s) })
	})
}

// close warns of names that nothing has read.
func (r *resolver) close(s *staticScope) {
	for _, n := range s.order {
		if n.read || n.mute || strings.HasPrefix(n.name, "_") {
			continue
		}
		d := r.e.warnf("unused-name", n.at, "%s is never read", n.name)
		r.e.unread[d] = n.stmt
	}
}

// find looks for a name from the inside out.
func (s *staticScope) find(name string) *staticName {
	for ; s != nil; s = s.outer {
		if n := s.names[name]; n != nil {
			return n
		}
	}
	return nil
}

// bind adds a name, unless it is there already, in s or around it.
func (s *staticScope) bind(name string, at diag.Span, mute bool) *staticName {
	if n := s.find(name); n != nil {
		return n
	}
	n := &staticName{name: name, at: at, mute: mute}
	s.names[name] = n
	s.order = append(s.order, n)
	return n
}

// inner runs f in a scope inside the current one.
func (r *resolver) inner(f func()) {
	s := &staticScope{outer: r.scope, names: map[string]*staticName{}}
	r.scope = s
	f()
	r.close(s)
	r.scope = s.outer
}

// name resolves a name and marks it as read.
func (r *resolver) name(name string, at diag.Span, callee bool) {
	if _, isDType := dtypeWord(name); isDType || r.known(name) {
		return
	}
	r.e.unknownAmong(name, at, callee, func() []string { return r.visible(callee) })
}

// known reports whether a name stands for something, and marks it as read.
func (r *resolver) known(name string) bool {
	if n := r.scope.find(name); n != nil {
		n.read = true
		return true
	}
	if _, d, arg := r.space.find(name); arg != nil {
		return true
	} else if d != nil {
		r.used[d] = true
		return true
	}
	_, ok := builtin(name)
	return ok
}

// visible lists what name could have meant.
func (r *resolver) visible(callable bool) []string {
	var names []string
	for s := r.scope; s != nil; s = s.outer {
		for n := range s.names {
			names = append(names, n)
		}
	}
	return r.space.visible(names, callable)
}
