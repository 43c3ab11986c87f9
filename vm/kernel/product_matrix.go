package kernel

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A product is a matmul or linear of a body, as products of matrices that lie in
// the body's inputs: for each index of the batch, C [m,n] = A [m,k] · B [k,n]. C lies
// densely, batch by batch.
//
//	matmul f32[8,12,512,64] f32[8,12,64,512]    batch 96, m 512, n 512, k 64
//	linear f32[8,512,1024] f32[4096,1024]       m 4096, n 4096, k 1024
//	matmul f32[512,64] f32[64]                  turned: m 1, n 512, k 64
type product struct {
	op      int // of the body, whose result the kernel makes: the product, or its sum with a bias
	bias    int // an input that is added to every row, or Absent
	m, n, k int
	batch   []batchAxis
	a, b    matrix
	// turned says that A and B have changed places, so that C is transposed: what
	// would be one column is one row, along which kernels compute.
	turned bool

	heartRows int           // rows of one matrix of the operator's result, as a tail counts them
	format    *gemm.Format  // of narrow operands; nil: wider ones
	wide      *wideKind     // of f64 and of integers by tiles of i32 or i64; nil: others
	leftSize  int           // of an element of a narrow A
	signed    bool          // the bytes of A have a sign
	shifts    bool          // the format multiplies A shifted, so that columns have offsets
	scale     *productScale // of bytes; nil: what follows takes their sums
	packs     *packedMatrices
	tail      *tail
	way       *productWay // nil: the usual one
	out       int         // the first result of the task that the product makes
	outs      int         // and their number
}

// A matrix lies in an input, from an element on.
type matrix struct{ input, row, col, at int }

// A batchAxis is an axis of the batch, with the steps along it.
type batchAxis struct{ size, a, b int }

// batches is the size of the batch.
func (p *product) batches() int {
	n := 1
	for _, x := range p.batch {
		n *= x.size
	}
	return n
}

// at is where the matrices of an index of the batch begin.
func (p *product) at(i int) (a, b int) {
	a, b = p.a.at, p.b.at
	for j := len(p.batch) - 1; j >= 0; j-- {
		x := &p.batch[j]
		a += i % x.size * x.a
		b += i % x.size * x.b
		i /= x.size
	}
	return a, b
}

// productOf makes a product of an operator, or says why it can't.
func productOf(b *Body, op int, of *operands, level isa.Level) (p *product, why string) {
	o := &b.Ops[op]
	c := o.Call
	if why := of.refuses(c.In[0].DType, c.In[1].DType, c.Out[0].DType); why != "" {
		return nil, why
	}
	left, ok := lieOf(b, o.Args[0])
	if !ok {
		return nil, "the left operand is computed in the region"
	}
	right, ok := lieOf(b, o.Args[1])
	if !ok {
		return nil, "the right operand is computed in the region"
	}
	if o.Is("linear") {
		right = right.transposed()
	}
	out := c.Out[0].Ints()
	p = &product{op: op, bias: Absent, heartRows: 1, wide: of.wide}
	if of.narrow {
		p.format = gemm.FormatOf(level, of.kind)
		p.leftSize = c.In[0].DType.Size()
		p.signed = c.In[0].DType == tensor.I8
		p.shifts = of.kind == gemm.Int8 && p.format.Shift(p.signed) != 0
	}
	if len(out) > 1 {
		p.heartRows = out[len(out)-2]
	}
	// A vector on the left is a row, one on the right a column.
	batch, byVector := out, len(right.shape) == 1
	if len(left.shape) == 1 {
		left.shape, left.steps = []int{1, left.shape[0]}, []int{0, left.steps[0]}
	} else {
		batch = batch[:len(batch)-1]
	}
	if len(right.shape) == 1 {
		right.shape, right.steps = []int{right.shape[0], 1}, []int{right.steps[0], 0}
	} else {
		batch = batch[:len(batch)-1]
	}
	p.matrices(left, right)
	p.batched(left.batch(), right.batch(), batch)
	// What may be a bias of one column stays one.
	column := p.wide != nil && !byVector && len(b.Ops) > 1
	unsigned := p.wide == nil && c.In[0].DType == tensor.U8 // on the right there are none
	if p.n == 1 && p.m > 1 && !unsigned && !column {
		p.turn()
	}
	return p, ""
}

// transposed exchanges the last two axes.
func (l lie) transposed() lie {
	l.shape, l.steps = slices.Clone(l.shape), slices.Clone(l.steps)
	i := len(l.shape) - 1
	l.shape[i], l.shape[i-1] = l.shape[i-1], l.shape[i]
	l.steps[i], l.steps[i-1] = l.steps[i-1], l.steps[i]
	return l
}

// batch leaves the last two axes out.
func (l lie) batch() lie {
	return lie{l.input, l.shape[:len(l.shape)-2], l.steps[:len(l.steps)-2], l.at}
}

// matrices takes the last two axes of the operands.
func (p *product) matrices(left, right lie) {
	l, r := len(left.shape), len(right.shape)
	p.m, p.k, p.n = left.shape[l-2], left.shape[l-1], right.shape[r-1]
	p.a = matrix{left.input, left.steps[l-2], left.steps[l-1], left.at}
	p.b = matrix{right.input, right.steps[r-2], right.steps[r-1], right.at}
}

// batched takes the axes before. Those along which B stays where it is, and A goes on
// as along its rows, are rows.
func (p *product) batched(left, right lie, batch []int) {
	as, bs := expandedSteps(left, batch), expandedSteps(right, batch)
	n := len(batch)
	for n > 0 && p.takesRows(batch[n-1], as[n-1], bs[n-1]) {
		n--
	}
	for i, size := range batch[:n] {
		last := len(p.batch) - 1
		switch {
		case size == 1:
		case last >= 0 && p.batch[last].a == as[i]*size && p.batch[last].b == bs[i]*size:
			p.batch[last] = batchAxis{p.batch[last].size * size, as[i], bs[i]}
		default:
			p.batch = append(p.batch, batchAxis{size, as[i], bs[i]})
		}
	}
}

// takesRows makes rows of an axis of the batch, if it can.
func (p *product) takesRows(size, a, b int) bool {
	switch {
	case size == 1:
	case b != 0:
		return false
	case p.m == 1:
		p.m, p.a.row = size, a
	case a == p.a.row*p.m:
		p.m *= size
	default:
		return false
	}
	return true
}

// turn exchanges A and B: C is a row instead of a column.
func (p *product) turn() {
	p.turned = true
	p.m, p.n = p.n, p.m
	p.a, p.b = matrix{p.b.input, p.b.col, p.b.row, p.b.at}, matrix{p.a.input, p.a.col, p.a.row, p.a.at}
	for i := range p.batch {
		p.batch[i].a, p.batch[i].b = p.batch[i].b, p.batch[i].a
	}
}
