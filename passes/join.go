package passes

import (
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// joinProducts computes products of one input side by side, as one.
//
//	%q = matmul %x, %a : f32[B,64]         %0 = matmul %x, %abc : f32[B,192]
//	%k = matmul %x, %b : f32[B,64]     =>  %q = slice %0 {starts=[0], ends=[64], axes=[1]}
//	%v = matmul %x, %c : f32[B,64]         %k = slice %0 {starts=[64], ends=[128], axes=[1]}
//	                                       %v = slice %0 {starts=[128], ends=[192], axes=[1]}
//
// Each column of a product is computed alone, so that not a bit differs. The
// right sides are constants, and so are the biases, which are joined alike. Weights
// that are bound later are left to the fusion QKV, which reads the input once, joins
// nothing, and needs no slices.
//
// The slices cost a copy. It is worth that only where the products are moved
// anyway (heads that are split), or read by another product, and not where the
// operators behind would ride in the product's own task.
func joinProducts(f *ir.Func, t *Trace) {
	j := &joiner{t: t, users: f.Users(), uses: rewrite.NewUses(f), groups: map[sideKey][]*side{}}
	for _, v := range f.Body {
		j.add(v)
	}
	before := map[*ir.Value][]*ir.Value{}
	with := map[*ir.Value]*ir.Value{}
	for _, k := range j.order {
		if g := j.groups[k]; len(g) > 1 {
			before[g[0].product] = j.join(g, with)
		}
	}
	if len(with) == 0 {
		return
	}
	body := make([]*ir.Value, 0, len(f.Body)+len(with))
	for _, v := range f.Body {
		body = append(append(body, before[v]...), v)
	}
	f.Body = body
	f.Replace(with)
}

// A side is one of the products, with its bias if it has one.
type side struct {
	product *ir.Value
	weight  *tensor.T
	bias    *tensor.T // nil: none
	out     *ir.Value // the product, or bias_add of it
}

// A sideKey is what products side by side have in common.
type sideKey struct {
	x      *ir.Value
	op     *ir.Op
	biased bool
	apart  bool // the bias is one of bias_add
	annots string
	dtype  tensor.DType // that the products say; 0: none
}

type joiner struct {
	t      *Trace
	users  map[*ir.Value][]*ir.Value
	uses   *rewrite.Uses
	groups map[sideKey][]*side
	order  []sideKey // of the groups, as they begin
}

// add puts v into its group, if it is a product of a constant matrix that gains
// by it.
func (j *joiner) add(v *ir.Value) {
	if v.Op != ir.MatMul && v.Op != ir.Linear {
		return
	}
	s := &side{product: v, weight: constOf(v.Args[1]), out: v}
	if s.weight == nil || len(s.weight.Shape) != 2 || j.uses.Count(v) == 0 {
		return
	}
	if len(v.Args) > 2 {
		if s.bias = constOf(v.Args[2]); s.bias == nil {
			return
		}
	}
	j.biasBehind(s)
	if !j.moved(s.out) {
		return
	}
	k := sideKey{v.Args[0], v.Op, s.bias != nil, s.out != v, annotsText(v), attrOf(v, "dtype").DType}
	if j.groups[k] == nil {
		j.order = append(j.order, k)
	}
	j.groups[k] = append(j.groups[k], s)
}

// biasBehind takes a bias of constants that is all that reads the product.
func (j *joiner) biasBehind(s *side) {
	readers := j.readers(s.product)
	if j.uses.Count(s.product) != 1 || len(readers) != 1 || readers[0].Op != ir.BiasAdd || s.bias != nil || !slices.Equal(readers[0].Annots, s.product.Annots) {
		return
	}
	if c := constOf(readers[0].Args[1]); c != nil {
		s.bias, s.out = c, readers[0]
	}
}

// moved reports whether all that reads v moves it, or multiplies it; one that is
// a result of the function and no more is written where it belongs by its own
// product.
func (j *joiner) moved(v *ir.Value) bool {
	readers := j.readers(v)
	return len(readers) > 0 && !slices.ContainsFunc(readers, func(r *ir.Value) bool {
		return r.Op.Class != ir.Move && r.Op.Class != ir.Contract
	})
}

// readers lists who reads v and is read itself.
func (j *joiner) readers(v *ir.Value) []*ir.Value {
	var out []*ir.Value
	for _, r := range j.users[v] {
		if j.uses.Count(r) > 0 {
			out = append(out, r)
		}
	}
	return out
}

func annotsText(v *ir.Value) string {
	text := ""
	for _, a := range v.Annots {
		text += a.Name + "\x00" + a.Arg + "\x00"
	}
	return text
}

// join makes the product of all sides, and its slices, which stand for them.
func (j *joiner) join(g []*side, with map[*ir.Value]*ir.Value) []*ir.Value {
	first := g[0]
	columns := 1
	if first.product.Op == ir.Linear {
		columns = 0
	}
	var weights, biases []*tensor.T
	for _, s := range g {
		weights = append(weights, s.weight)
		biases = append(biases, s.bias)
	}
	made := &ir.Func{}
	weight := j.constant(made, weights, columns)
	var bias *ir.Value
	if first.bias != nil {
		bias = j.constant(made, biases, 0)
	}
	if weight == nil || first.bias != nil && bias == nil {
		return nil
	}
	parts := partsOfAll(made, product(made, first, weight, bias), g, columns)
	if parts == nil || !j.t.Rewrite("join-products", first.product) {
		return nil
	}
	dress(made, first.product)
	for i, s := range g {
		parts[i].Name, parts[i].Pos = s.out.Name, s.out.Pos
		with[s.out] = parts[i]
	}
	return made.Body
}

// partsOfAll slices the product of all sides, whose columns are an axis of their
// weights; nil if a part is not of the type of its side.
func partsOfAll(f *ir.Func, whole *ir.Value, g []*side, columns int) []*ir.Value {
	if whole == nil {
		return nil
	}
	var parts []*ir.Value
	at := 0
	for _, s := range g {
		n := s.weight.Shape[columns]
		part := columnsOf(f, whole, at, at+n)
		if part == nil || !part.Type.Equal(s.out.Type) {
			return nil
		}
		parts = append(parts, part)
		at += n
	}
	return parts
}

// constant joins tensors along an axis, within the bounds of folding; nil if
// that is too much.
func (j *joiner) constant(f *ir.Func, ts []*tensor.T, axis int) *ir.Value {
	c := &ir.Call{Op: ir.Concat, Attrs: []ir.Lit{ir.IntLit(int64(axis))}}
	for _, t := range ts {
		c.In = append(c.In, ir.TypeOf(t))
	}
	if ir.InferCall(c) != nil || !small(c) || !j.t.folded.take(c.Cost()) {
		return nil
	}
	out, err := ir.Evaluate(c, ts...)
	if err != nil {
		return nil
	}
	return addTo(f, ir.Const, nil, []ir.Lit{ir.TensorLit(out[0])})
}

func product(f *ir.Func, s *side, weight, bias *ir.Value) *ir.Value {
	args := []*ir.Value{s.product.Args[0], weight}
	apart := s.out != s.product
	if bias != nil && !apart {
		args = append(args, bias)
	}
	whole := addTo(f, s.product.Op, args, s.product.Attrs)
	if whole != nil && apart {
		whole = addTo(f, ir.BiasAdd, []*ir.Value{whole, bias}, nil)
	}
	return whole
}

func columnsOf(f *ir.Func, v *ir.Value, from, to int) *ir.Value {
	return addTo(f, ir.Slice, []*ir.Value{v}, []ir.Lit{
		ir.DimsLit(ir.N(int64(from))), ir.DimsLit(ir.N(int64(to))), ir.IntsLit(int64(v.Type.Rank() - 1)), ir.None,
	})
}

// addTo adds a call of an operator with one result; nil if it is not legal.
func addTo(f *ir.Func, op *ir.Op, args []*ir.Value, attrs []ir.Lit) *ir.Value {
	out, err := f.Add(op, args, attrs)
	if err != nil {
		return nil
	}
	return out[0]
}

// dress gives new values the place and the annotations of what they stand for.
func dress(f *ir.Func, as *ir.Value) {
	for _, v := range f.Body {
		v.Pos, v.Annots = as.Pos, as.Annots
	}
}
