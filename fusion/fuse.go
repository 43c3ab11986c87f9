package fusion

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes"
)

// A Fuser fuses the functions of one compilation.
type Fuser struct {
	options Options
	set     *Set
	errs    diag.List
}

// New makes a Fuser. Two rules of one name are an error.
func New(o Options) (*Fuser, diag.List) {
	set, errs := NewSet(o.Rules)
	return &Fuser{options: o, set: set}, errs
}

// Fuse outlines what is better run as one kernel: the work of the pass fuse. It
// is called for a function and for each region inside.
func (u *Fuser) Fuse(f *ir.Func, t *passes.Trace) {}

// Status tells of every rule what it did in all functions so far.
func (u *Fuser) Status() []Status { return nil }

// Errors lists what @fuse("name") asks for and cannot be done.
func (u *Fuser) Errors() diag.List { return u.errs }
