package lang

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
)

// maxDiagnostics bounds what one compilation collects: nobody reads more, and a
// program that is generated must not drown the memory in messages.
const maxDiagnostics = 1000

// A place identifies what has been reported: one cause is one error, also when
// a fn is elaborated at many calls.
type place struct {
	src        *diag.Source
	start, end int
	code       string
}

// errorf reports an error and returns it, so that the caller can add labels,
// notes and helps.
func (e *elaborator) errorf(code string, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	e.report(d)
	return d
}

// warnf reports a warning.
func (e *elaborator) warnf(code string, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: diag.Warning, Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	e.report(d)
	return d
}

// report files a diagnostic, unless its place and code are filed already. One
// inside the library moves to the user's call that led there.
func (e *elaborator) report(d *diag.Diagnostic) {
	if e.stopped && d.Code != "limit" {
		return
	}
	e.leaveLibrary(d)
	if e.trap != nil {
		e.trap.catch(d)
		return
	}
	key := place{d.Span.Src, d.Span.Start, d.Span.End, d.Code}
	if e.reported[key] || len(e.diags) >= maxDiagnostics {
		return
	}
	e.reported[key] = true
	e.diags = append(e.diags, d)
}

// A trap catches the errors of an `expect error` block.
type trap struct{ caught diag.List }

// catch keeps an error; warnings inside the block say nothing.
func (t *trap) catch(d *diag.Diagnostic) {
	if d.Severity == diag.Error && len(t.caught) < maxDiagnostics {
		t.caught = append(t.caught, d)
	}
}

// leaveLibrary points a diagnostic at the last place outside the library on the
// way to it; the library's lines follow in Within.
func (e *elaborator) leaveLibrary(d *diag.Diagnostic) {
	if !e.inLibrary(d.Span) {
		e.noteCall(d)
		return
	}
	within := []diag.Label{{Span: d.Span, Text: cmp.Or(knownOf(d), d.Message)}}
	for a := e.act; a != nil; a = a.caller {
		if a.call.Src == nil {
			continue
		}
		if !e.inLibrary(a.call) {
			d.Span, d.Within, d.Label, d.Witnesses = a.call, within, "", nil
			return
		}
		within = append([]diag.Label{{Span: a.call, Text: "in " + a.name}}, within...)
	}
}

// knownOf joins what a diagnostic knows about its operands.
func knownOf(d *diag.Diagnostic) string {
	parts := make([]string, len(d.Witnesses))
	for i, w := range d.Witnesses {
		parts[i] = w.Text
	}
	return strings.Join(parts, " and ")
}

// noteCall says for an error inside a fn of the user's which call it is about.
func (e *elaborator) noteCall(d *diag.Diagnostic) {
	a := e.act
	if d.Severity != diag.Error || a == nil || a.call.Src == nil || a.call == d.Span || a.plain {
		return
	}
	if !covers(a.body, d.Span) {
		return
	}
	d.Notes = append(d.Notes, fmt.Sprintf("in the call of %s at %s", a.name, at(a.call)))
}

// covers reports whether one span lies in another.
func covers(outer, inner diag.Span) bool {
	return outer.Src == inner.Src && outer.Start <= inner.Start && inner.End <= outer.End
}

// inLibrary reports whether a span is in the standard library.
func (e *elaborator) inLibrary(s diag.Span) bool { return s.Src != nil && e.library[s.Src] }

// at prints where a span begins, file:line:col.
func at(s diag.Span) string {
	l := s.Loc()
	return fmt.Sprintf("%s:%d:%d", l.File, l.Line, l.Col)
}

// userSpan is s, or the user's call that led to it when it is in the library.
func (e *elaborator) userSpan(s diag.Span) diag.Span {
	if !e.inLibrary(s) {
		return s
	}
	for a := e.act; a != nil; a = a.caller {
		if a.call.Src != nil && !e.inLibrary(a.call) {
			return a.call
		}
	}
	return s
}

// A locator turns spans into places. It goes on from the last one when that is
// on the same line: a long chain of operators on one line stays linear.
type locator struct {
	last diag.Span
	loc  diag.Loc
}

// place is where a span begins.
func (l *locator) place(s diag.Span) diag.Loc {
	if s.Src != nil && s.Src == l.last.Src && max(s.Start, l.last.Start) <= len(s.Src.Text) {
		between := s.Src.Text[min(s.Start, l.last.Start):max(s.Start, l.last.Start)]
		if n, ok := oneLine(between); ok {
			if s.Start < l.last.Start {
				n = -n
			}
			l.loc.Col += n
			l.last = s
			return l.loc
		}
	}
	l.last, l.loc = s, s.Loc()
	return l.loc
}

// oneLine counts the characters of a text without a newline.
func oneLine(s string) (int, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			return 0, false
		}
	}
	return utf8.RuneCountInString(s), true
}

// where is the place that a value made at s carries.
func (e *elaborator) where(s diag.Span) diag.Loc { return e.locator.place(e.userSpan(s)) }

// A site is a call of an operator as the user wrote it.
type site struct {
	name string    // the operator's, as the subject of messages
	at   diag.Span // the culprit: an operator token, or the name of the callee
	args []operand // by argument of the operator's row; absent ones have no span
	// binary and its operands' text let a help write the mended expression.
	binary string
}

// refuse turns an operator's refusal of a call into a diagnostic.
func (e *elaborator) refuse(s site, err error, call *ir.Call) {
	d := &diag.Diagnostic{Code: "internal", Span: s.at, Subject: s.name, Message: err.Error()}
	var refusal *ir.Error
	if errors.As(err, &refusal) {
		d.Code, d.Message = refusal.Code, refusal.Msg
		d.Notes, d.Helps = append(d.Notes, refusal.Notes...), append(d.Helps, refusal.Helps...)
		for _, l := range refusal.Labels {
			if l.Arg >= 0 && l.Arg < len(s.args) && s.args[l.Arg].at.Src != nil {
				d.Witnesses = append(d.Witnesses, diag.Label{Span: s.args[l.Arg].at, Text: l.Text})
			}
		}
		if len(d.Witnesses) > 3 {
			d.Witnesses = d.Witnesses[:3]
		}
		d.Helps = append(d.Helps, mends(s, refusal, call)...)
	}
	e.report(d)
}

// witness adds what is known about another place.
func witness(d *diag.Diagnostic, at diag.Span, format string, args ...any) {
	if len(d.Within) == 0 && at.Src != nil && len(d.Witnesses) < 3 {
		d.Witnesses = append(d.Witnesses, diag.Label{Span: at, Text: fmt.Sprintf(format, args...)})
	}
}

// note adds the rule that was broken.
func note(d *diag.Diagnostic, format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// help adds an edit to make.
func help(d *diag.Diagnostic, format string, args ...any) {
	d.Helps = append(d.Helps, fmt.Sprintf(format, args...))
}
