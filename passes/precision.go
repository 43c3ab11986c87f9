package passes

import (
	"cmp"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/diag"
	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/passes/rewrite"
)

// A Precision says in which dtype products are computed. The zero value leaves them
// as they are written; an annotation @precision(dtype) on a value goes before it.
type Precision struct {
	// To is the dtype of the operands: F32, BF16, F16, or I8 for quantised ones.
	To tensor.DType
	// Scales, for I8, are the largest magnitudes of left operands, by what Product.Key
	// says; an operand without one is measured row by row, in each run.
	Scales map[string]float64
	// Measure leaves all products as they are written, and adds results to the graph:
	// the least and the largest element of each left operand that bytes may stand for.
	Measure bool
}

// A Product tells in which dtype one product is computed, and why.
type Product struct {
	Value string // the printed name of what computes it, behind the pass
	Op    string
	Pos   diag.Loc
	// Key names the product in a file of scales: by the weight that its right operand
	// is made of, else by its own name.
	Key      string
	From, To tensor.DType // of the operands: as written, as computed
	Asked    tensor.DType // Invalid: nothing was asked for
	Why      string       // what is done, or why it stays as it is written
	Followed bool         // it is computed as asked
	Annot    bool         // asked by an annotation
	Inner    bool         // it stands in the body of a region, and has no range of its own
	Measured bool         // the next two of the graph's last results are its range
}

// lowerPrecision computes products in a shorter dtype, if that is asked for; sums are
// of f32, or of i32 for bytes.
//
//	%y = matmul %x, %w : f32[B,N]     =>     %0 = cast %x {dtype=bf16} : bf16[B,K]
//	                                         %1 = cast %w {dtype=bf16} : bf16[K,N]
//	                                         %y = matmul %0, %1 {dtype=f32} : f32[B,N]
//
// For bytes each column of the right operand, which has to be static, has a scale,
// and so has each row of the left one, or the whole of it where its range is known:
//
//	%ws = max(|%w| by column) / 127          %xs = max(|%x| by row) / 127
//	%wq = quantize_linear %w, %ws            %xq = quantize_linear %x, %xs
//	%y = cast<f32>(matmul %xq, %wq {dtype=i32}) * %xs * %ws
//
// What comes of static operands is taken out of the runs by make-weights. The graph
// says all that is rounded, so that what runs it has nothing to add.
//
// Bodies of regions are lowered with what is around them: see enclosure.
func lowerPrecision(f *ir.Func, t *Trace) {
	if f == t.top {
		lowerBody(f, t, nil)
	}
}

// lowerBody lowers one function; around is nil for the graph.
func lowerBody(f *ir.Func, t *Trace, around *enclosure) {
	l := &lowering{f: f, t: t, around: around, names: f.Names(), casts: map[castKey]*ir.Value{}, scaled: map[scaleKey]*quantised{}}
	l.static = newWeightMaker(f, t, l.known()...)
	// What an earlier pass has replaced is there still, and is no product of the graph.
	live := liveIn(f)
	with := map[*ir.Value]*ir.Value{}
	body := f.Body
	f.Body = make([]*ir.Value, 0, len(body))
	for _, v := range body {
		replaceArgs(v.Args, with)
		if !live[v] {
			f.Body = append(f.Body, v)
		} else if made := l.value(v); made != v {
			with[v] = made
		}
	}
	replaceArgs(f.Results, with)
	for _, v := range f.Body {
		v.Annots = withoutPrecision(v.Annots)
	}
	l.rename()
}

// withoutPrecision are the annotations that later passes go by. Values may share the
// memory of theirs.
func withoutPrecision(list []ir.Annot) []ir.Annot {
	if !slices.ContainsFunc(list, isPrecision) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), isPrecision)
}

func isPrecision(a ir.Annot) bool { return a.Name == precisionAnnot }

const precisionAnnot = "precision"

// PrecisionAnnot asks that a product be computed in a dtype, one of ir.Precisions.
func PrecisionAnnot(d tensor.DType) ir.Annot {
	p, _ := ir.PrecisionOf(d)
	return ir.Annot{Name: precisionAnnot, Arg: p.Name}
}

func replaceArgs(args []*ir.Value, with map[*ir.Value]*ir.Value) {
	for i, a := range args {
		if w := with[a]; w != nil {
			args[i] = w
		}
	}
}

// A lowering is the state of the pass in one function, whose body it makes anew.
type lowering struct {
	f      *ir.Func
	around *enclosure
	t      *Trace
	names  map[*ir.Value]string // before the pass
	static *weightMaker         // knows what is static
	casts  map[castKey]*ir.Value
	scaled map[scaleKey]*quantised
	failed bool // a call was not legal
	listed []listed
}

// A listed product, by its place in the list, is computed by a value: by itself, or in a
// body that the value has.
type listed struct {
	at    int
	value *ir.Value
	inner bool // it stands in a body
}

// rename calls products what they are printed as behind the pass.
func (l *lowering) rename() {
	names := l.f.Names()
	for _, p := range l.listed {
		if of := &l.t.products[p.at]; p.inner {
			of.Value += " in " + names[p.value]
		} else {
			of.Value = names[p.value]
		}
	}
}

type castKey struct {
	v  *ir.Value
	to tensor.DType
}

// value adds v, or what stands for it, to the new body, and returns what that is.
func (l *lowering) value(v *ir.Value) *ir.Value {
	if p := l.product(v); p != nil {
		made := l.lower(v, p)
		l.listed = append(l.listed, listed{len(l.t.products), cmp.Or(made, v), false})
		l.t.products = append(l.t.products, *p)
		if made != nil {
			return made
		}
	}
	l.bodies(v)
	l.f.Body = append(l.f.Body, v)
	return v
}

// multiplies are the operators that the pass tells of: why one stays as it is
// written, or nothing for those that can be computed in other dtypes.
var multiplies = map[*ir.Op]string{
	ir.MatMul:        "",
	ir.Linear:        "",
	ir.Attention:     "the kernels of attention compute in f32",
	ir.Conv:          "the kernels of convolutions compute in f32",
	ir.ConvTranspose: "the kernels of convolutions compute in f32",
	ir.Einsum:        "of sums of products only matmul and linear are computed in other dtypes",
	ir.Dot:           "a product of vectors is one pass over them",
	ir.Outer:         "a product of vectors is one pass over them",
}

// product describes v; nil: it is no product.
func (l *lowering) product(v *ir.Value) *Product {
	if _, known := multiplies[v.Op]; !known || len(v.Args) < 2 {
		return nil
	}
	p := &Product{Value: l.valueName(v), Op: v.Op.Name, Pos: v.Pos, Key: l.static.first[v.Args[1]], From: v.Args[0].Type.DType, Asked: l.t.Options.Precision.To}
	if p.Key == "" {
		p.Key = l.ownKey(v)
	}
	for _, a := range v.Annots {
		if asked, ok := ir.PrecisionNamed(a.Arg); ok && a.Name == precisionAnnot {
			p.Asked, p.Annot = asked.DType, true
		}
	}
	p.To, p.Inner = p.From, l.around != nil
	return p
}

// lower makes what stands for a product; nil: it stays, and p says why.
func (l *lowering) lower(v *ir.Value, p *Product) *ir.Value {
	if l.t.Options.Precision.Measure {
		p.Measured = l.measure(v, p)
		return nil
	}
	if p.Asked == tensor.Invalid || p.Asked == p.From {
		p.Followed, p.Why = true, "as written"
		return nil
	}
	if p.Why = l.refusal(v, p); p.Why != "" {
		return nil
	}
	if !l.t.lower(v, p.Asked) {
		p.Why = "the rewrite precision is switched off, or the fuel is spent"
		return nil
	}
	at, make := len(l.f.Body), (*lowering).shorter
	if p.Asked == tensor.I8 {
		make = (*lowering).bytes
	}
	made := make(l, v, p)
	if l.failed || !made.Type.Equal(v.Type) {
		// No call of this shape is legal in the other dtype.
		l.f.Body, l.failed = l.f.Body[:at], false
		clear(l.casts)
		clear(l.scaled)
		p.Why = "it has no such form"
		return nil
	}
	for _, n := range l.f.Body[at:] {
		n.Pos = v.Pos
		if !l.static.static[n] {
			n.Annots = slices.Clone(v.Annots)
		}
	}
	made.Name = v.Name
	p.To, p.Followed = p.Asked, true
	return made
}

// roughWithin is how far results may be off, of their largest, where the dtype of a
// product is another: some roundings of its operands. No bound holds for a deep
// network; npu compare measures.
var roughWithin = map[tensor.DType]float64{tensor.F32: tolerance, tensor.F16: 1.0 / 128, tensor.BF16: 1.0 / 16, tensor.I8: 1.0 / 8}

// lower records that a product is computed in another dtype, and reports whether it may.
func (t *Trace) lower(v *ir.Value, to tensor.DType) bool {
	return t.enabled("precision") && t.record("precision", v, roughWithin[to])
}

// maxByteSum is the longest sum of products of two signed bytes that no i32 overflows.
const maxByteSum = 1<<31/(128*128) - 1

// refusals are the reasons why a product stays as it is written, in the order in which
// they are looked for.
var refusals = []struct {
	why   string
	bytes bool // of I8 only
	holds func(*lowering, *ir.Value, *Product) bool
}{
	{"its operands are integers", false, func(_ *lowering, _ *ir.Value, p *Product) bool { return !p.From.IsFloat() }},
	{"its operands are as short already", false, func(_ *lowering, _ *ir.Value, p *Product) bool { return p.Asked.Size() >= p.From.Size() }},
	{"it stands in a fused region, which is made behind the conversion", false, func(l *lowering, _ *ir.Value, _ *Product) bool {
		return l.around != nil && l.around.region.Op == ir.Fused
	}},
	{"it stands in a loop or a branch, and is measured in each run", false, func(l *lowering, _ *ir.Value, _ *Product) bool {
		return l.around != nil && l.t.Options.Precision.Measure
	}},
	{"its weights are made in a loop or a branch, and would be converted again and again", false, func(l *lowering, v *ir.Value, _ *Product) bool {
		w := v.Args[1]
		return l.around != nil && l.static.static[w] && l.static.first[w] != "" && l.outside(w, maxOutside) == nil
	}},
	{"both its operands are known before the runs, which do not compute it", false, func(l *lowering, v *ir.Value, _ *Product) bool {
		return l.static.static[v.Args[0]] && l.static.static[v.Args[1]]
	}},
	{"its right operand is computed in each run: bytes need one that is known before", true, func(l *lowering, v *ir.Value, _ *Product) bool { return !l.static.static[v.Args[1]] }},
	{"its right operand is no matrix", true, func(_ *lowering, v *ir.Value, _ *Product) bool { return v.Args[1].Type.Rank() < 2 }},
	{"a vector is multiplied by a batch of matrices", true, func(_ *lowering, v *ir.Value, _ *Product) bool {
		return v.Args[0].Type.Rank() == 1 && v.Args[1].Type.Rank() > 2
	}},
	{"its sums have no element", true, func(_ *lowering, v *ir.Value, _ *Product) bool { return sumLength(v) == 0 }},
	{"its sums are so long that an i32 may overflow", true, func(_ *lowering, v *ir.Value, _ *Product) bool { return sumLength(v) > maxByteSum }},
}

// refusal says why a product stays; empty: it does not.
func (l *lowering) refusal(v *ir.Value, p *Product) string {
	if why := multiplies[v.Op]; why != "" {
		return why
	}
	for _, r := range refusals {
		if (!r.bytes || p.Asked == tensor.I8) && r.holds(l, v, p) {
			return r.why
		}
	}
	return ""
}

// sumAxis is the axis of the right operand that a product sums over.
func sumAxis(v *ir.Value) int {
	if v.Op == ir.Linear {
		return 1
	}
	return max(v.Args[1].Type.Rank()-2, 0)
}

// sumLength is how many products of elements make one of the result.
func sumLength(v *ir.Value) int64 {
	n, _ := v.Args[1].Type.Shape[sumAxis(v)].Const()
	return n
}

// shorter computes a product of floats in shorter ones, with sums of f32.
func (l *lowering) shorter(v *ir.Value, p *Product) *ir.Value {
	p.Why = "operands rounded to " + p.Asked.String() + ", sums in f32"
	args := []*ir.Value{l.cast(v.Args[0], p.Asked), l.cast(v.Args[1], p.Asked)}
	bias := biasOf(v)
	if bias != nil && v.Type.DType == tensor.F32 {
		return l.call(v.Op, append(args, bias), set("dtype", ir.DTypeLit(tensor.F32)))
	}
	return l.biased(l.call(v.Op, args, set("dtype", ir.DTypeLit(tensor.F32))), bias, v.Type.DType)
}

// biasOf is the bias that a product adds; nil: none.
func biasOf(v *ir.Value) *ir.Value {
	if v.Op == ir.Linear && len(v.Args) > 2 {
		return v.Args[2]
	}
	return nil
}

// biased brings y to a dtype and adds a bias to it, if there is one.
func (l *lowering) biased(y, bias *ir.Value, to tensor.DType) *ir.Value {
	y = l.cast(y, to)
	if bias != nil {
		y = l.call(ir.BiasAdd, []*ir.Value{y, bias})
	}
	return y
}

// cast makes v of another dtype, once for all who ask.
func (l *lowering) cast(v *ir.Value, to tensor.DType) *ir.Value {
	if v == nil || v.Type.DType == to {
		return v
	}
	k := castKey{v, to}
	if l.casts[k] == nil {
		l.casts[k] = l.castOutside(v, to)
	}
	if l.casts[k] == nil {
		l.casts[k] = l.call(ir.Cast, []*ir.Value{v}, set("dtype", ir.DTypeLit(to)))
	}
	return l.casts[k]
}

// call adds a call of an operator to the new body. One that is not legal, and those
// that read it, are nil.
func (l *lowering) call(op *ir.Op, args []*ir.Value, sets ...rewrite.Set) *ir.Value {
	attrs := op.Defaults()
	for _, s := range sets {
		attrs[slices.IndexFunc(op.Attrs, func(a ir.Attr) bool { return a.Name == s.Name })] = s.Lit
	}
	if l.failed {
		return nil
	}
	made := l.add(op, args, attrs)
	l.failed = made == nil
	return made
}
