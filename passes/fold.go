package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// foldConst computes what is known when the program is compiled.
//
//	%a = const [1.0, 4.0] : f32[2]           %a = const [1.0, 4.0] : f32[2]   (dead)
//	%b = sqrt %a : f32[2]              =>    %b = const [1.0, 2.0] : f32[2]
//	%c = mul %x, %b : f32[2]                 %c = mul %x, %b : f32[2]
//
// The operator's own Eval computes it, the one that the interpreter and the VM
// call, so a folded program gives the same bits. Left alone are: operators with
// effects; regions, whose rounds are not known beforehand; what depends on a
// symbol; what would make too much or take too long (see the constants below).
// A call that fails is left in the graph, to fail when it runs, if it runs.
func foldConst(f *ir.Func, t *Trace) {
	known := map[*ir.Value]*tensor.T{}
	with := map[*ir.Value]*ir.Value{}
	further := map[*ir.Value][]*tensor.T{} // results of folded operators
	body := make([]*ir.Value, 0, len(f.Body))
	for _, v := range f.Body {
		for i, a := range v.Args {
			if c := with[a]; c != nil {
				v.Args[i] = c
			}
		}
		value := v
		// What projects from a folded operator goes the same way, without asking:
		// the two are one rewrite.
		if out := fold(v, known, further, &t.folded); out != nil && (projection(v) || t.Rewrite("fold-const", v)) {
			value = constant(v, out[0])
			with[v] = value
			further[value] = out
		}
		if value.Op == ir.Const {
			known[value] = value.Attrs[0].Tensor
		}
		body = append(body, value)
	}
	f.Body = body
	f.Replace(with)
}

func projection(v *ir.Value) bool { return v.Op.Flags&ir.Projection != 0 }

const (
	// maxFoldBytes bounds what one folded operator may add to the program: below
	// it, a constant costs less than a task that makes it.
	maxFoldBytes = 64 << 10
	// maxFoldWork bounds the time of one fold to some hundredths of a second: the
	// flops and the bytes that are read and written.
	maxFoldWork = 8 << 20
	// allFoldBytes and allFoldWork bound a whole run, so that no program makes
	// the compiler compute for minutes or fill the memory.
	allFoldBytes = 64 << 20
	allFoldWork  = 512 << 20
	// freeFold is not counted: the arithmetic of shapes always folds. It is about
	// what the value itself takes.
	freeFold = 256
)

// A foldBudget is what one run may still fold.
type foldBudget struct{ bytes, work int64 }

// newFoldBudget takes a lower bound of bytes from the user; 0: none.
func newFoldBudget(most int64) foldBudget {
	b := foldBudget{allFoldBytes, allFoldWork}
	if most > 0 {
		b.bytes = min(b.bytes, most)
	}
	return b
}

// take reports whether a fold is within the bounds, and counts it.
func (b *foldBudget) take(c ir.Cost) bool {
	work := c.Flops + c.In + c.Out
	switch {
	case c.Out <= freeFold && work <= 4*freeFold:
		return true
	case c.Out > maxFoldBytes || work > maxFoldWork:
		return false
	case c.Out > b.bytes || work > b.work:
		return false
	}
	b.bytes -= c.Out
	b.work -= work
	return true
}

// constant stands for a value whose elements are known.
func constant(v *ir.Value, t *tensor.T) *ir.Value {
	return &ir.Value{
		Op: ir.Const, Attrs: []ir.Lit{ir.TensorLit(t)},
		Type: v.Type, Name: v.Name, Pos: v.Pos, Annots: v.Annots,
	}
}

// fold computes v, or returns nil if that may not be done now. A projection is
// folded by what its owner gave.
func fold(v *ir.Value, known map[*ir.Value]*tensor.T, further map[*ir.Value][]*tensor.T, budget *foldBudget) []*tensor.T {
	if projection(v) {
		if out := further[v.Args[0]]; v.Index() < len(out) {
			return out[v.Index():]
		}
		return nil
	}
	if v.Op == ir.Const || v.Op.Eval == nil || v.Op.Class == ir.Region || v.Op.Flags&(ir.Impure|ir.Unbound) != 0 {
		return nil
	}
	args := make([]*tensor.T, len(v.Args))
	for i, a := range v.Args {
		if a == nil {
			continue
		}
		if args[i] = known[a]; args[i] == nil {
			return nil
		}
	}
	return evaluate(v, args, budget)
}

// evaluate runs v's Eval within the budget; nil means that v is better left
// alone.
func evaluate(v *ir.Value, args []*tensor.T, budget *foldBudget) []*tensor.T {
	c := v.Call()
	c.Known = args
	if ir.InferCall(c) != nil || !small(c) {
		return nil
	}
	bound, err := c.Bind(nil)
	if err != nil || !budget.take(bound.Cost()) {
		return nil
	}
	bound.Budget = &ir.Budget{Bytes: 2 * maxFoldWork}
	// Whatever goes wrong, a fault of the compiler included, is left to the run,
	// which reports it with the operator's name and place.
	out, err := ir.Evaluate(bound, args...)
	if err != nil || !ir.TypeOf(out[0]).Equal(v.Type) {
		return nil
	}
	return out
}

// small reports whether the results have known sizes, none beyond the bounds: a
// cost is counted for such calls only.
func small(c *ir.Call) bool {
	for _, t := range c.Out {
		if n, known := t.Bytes().Const(); !known || n > maxFoldBytes {
			return false
		}
	}
	return true
}
