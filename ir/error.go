package ir

import "fmt"

// An Error says why a call is not legal, in words that the front ends can lay
// beside the source: which arguments disagree, what each has, the rule, a mend.
type Error struct {
	Code   string // a row of diag.Codes
	Msg    string // the statement, without the operator's name
	Labels []ArgLabel
	Notes  []string
	Helps  []string
}

// An ArgLabel says what is known about one argument of the call.
type ArgLabel struct {
	Arg  int
	Text string // "f32[B,256], K = 256"
}

// Errorf makes an Error of a code and a statement.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Label adds what is known about argument arg.
func (e *Error) Label(arg int, format string, args ...any) *Error {
	e.Labels = append(e.Labels, ArgLabel{arg, fmt.Sprintf(format, args...)})
	return e
}

// Note adds the rule that was broken.
func (e *Error) Note(format string, args ...any) *Error {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
	return e
}

// Help adds an edit to make.
func (e *Error) Help(format string, args ...any) *Error {
	e.Helps = append(e.Helps, fmt.Sprintf(format, args...))
	return e
}

func (e *Error) Error() string { return e.Msg + " [" + e.Code + "]" }
