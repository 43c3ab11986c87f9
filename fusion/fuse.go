package fusion

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/device"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/passes"
)

// A Fuser fuses the functions of one compilation.
type Fuser struct {
	options Options
	set     *Set
	known   *sizes
	errs    diag.List

	trackers []*tracker // of all rules, in the order of Status
	named    []*tracker // of the set's rules
	grown    []*tracker // of the rows of growth

	done    map[*ir.Func]bool // bodies of fused regions, which are kernels already
	adapted bool              // the user's rules have the forms that simplification leaves
}

// New makes a Fuser. Two rules of one name are an error.
func New(o Options) (*Fuser, diag.List) {
	set, errs := NewSet(o.Rules)
	if o.Device == nil {
		o.Device = device.Lookup("cpu")
	}
	u := &Fuser{options: o, set: set, known: newSizes(o.Dims), done: map[*ir.Func]bool{}}
	u.track()
	return u, errs
}

// Fuse outlines what is better run as one kernel: the work of the pass fuse. It
// is called for a function, and then for each region inside.
func (u *Fuser) Fuse(f *ir.Func, t *passes.Trace) {
	if u.done[f] || u.options.Mode == None && len(u.options.Switches) == 0 {
		return
	}
	u.skipKernels(f)
	u.adapt(t.Options)
	w := &fusing{Fuser: u, graph: newGraph(f, u.known), trace: t}
	if u.options.SaveMemory {
		w.peak = newPeak(w.graph, u.options.Device.Host())
	}
	w.script()
	w.match()
	w.grow()
	w.outline(func(root int32) bool {
		if !t.Rewrite(w.groups[root].traits.name(), w.rootValue(root)) {
			return false
		}
		w.effect(root)
		return true
	})
}

// skipKernels notes the bodies of fused regions that are there already, so that
// nothing is fused inside.
func (u *Fuser) skipKernels(f *ir.Func) {
	for _, v := range f.Body {
		if v.Op == ir.Fused {
			for g := range v.Bodies[0].Funcs() {
				u.done[g] = true
			}
		}
	}
}

// Errors lists what @fuse("name") asks for and cannot be done.
func (u *Fuser) Errors() diag.List { return u.errs }

// A fusing is the work on one function.
type fusing struct {
	*Fuser
	*graph
	trace *passes.Trace
	names map[*ir.Value]string // made for the first refusal

	bans []ban
	peak *peak // set if memory has priority
}

// rootValue is the last operator of a group.
func (g *graph) rootValue(root int32) *ir.Value {
	last := none
	for _, id := range g.groups[root].members {
		last = max(last, id)
	}
	return g.vals[last].v
}

// name is the printed name of a value.
func (w *fusing) name(v *ir.Value) string {
	if w.names == nil {
		w.names = w.f.Names()
	}
	return w.names[v]
}

// effect counts a region for the rule that made it. Growth has counted what it
// joined.
func (w *fusing) effect(root int32) {
	if w.groups[root].rule != nil {
		w.trackerOf(root).Effects++
	}
}

// legal reports whether parts, which no cycle keeps apart, may become one kernel
// of the given traits on the device.
func (w *fusing) legal(m *merge, t *traits) *reason {
	if r := w.apart(m.parts); r != nil {
		return r
	}
	if r := dtypes(t, w.options.Device); r != nil {
		return r
	}
	if ok, detail := w.fits(m.parts, t, w.options.Device); !ok {
		return &reason{"on-chip-budget", detail}
	}
	if w.options.SaveMemory {
		return w.raises(m)
	}
	return nil
}
