package npu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/vm"
)

// Diagnostics is a list of errors and warnings, each with its place and its
// code. As an error it is what Compile and Run return for a mistake in the
// program or its data: errors.As finds it, and errors.Is sees through it to what
// the system said (fs.ErrNotExist).
//
// Error gives the first line of each error. Render(w, color) writes the whole,
// with excerpts, notes and helps, as the command line shows it; WriteJSON writes
// one object a line.
type Diagnostics = diag.List

// A Diagnostic is one message. Code, Message, Notes and Helps are its parts,
// Place is where it points, String is its whole text, Headline the first line.
type Diagnostic = diag.Diagnostic

// AsDiagnostic brings any error into the form of a Diagnostic, so that a
// program can print all it meets in one way.
func AsDiagnostic(err error) *Diagnostic {
	var d *Diagnostic
	var list Diagnostics
	var e *ir.Error
	var broken *ir.Violation
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		return list[0]
	case errors.As(err, &d):
		return d
	case errors.As(err, &broken):
		return brokenIR(broken, err)
	case errors.As(err, &e):
		return &Diagnostic{Code: e.Code, Message: e.Msg, Notes: e.Notes, Helps: e.Helps}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Diagnostic{Code: "cancelled", Message: cancelled[errors.Is(err, context.Canceled)]}
	case errors.As(err, &path):
		return badFile(path.Path, path.Op, path.Err)
	case errors.As(err, &link):
		return badFile(link.New, link.Op, link.Err)
	}
	return &Diagnostic{Code: "bad-input", Message: err.Error()}
}

// brokenIR says what is wrong with a function that was given as IR or built in
// Go. One that a pass broke, of which err tells more, is a bug.
func brokenIR(broken *ir.Violation, err error) *Diagnostic {
	if err != error(broken) {
		return &Diagnostic{Code: "internal", Message: err.Error()}
	}
	d := &Diagnostic{Code: "bad-ir", Subject: broken.Func, Message: broken.Invariant}
	if broken.Detail != "" {
		d.Message += ": " + broken.Detail
	}
	if v := broken.Value; v != nil && v.Op != nil {
		d.Subject, d.Loc = v.Op.Name, v.Pos
		d.Notes = []string{fmt.Sprintf("this is about a value of type %s in @%s", v.Type, broken.Func)}
		if v.Name != "" {
			d.Notes = []string{fmt.Sprintf("this is about %%%s in @%s", v.Name, broken.Func)}
		}
	}
	return d
}

// cancelled is what ended a run, by whether somebody did.
var cancelled = map[bool]string{true: "interrupted", false: "the time that the run was given is over"}

// badFile says what the system would not do with a file.
func badFile(path, op string, err error) *Diagnostic {
	if path == "" {
		path = `""`
	}
	what, ok := fileOps[op]
	if !ok {
		what = op + " it"
	}
	return &Diagnostic{Code: "bad-file", Loc: diag.Loc{File: path}, Message: "cannot " + what + ": " + err.Error(), Cause: err}
}

// fileOps are the operations of package os in words.
var fileOps = map[string]string{
	"open": "open the file", "read": "read the file", "write": "write the file", "stat": "find the file", "lstat": "find the file",
	"mkdir": "make the folder", "rename": "write the file", "chmod": "write the file", "close": "write the file",
}

// runError turns the error of a run into a Diagnostics that names operator,
// value and source line. A context's error stays what it is.
func runError(err error) error {
	var bad *vm.Error
	var refused *ir.RunError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &bad):
		d := *AsDiagnostic(bad.Err)
		d.Subject, d.Loc = bad.Op, bad.Pos
		if bad.Value != "" {
			d.Notes = append(d.Notes, "computing "+bad.Value)
		}
		return Diagnostics{&d}
	case errors.As(err, &refused):
		d := *AsDiagnostic(refused.Err)
		d.Subject, d.Loc = refused.What, refused.Pos
		return Diagnostics{&d}
	}
	return asDiagnostics(err)
}

// excerpt lays errors beside the script that they come from; nil: there is none.
func excerpt(script *diag.Source, err error) error {
	var ds Diagnostics
	if script == nil || !errors.As(err, &ds) {
		return err
	}
	shown := make(Diagnostics, len(ds)) // runs may share an error
	for i, d := range ds {
		copied := *d
		if d.Span.Src == nil && d.Loc.File == script.Name {
			copied.Span = script.Word(d.Loc.Line, d.Loc.Col)
		}
		shown[i] = &copied
	}
	return shown
}

// asDiagnostics makes any error a list; nil stays nil.
func asDiagnostics(err error) Diagnostics {
	var list Diagnostics
	switch {
	case err == nil:
		return nil
	case errors.As(err, &list):
		return list
	}
	return Diagnostics{AsDiagnostic(err)}
}
