package lower

import (
	"sync"

	"github.com/npulang/npu/ir"
)

// Known keeps what is true of a function at all sizes, so that plans for several
// bindings work it out once: the names of values, and their calls with symbols. The
// function and its bodies must not change meanwhile. The zero value is ready for use
// by several goroutines.
type Known struct {
	mu    sync.Mutex
	funcs map[*ir.Func]*knownFunc
}

type knownFunc struct {
	names map[*ir.Value]string
	calls map[*ir.Value]*ir.Call // without those that are faulty
}

// of is what is known of a function or body; a nil *Known keeps nothing.
func (k *Known) of(f *ir.Func) *knownFunc {
	if k == nil {
		return &knownFunc{names: f.Names()}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.funcs[f]
	if known == nil {
		known = &knownFunc{names: f.Names(), calls: make(map[*ir.Value]*ir.Call, len(f.Body))}
		for _, v := range f.Body {
			if c := v.Call(); v.Op.Flags&ir.Projection == 0 && ir.InferCall(c) == nil {
				known.calls[v] = c
			}
		}
		if k.funcs == nil {
			k.funcs = map[*ir.Func]*knownFunc{}
		}
		k.funcs[f] = known
	}
	return known
}

// call is a value's call with symbols, its results included.
func (k *knownFunc) call(v *ir.Value) (*ir.Call, error) {
	if c := k.calls[v]; c != nil {
		return c, nil
	}
	c := v.Call()
	return c, ir.InferCall(c)
}
