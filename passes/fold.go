package passes

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// foldConst computes what is known when the program is compiled.
//
//	%a = const {value=f32[2][1, 4]} : f32[2]
//	%b = sqrt %a : f32[2]              =>    %b = const {value=f32[2][1, 2]} : f32[2]
//	%c = mul %x, %b : f32[2]                 %c = mul %x, %b : f32[2]
//
// The operator's own Eval computes it, the one that the interpreter and the VM
// call, so a folded program gives the same bits. Left alone are: operators with
// effects; regions, whose rounds are not known beforehand; what depends on a
// symbol; what would make more than maxFoldBytes or take more than maxFoldFlops.
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
		if out := fold(v, known, further); out != nil && (projection(v) || t.Rewrite("fold-const", v)) {
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
	// maxFoldFlops bounds the time of one fold to some hundredths of a second.
	maxFoldFlops = 4 << 20
)

// constant stands for a value whose elements are known.
func constant(v *ir.Value, t *tensor.T) *ir.Value {
	return &ir.Value{
		Op: ir.Const, Attrs: []ir.Lit{ir.TensorLit(t)},
		Type: v.Type, Name: v.Name, Pos: v.Pos, Annots: v.Annots,
	}
}

// fold computes v, or returns nil if that may not be done now. A projection is
// folded by what its owner gave.
func fold(v *ir.Value, known map[*ir.Value]*tensor.T, further map[*ir.Value][]*tensor.T) []*tensor.T {
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
	return evaluate(v, args)
}

// evaluate runs v's Eval within the caps; nil means that v is better left
// alone.
func evaluate(v *ir.Value, args []*tensor.T) []*tensor.T {
	c := v.Call()
	c.Known = args
	if ir.InferCall(c) != nil || !small(c) {
		return nil
	}
	bound, err := c.Bind(nil)
	if err != nil || bound.Cost().Flops > maxFoldFlops {
		return nil
	}
	out := try(bound, args)
	if len(out) != len(c.Out) || len(out) == 0 || !ir.TypeOf(out[0]).Equal(v.Type) {
		return nil
	}
	return out
}

func small(c *ir.Call) bool {
	var total int64
	for _, t := range c.Out {
		n, known := t.Bytes().Const()
		if total += n; !known || total > maxFoldBytes {
			return false
		}
	}
	return true
}

// try calls Eval. Whatever goes wrong, a fault of the compiler included, is left
// to the run, which reports it with the operator's name and place.
func try(c *ir.Call, args []*tensor.T) (out []*tensor.T) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	out, err := c.Op.Eval(c, args...)
	if err != nil {
		return nil
	}
	return out
}
