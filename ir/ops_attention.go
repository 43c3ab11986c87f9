package ir

import (
	"math"
	"math/rand/v2"

	"github.com/npulang/npu/ir/tensor"
)

// Attention over whole sequences, and the rotation of positions into it.
var (
	Attention = row(Op{
		Name: "attention", Group: "attention", Args: []string{"q", "k", "v", "mask?"}, Over: Floats, Class: Contract, Unit: Cube,
		Doc: "softmax(q @ transpose(k) * scale + mask) @ v, computed in float64 and rounded once; fewer heads of k and v than of q are shared by neighbours; mask is bool, true where a query attends, or of the dtype of q and added; a row that may attend to nothing is 0",
		Attrs: []Attr{
			{Name: "scale", Kind: KFloat, Doc: "the factor of the scores; absent: 1 / sqrt(depth of q)"},
			{Name: "causal", Kind: KBool, Default: BoolLit(false), Doc: "whether position i of q attends to positions 0 to i of k only"},
		},
		Infer:  inferAttention,
		Eval:   evalAttention,
		Cost:   costAttention,
		Sample: sampleAttention,
	})
	Rope = row(Op{
		Name: "rope", Group: "attention", Args: []string{"x", "cos", "sin"}, Over: Floats, Class: Reduce, // each element is made of two
		Doc:   "rotary position embedding: pairs of elements of the last axis are turned by angles whose cos and sin have half as many elements there, or the same angles twice; both broadcast to x",
		Attrs: []Attr{{Name: "interleaved", Kind: KBool, Default: BoolLit(false), Doc: "whether pairs are neighbours; else an element goes with the one half an axis on"}},
		Infer: inferRope, Asserts: assertRope,
		Eval:   evalRope,
		Sample: sampleRope,
	})
)

const attentionRule = "attention(q: [..., H, S, D], k: [..., G, T, D], v: [..., G, T, E], mask: [..., H, S, T]) -> [..., H, S, E], where G divides H"

func inferAttention(c *Call) ([]Type, error) {
	if err := checkAttentionRanks(c); err != nil {
		return nil, err
	}
	q, k, v := c.In[0], c.In[1], c.In[2]
	n := q.Rank()
	lead := q.Shape[:n-3]
	checks := []struct {
		what string
		i, j int // arguments
		a, b []Dim
	}{
		{"leading dimensions", 0, 1, lead, k.Shape[:n-3]},
		{"leading dimensions", 0, 2, lead, v.Shape[:n-3]},
		{"depths", 0, 1, q.Shape[n-1:], k.Shape[n-1:]},
		{"heads and lengths", 1, 2, k.Shape[n-3 : n-1], v.Shape[n-3 : n-1]},
	}
	for _, ch := range checks {
		if !SameShape(ch.a, ch.b) {
			return nil, Errorf("shape-mismatch", "%s of %s and %s differ: %s and %s", ch.what, attentionArg(ch.i), attentionArg(ch.j), ShapeString(ch.a), ShapeString(ch.b)).
				Label(ch.i, "%s", c.In[ch.i]).Label(ch.j, "%s", c.In[ch.j]).Note(attentionRule)
		}
	}
	if h, g := q.Shape[n-3], k.Shape[n-3]; !sharesHeads(h, g) {
		return nil, Errorf("shape-mismatch", "%s heads of q cannot share %s heads of k", h, g).
			Label(0, "%s", q).Label(1, "%s", k).Note(attentionRule)
	}
	if err := checkMask(c); err != nil {
		return nil, err
	}
	out := append(append([]Dim{}, q.Shape[:n-1]...), v.Shape[n-1])
	return []Type{{q.DType, out}}, nil
}

func attentionArg(i int) string { return [...]string{"q", "k", "v", "mask"}[i] }

func checkAttentionRanks(c *Call) error {
	if err := sameDType(c, 0, 1, 2); err != nil {
		return err
	}
	for i := range 3 {
		if r := c.In[i].Rank(); r < 3 || r != c.In[0].Rank() {
			return Errorf("rank-mismatch", "%s has rank %d, but must have the rank of q, at least 3", attentionArg(i), r).
				Label(i, "%s", c.In[i]).Note(attentionRule)
		}
	}
	return nil
}

// sharesHeads reports whether h heads divide among g.
func sharesHeads(h, g Dim) bool {
	if h.Equal(g) {
		return true
	}
	n, ok := g.Const()
	return ok && n > 0 && Mod(h, g).Is(0)
}

// checkMask wants a mask of bool or of q's dtype that broadcasts to the scores
// without making them larger.
func checkMask(c *Call) error {
	if !c.has(3) {
		return nil
	}
	q, k, mask := c.In[0], c.In[1], c.In[3]
	if mask.DType != tensor.Bool && mask.DType != q.DType {
		return Errorf("dtype-mismatch", "mask has dtype %s, but must have bool or %s", mask.DType, q.DType).Label(3, "%s", mask).Label(0, "%s", q)
	}
	n := q.Rank()
	scores := append(append([]Dim{}, q.Shape[:n-1]...), k.Shape[n-2])
	if joined, ok := Broadcast(scores, mask.Shape); !ok || !SameShape(joined, scores) {
		return Errorf("shape-mismatch", "mask %s does not broadcast to the scores %s", ShapeString(mask.Shape), ShapeString(scores)).
			Label(3, "%s", mask).Note(attentionRule)
	}
	return nil
}

// evalAttention goes query by query. Causal counts from the first position of
// both sequences, and a row without anything to attend to is 0, as PyTorch's
// scaled_dot_product_attention and ONNX's Attention have both. Scores that are
// -inf of themselves, since q or k is infinite, give the NaN of softmax.
func evalAttention(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := results(c)
	q, k, v := in[0], in[1], in[2]
	n := len(q.Shape)
	h, s, d := q.Shape[n-3], q.Shape[n-2], q.Shape[n-1]
	g, t, e := k.Shape[n-3], k.Shape[n-2], v.Shape[n-1]
	if out[0].Len() == 0 {
		return out, nil
	}
	lent, err := borrow(c, t*(d+e+2))
	if err != nil {
		return nil, err
	}
	defer lent.giveBack()
	a := &room[attending](c, 1)[0]
	*a = attending{
		scale: 1 / math.Sqrt(float64(d)), causal: c.Bool("causal"), kvHead: -1,
		q: room[float64](c, d), k: room[float64](c, t*d), v: room[float64](c, t*e), key: room[float64](c, d),
		p: room[float64](c, t), y: room[float64](c, e),
	}
	if l := c.Attr("scale"); !l.IsNone() {
		a.scale = l.Float
	}
	if len(in) > 3 && in[3] != nil {
		scores := append(room[int](c, n)[:0], q.Shape[:n-1]...)
		a.mask = newReader(c, asFloats, in[3], append(scores, t))
		a.bias, a.allow = room[float64](c, t), in[3].DType == tensor.Bool
	}
	for row := range out[0].Len() / e {
		if err := c.Budget.stop(); err != nil {
			return nil, err
		}
		a.loadHead(k, v, row/s/(h/g))
		q.LoadFloats(a.q, row*d)
		a.row(row % s)
		out[0].StoreFloats(row*e, a.y)
	}
	return out, nil
}

// attending is one head of k and v, widened, and a query that attends to it.
type attending struct {
	scale   float64
	causal  bool
	mask    *reader[float64] // of the scores' shape, in order; nil: none
	allow   bool             // the mask is bool: true attends
	kvHead  int
	q, k, v []float64 // the query [D], keys [D,T], values [T,E]
	key     []float64 // one key [D]
	bias    []float64 // the mask's row [T]
	p, y    []float64 // scores and probabilities [T], result [E]
}

func (a *attending) loadHead(k, v *tensor.T, head int) {
	if head == a.kvHead {
		return
	}
	a.kvHead = head
	v.LoadFloats(a.v, head*len(a.v))
	d, t := len(a.q), len(a.p)
	key := a.key
	for j := range t {
		k.LoadFloats(key, (head*t+j)*d)
		for l, x := range key {
			a.k[l*t+j] = x
		}
	}
}

// row computes the result of query i.
func (a *attending) row(i int) {
	a.scores()
	attends := a.applyMask(i)
	clear(a.y)
	if !attends {
		return
	}
	top, total := math.Inf(-1), 0.0
	for _, s := range a.p {
		top = max(top, s)
	}
	for j, s := range a.p {
		a.p[j] = exp(s - top)
		total += a.p[j]
	}
	for j := range a.p {
		a.p[j] /= total
	}
	addRow(a.y, a.p, a.v)
}

func (a *attending) scores() {
	clear(a.p)
	addRow(a.p, a.q, a.k)
	for j := range a.p {
		a.p[j] *= a.scale
	}
}

// applyMask hides what query i may not attend to, and reports whether anything is
// left: a score to which -inf is added is not.
func (a *attending) applyMask(i int) bool {
	seen := len(a.p)
	if a.causal {
		seen = min(seen, i+1)
	}
	hidden := a.p[seen:]
	for j := range hidden {
		hidden[j] = math.Inf(-1)
	}
	if a.mask == nil {
		return seen > 0
	}
	a.mask.fill(a.bias)
	attends := false
	for j, m := range a.bias[:seen] {
		switch {
		case !a.allow:
			a.p[j] += m
			attends = attends || !math.IsInf(m, -1)
		case m == 0:
			a.p[j] = math.Inf(-1)
		default:
			attends = true
		}
	}
	return attends
}

// costAttention counts both products. They can be far larger than what the call
// reads and makes.
func costAttention(c *Call) Cost {
	cost := DefaultCost(c, 1)
	q, k, v := c.In[0], c.In[1], c.In[2]
	n := q.Rank()
	rows, _ := Type{q.DType, q.Shape[:n-1]}.Elements().Const()
	t, _ := k.Shape[n-2].Const()
	d, _ := q.Shape[n-1].Const()
	e, _ := v.Shape[n-1].Const()
	cost.Flops = satMul(satMul(2*t, d+e), rows)
	return cost
}

func sampleAttention(r *rand.Rand) Call {
	s := &sampler{r}
	dt, lead := s.dtype(Floats), s.shape(0, 2)
	g, share, m, t, d, e := 1+s.IntN(2), 1+s.IntN(3), s.size(), s.size(), s.size(), s.size()
	of := func(dims ...int) Type { return T(dt, Dims(append(append([]int{}, lead...), dims...)...)...) }
	c := Call{
		In:    []Type{of(g*share, m, d), of(g, t, d), of(g, t, e), {}},
		Attrs: []Lit{None, s.flag()},
	}
	if s.chance(2) {
		c.Attrs[0] = FloatLit(0.5)
	}
	if s.chance(2) {
		mask := T(dt, Dims(s.part(of(g*share, m, t).Ints())...)...)
		if s.chance(2) {
			mask.DType = tensor.Bool
		}
		c.In[3] = mask
	}
	return c
}

const ropeRule = "rope(x: [..., D], cos, sin: [..., D/2] or [..., D])"

func inferRope(c *Call) ([]Type, error) {
	if err := sameDType(c); err != nil {
		return nil, err
	}
	x := c.In[0]
	if x.Rank() == 0 {
		return nil, Errorf("rank-mismatch", "x is a scalar, but needs an axis of pairs").Label(0, "%s", x).Note(ropeRule)
	}
	depth := x.Shape[x.Rank()-1]
	if n, ok := depth.Const(); ok && n%2 != 0 {
		return nil, Errorf("shape-mismatch", "the last dimension of x is %d, which has no half", n).Label(0, "%s", x).Note(ropeRule)
	}
	for i, name := range []string{1: "cos", 2: "sin"} {
		if i > 0 && !anglesFit(c.In[i].Shape, x.Shape) {
			return nil, Errorf("shape-mismatch", "%s has shape %s, which does not fit x of shape %s", name, ShapeString(c.In[i].Shape), ShapeString(x.Shape)).
				Label(0, "%s", x).Label(i, "%s", c.In[i]).Note(ropeRule)
		}
	}
	return []Type{x}, nil
}

// assertRope: that half of a size is asked for may be all that is known of it.
func assertRope(c *Call) []Assert {
	x := c.In[0].Shape
	return assertDivides(x[len(x)-1], N(2))
}

// anglesFit reports whether cos or sin has half of x's last axis or all of it,
// and broadcasts over the others.
func anglesFit(angles, x []Dim) bool {
	n := len(angles)
	if n == 0 || n > len(x) {
		return false
	}
	depth := x[len(x)-1]
	if a := angles[n-1]; !a.Equal(depth) && !a.Mul(N(2)).Equal(depth) {
		return false
	}
	joined, ok := Broadcast(x[:len(x)-1], angles[:n-1])
	return ok && SameShape(joined, x[:len(x)-1])
}

func evalRope(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	x, out := in[0], results(c)
	depth := x.Shape[len(x.Shape)-1]
	if x.Len() == 0 {
		return out, nil
	}
	cos, sin := newAngles(c, in[1], x.Shape), newAngles(c, in[2], x.Shape)
	src, dst := room[float64](c, depth), room[float64](c, depth)
	for at := 0; at < x.Len(); at += depth {
		x.LoadFloats(src, at)
		cos.fill(cos.row)
		sin.fill(sin.row)
		turn(dst, src, cos.row, sin.row, c.Bool("interleaved"))
		out[0].StoreFloats(at, dst)
	}
	return out, nil
}

// angles reads cos or sin row by row.
type angles struct {
	*reader[float64]
	row []float64
}

func newAngles(c *Call, t *tensor.T, x []int) angles {
	n := t.Shape[len(t.Shape)-1]
	shape := append(room[int](c, len(x))[:0], x[:len(x)-1]...)
	return angles{newReader(c, asFloats, t, append(shape, n)), room[float64](c, n)}
}

// turn rotates each pair of src by its angle. cos and sin hold one angle for
// each pair, or one for each element.
func turn(dst, src, cos, sin []float64, interleaved bool) {
	half := len(src) / 2
	for p := range half {
		i, j := p, p+half
		if interleaved {
			i, j = 2*p, 2*p+1
		}
		ci, cj := angleOf(cos, p, i, j, half)
		si, sj := angleOf(sin, p, i, j, half)
		dst[i] = float64(src[i]*ci) - float64(src[j]*si)
		dst[j] = float64(src[j]*cj) + float64(src[i]*sj)
	}
}

func angleOf(v []float64, pair, i, j, half int) (first, second float64) {
	if len(v) == half {
		return v[pair], v[pair]
	}
	return v[i], v[j]
}

func sampleRope(r *rand.Rand) Call {
	s := &sampler{r}
	d, shape := s.dtype(Floats), s.shape(1, 4)
	half := 1 + s.IntN(3)
	shape[len(shape)-1] = 2 * half
	of := func() Type {
		lead := s.part(shape[:len(shape)-1])
		return T(d, Dims(append(lead, half*(1+s.IntN(2)))...)...)
	}
	return Call{In: []Type{T(d, Dims(shape...)...), of(), of()}, Attrs: []Lit{s.flag()}}
}
