package vm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/npulang/npu/ir/diag"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// An Error says where a run failed.
type Error struct {
	Stream string   // s0
	Task   int      // in the listing of tasks; of a body the one that runs it
	Op     string   // the operator, or the instruction where there is none
	Value  string   // that could not be computed: %u
	Pos    diag.Loc // in the source; may be nowhere
	Err    error    // an *ir.Error, or of code internal for a panic
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Pos.Line > 0 {
		if e.Pos.File != "" {
			b.WriteString(e.Pos.File + ":")
		}
		fmt.Fprintf(&b, "%d:", e.Pos.Line)
		if e.Pos.Col > 0 {
			fmt.Fprintf(&b, "%d:", e.Pos.Col)
		}
		b.WriteByte(' ')
	}
	fmt.Fprintf(&b, "%s: %v", e.Op, e.Err)
	fmt.Fprintf(&b, " (t%d on %s", e.Task, e.Stream)
	if e.Value != "" {
		fmt.Fprintf(&b, ", %s", e.Value)
	}
	b.WriteByte(')')
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

var (
	errClosed  = errors.New("the program is closed")
	errStopped = errors.New("stopped") // never leaves the package
)
