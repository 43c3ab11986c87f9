package kernel

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
	"github.com/npulang/npu/vm/kernel/norm"
)

// scoresRow runs two products of float32 with a softmax between them, an attention that
// is written out:
//
//	transpose, matmul, mul, add, softmax, matmul, transpose
//
// Some rows of the scores are computed, go through what is element-wise and the softmax,
// and are multiplied while they are in the second cache. Each of these steps is done by
// what runs the operator by itself, so that the bits are the same.
var scoresRow = &Row{Name: "scores/f32", reach: reach{heart: aProduct, rest: aNorm | anElement | aMove}, ways: scoresSizes.names("rows"), Make: makeScores}

// A scoresTask is the Runner of such a body.
type scoresTask struct {
	level  isa.Level
	scores *product // the first product, and what follows it up to the softmax
	mix    *product // the second, whose left operand is the softmax's result
	at     int      // rows of one index of the batch that are computed at a time
	blocks int      // and how often
	norms  [2]normCall
	own    int // of scoresSizes
	work   int64
}

func makeScores(b *Body, o *Options) (*Prepared, string) {
	switch {
	case softmaxOf(b) < 0 || len(hearts(b)) != 2:
		return nil, ""
	case b.InPlace != Absent:
		return nil, "it replaces an argument"
	}
	b = plain(b)
	t := &scoresTask{level: o.Level}
	t.own, t.at = scoresSizes.wanted(o)
	why := t.first(b, hearts(b)[0])
	if why == "" {
		why = t.second(b)
	}
	if why == "" {
		why = t.join(b)
	}
	if why != "" {
		return nil, why
	}
	rows := t.scores.batches() * t.scores.m
	t.work = t.scores.work(o.Level) + t.mix.work(o.Level) + rowsWork(o.Level, rows*t.scores.n)
	// An exponential turns what a score is off into a share of its result.
	t.work = max(1, min(t.work, MaxWork))
	within := magnified*(t.scores.within()+normWithin) + t.mix.within()
	return &Prepared{Work: t.work, Within: within, Runner: t}, ""
}

// softmaxOf is the body's first softmax; -1: there is none.
func softmaxOf(b *Body) (op int) {
	return slices.IndexFunc(b.Ops, func(o Op) bool { return o.Is("softmax") })
}

// first makes the product of the scores, and what follows it up to the softmax.
func (t *scoresTask) first(b *Body, heart int) (why string) {
	if t.scores, why = productOf(b, heart, floatOperands, t.level); why != "" {
		return why
	}
	x := b.Ops[softmaxOf(b)].Args[0]
	if !slices.Equal(behind(b, hearts(b))[x], []int{heart}) {
		return "the softmax is not made of the first product"
	}
	front := &Body{In: b.In, Const: b.Const, Ops: b.Ops, Out: []int{x}, InPlace: Absent}
	t.scores.outs = 1
	if why := t.scores.follow(front, t.level); why != "" {
		return why
	}
	if t.scores.tail != nil && !t.scores.tail.staysInPlace() {
		return "the scores change their order"
	}
	return ""
}

// staysInPlace makes a tail write where it reads the heart's result. It reports whether
// the first result has its elements in the same order.
func (t *tail) staysInPlace() bool {
	s := t.sheet
	heart := slices.IndexFunc(s.views, func(o operand) bool { return o.kind == ofHeart })
	result := slices.IndexFunc(s.views, func(o operand) bool { return o.kind == ofResult })
	if !s.alike(heart, result) {
		return false
	}
	s.views[result].kind = ofHeart
	return true
}

// second makes the product of the softmax's result, which it takes for a further input,
// and what follows it.
func (t *scoresTask) second(b *Body) (why string) {
	back, ok := behindOne(b, softmaxOf(b))
	if !ok || len(hearts(back)) != 1 {
		return "a result that is not made of the second product alone"
	}
	made := len(b.In)
	if t.mix, why = productOf(back, hearts(back)[0], floatOperands, t.level); why != "" {
		return why
	}
	if t.mix.turned || t.mix.a.input != made || t.mix.b.input == made {
		return "the softmax is not the left operand"
	}
	t.mix.outs = len(back.Out)
	if why := t.mix.follow(back, t.level); why != "" {
		return why
	}
	if t.mix.tail != nil && slices.Contains(t.mix.tail.sheet.views, operand{kind: ofInput, index: made}) {
		return "the softmax is needed again"
	}
	return ""
}

// behindOne is the body behind one operator of one result, which is an input behind the
// others there; ok is false if nothing is made of that.
func behindOne(b *Body, op int) (to *Body, ok bool) {
	sub, at := following(b, op, 0, len(b.Out))
	if len(sub.Ops) == 0 || sub.Ops[at].Call != b.Ops[op].Call {
		return nil, false
	}
	made := sub.Ops[at].First
	n := len(b.In)
	to = &Body{In: append(slices.Clone(b.In), sub.Type(made)), Const: append(slices.Clone(b.Const), nil), InPlace: Absent}
	// Values before it move up by one, those behind it stay.
	now := func(v int) int {
		switch {
		case v == made:
			return n
		case v >= n && v < made:
			return v + 1
		}
		return v
	}
	for i, o := range sub.Ops {
		if i == at {
			continue
		}
		o.First = now(o.First)
		for j, a := range o.Args {
			o.Args[j] = now(a)
		}
		to.Ops = append(to.Ops, o)
	}
	for _, v := range sub.Out {
		to.Out = append(to.Out, now(v))
	}
	return to, true
}

// join fixes the blocks of rows, if the rows of both products are those of the softmax.
func (t *scoresTask) join(b *Body) (why string) {
	p, q := t.scores, t.mix
	s, ok := alongAxis(b.Ops[softmaxOf(b)].Call)
	rows := p.batches() * p.m
	switch {
	case p.turned || !ok || s.Inner != 1 || s.N != p.n || s.Outer != rows:
		return "the softmax is not along the scores' rows"
	case q.k != p.n || q.m != p.m || !q.leftDense() || q.batches() != p.batches():
		return "the second product takes the rows in another order"
	case rows*p.n*q.n*p.k == 0:
		return "it has no elements"
	}
	t.at = t.rowsOf(t.at)
	t.blocks = ceil(p.m, t.at)
	row := rowNorms["softmax"]
	for i, n := range []int{t.at, p.m % t.at} {
		of := norm.Space{Outer: n, N: p.n, Inner: 1}
		t.norms[i] = normCall{of.Units(), row.bind(of, nil)}
	}
	return ""
}

// rowsOf is how many rows are computed at a time where n are wanted; 0: 256 KB of scores,
// in whole tiles of products and, for short rows, of norms.
func (t *scoresTask) rowsOf(n int) int {
	const floats, group = 64 << 10, 64
	m := t.scores.m
	if n > 0 {
		return min(m, n)
	}
	n = min(m, max(gemm.Rows(t.level), floats/t.scores.n))
	if n > group && n < m {
		n = n / group * group
	}
	return n
}

// leftDense reports whether the left operand's matrices lie behind each other.
func (p *product) leftDense() bool {
	size := p.m * p.k
	for _, x := range slices.Backward(p.batch) {
		if x.a != size {
			return false
		}
		size *= x.size
	}
	return p.a.at == 0 && p.a.col == 1 && (p.m == 1 || p.a.row == p.k)
}

func (t *scoresTask) Parts(want int) int {
	return max(1, min(want, t.scores.batches()*t.blocks))
}

func (t *scoresTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	r := scoresRun{t: t, out: out, in: in, index: -1}
	r.room = x.Floats(t.at * t.scores.n)
	if t.mix.tail != nil {
		r.mixed = x.Floats(t.at * t.mix.n)
	}
	if t.blocks > 1 {
		r.keys = x.Floats(gemm.PackedLen(t.level, t.scores.k, t.scores.n))
		r.values = x.Floats(gemm.PackedLen(t.level, t.mix.k, t.mix.n))
	}
	defer x.product.end()
	unit, n := share(t.scores.batches()*t.blocks, part, parts, 1)
	for end := unit + n; unit < end; unit++ {
		if err := r.block(x, unit/t.blocks, unit%t.blocks*t.at); err != nil {
			return err
		}
	}
	return nil
}

// A scoresRun is what a part works with.
type scoresRun struct {
	t            *scoresTask
	out, in      []*tensor.T
	room, mixed  []float32 // rows of scores and of what is made of them
	keys, values []float32 // the right operands of an index of the batch, packed
	index        int       // that of keys and values
}

// block computes rows from one on of an index of the batch.
func (r *scoresRun) block(x *Exec, index, row int) error {
	t, p, q := r.t, r.t.scores, r.t.mix
	if index != r.index && r.keys != nil {
		r.pack(p, r.keys, index)
		r.pack(q, r.values, index)
	}
	r.index = index
	rows := min(t.at, p.m-row)
	a, _ := p.at(index)
	left := matrixIn(floats(r.in[p.a.input]), a+row*p.a.row, p.a)
	if err := r.multiply(x, p, left, r.keys, row, rows, r.room); err != nil {
		return err
	}
	f := &t.norms[0]
	if rows != t.at {
		f = &t.norms[1]
	}
	args := x.slices([]int{Absent}, nil)
	args[0] = r.room
	f.run(x.rows(), t.level, 0, f.units, r.room, args)
	if err := x.halted(); err != nil {
		return err
	}
	left = gemm.Matrix{Data: r.room, Row: p.n, Col: 1}
	to := r.mixed
	if to == nil {
		to = floats(r.out[0])[(index*q.m+row)*q.n:]
	}
	return r.multiply(x, q, left, r.values, row, rows, to)
}

func (r *scoresRun) pack(p *product, to []float32, index int) {
	_, b := p.at(index)
	gemm.Pack(r.t.level, to, matrixIn(floats(r.in[p.b.input]), b, p.b), p.k, p.n)
}

// multiply computes rows of a product into memory, and what follows it.
func (r *scoresRun) multiply(x *Exec, p *product, left gemm.Matrix, panels []float32, row, rows int, to []float32) error {
	x.product.begin(x, p, r.out, r.in)
	x.product.index = r.index
	job := &x.product.job
	*job = gemm.Product{M: rows, N: p.n, K: p.k, A: left, C: to, Ldc: p.n, Stop: x}
	if panels != nil {
		job.Panels = gemm.PackedPanels(r.t.level, panels, p.k)
	} else {
		_, b := p.at(r.index)
		job.Matrix = matrixIn(floats(r.in[p.b.input]), b, p.b)
	}
	if p.bias != Absent {
		job.Bias = floats(r.in[p.bias])
	}
	err := x.gemm.Mul(r.t.level, job, gemm.Range{Hi: rows}, gemm.Range{Hi: p.n})
	if err == nil && p.tail != nil {
		x.product.Block(row, 0, rows, p.n, to, p.n)
	}
	return err
}
