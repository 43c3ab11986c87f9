package ir

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
)

// An Interp runs functions by the reference evaluation of their operators, one
// value after the other. It is the oracle: whatever else runs a program must
// give the same.
type Interp struct {
	// Param finds the tensor of a weight that is not made of others; nil if there are
	// none.
	Param  func(*Value) (*tensor.T, error)
	Budget *Budget // what a run may use; nil: anything
	// Trace, if set, sees the results of every value of the outer function.
	Trace func(*Value, []*tensor.T)
}

// A Budget bounds what evaluation may use. It may be shared by calls that run
// at the same time. A nil Budget has no bounds.
type Budget struct {
	Bytes int64 // of results that are still needed and of scratch memory; 0: any number
	// Stop, if set, is asked before each value and round, and by long evaluations
	// now and then; an error ends the run.
	Stop func() error
	// Grow, if set, is asked when more bytes are to be in use than it has granted
	// so far. It grants at least as many in all, and returns how many.
	Grow func(want int64) (granted int64, err error)

	used, granted atomic.Int64
}

// Reset makes the budget as good as new, with some bytes granted already.
func (b *Budget) Reset(granted int64) {
	b.used.Store(0)
	b.granted.Store(granted)
}

// Take asks for n bytes.
func (b *Budget) Take(n int64) error {
	if b == nil {
		return nil
	}
	used := b.used.Add(n)
	err := b.allow(used, n)
	if err != nil {
		b.used.Add(-n)
	}
	return err
}

func (b *Budget) allow(used, n int64) error {
	if b.Bytes > 0 && used > b.Bytes {
		return Errorf("limit", "needs %d bytes more, but %d of %d are in use", n, used-n, b.Bytes)
	}
	if b.Grow == nil || used <= b.granted.Load() {
		return nil
	}
	granted, err := b.Grow(used)
	if err == nil {
		b.granted.Store(granted)
	}
	return err
}

// Give returns n bytes.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// stop asks whether the run is to end.
func (b *Budget) stop() error {
	if b == nil || b.Stop == nil {
		return nil
	}
	return b.Stop()
}

// A RunError says where a run failed.
type RunError struct {
	What  string   // the operator, or the construct that made an assert
	Value *Value   // the value that could not be computed; nil for an assert
	Pos   diag.Loc // in the source; may be nowhere
	Err   error    // an *Error, or what a callback returned
}

func (e *RunError) Error() string {
	var b strings.Builder
	if e.Pos.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:", e.Pos.File, e.Pos.Line)
		if e.Pos.Col > 0 {
			fmt.Fprintf(&b, "%d:", e.Pos.Col)
		}
		b.WriteByte(' ')
	}
	if e.What != "" {
		b.WriteString(e.What + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *RunError) Unwrap() error { return e.Err }

// Run computes the results of f. The symbols are bound by the shapes of the
// inputs. f must be verified. An error is an *Error about the inputs, or a
// *RunError. Inputs are not written to, but results may share their memory.
func (in *Interp) Run(f *Func, inputs ...*tensor.T) ([]*tensor.T, error) {
	types := make([]Type, len(inputs))
	for i, t := range inputs {
		if t == nil {
			return nil, Errorf("bad-input", "input %d is missing", i)
		}
		types[i] = TypeOf(t)
	}
	env, err := BindSymbols(f, types)
	if err != nil {
		return nil, err
	}
	b, err := bind(f, env, in.Budget)
	if err != nil {
		return nil, err
	}
	if in, err = in.withMade(f); err != nil {
		return nil, err
	}
	return b.run(in, inputs)
}

// Evaluate computes one bound call by the reference evaluation of its operator.
// A panic there, and results of other types than inferred, are errors of code
// internal.
func Evaluate(c *Call, args ...*tensor.T) (out []*tensor.T, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, Errorf("internal", "%s failed: %v", c.Op.Name, r)
		}
	}()
	if c.Op.Eval == nil {
		return nil, Errorf("internal", "%s has no evaluation", c.Op.Name)
	}
	c.Scratch.reset()
	if out, err = c.Op.Eval(c, args...); err != nil {
		return nil, err
	}
	// Long loops without an error of their own just end when they are to stop.
	if err := c.Budget.stop(); err != nil {
		return nil, err
	}
	if len(out) != len(c.Out) {
		return nil, Errorf("internal", "%s gave %d results instead of %d", c.Op.Name, len(out), len(c.Out))
	}
	for i, t := range out {
		if !isOfType(t, c.Out[i]) {
			return nil, Errorf("internal", "%s gave %s for result %d instead of %s", c.Op.Name, TypeOf(t), i, c.Out[i])
		}
	}
	return out, nil
}

// isOfType reports whether a tensor has a type without symbols.
func isOfType(t *tensor.T, typ Type) bool {
	if t.DType != typ.DType || len(t.Shape) != len(typ.Shape) {
		return false
	}
	for i, n := range t.Shape {
		if size, ok := typ.Shape[i].Const(); !ok || size != int64(n) {
			return false
		}
	}
	return true
}
