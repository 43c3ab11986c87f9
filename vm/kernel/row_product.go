package kernel

import (
	"fmt"
	"slices"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/gemm"
	"github.com/npulang/npu/vm/kernel/isa"
)

// Products of matrices with what follows them element by element: biases,
// activations, residuals. Operands may be transposed, viewed and broadcast on the way;
// constant ones are packed once.
var (
	productRow      = &Row{Name: "product/f32", reach: withProducts, ways: productWayNames, Make: productsIn(floatOperands)}
	productBF16Row  = &Row{Name: "product/bf16", reach: withProducts, ways: productWayNames, Make: productsIn(bf16Operands)}
	productF16Row   = &Row{Name: "product/f16", reach: withProducts, ways: productWayNames, Make: productsIn(f16Operands)}
	productInt8Row  = &Row{Name: "product/int8", reach: withProducts, ways: productWayNames, Make: productsIn(byteOperands)}
	productF64Row   = &Row{Name: "product/f64", reach: withProducts, ways: productWayNames, Make: productsIn(f64Operands)}
	productI32Row   = &Row{Name: "product/i32", reach: withProducts, ways: productWayNames, Make: productsIn(i32Operands)}
	productI64Row   = &Row{Name: "product/i64", reach: withProducts, ways: productWayNames, Make: productsIn(i64Operands)}
	productSmallRow = &Row{Name: "product/small", reach: withProducts, ways: productWayNames, Make: productsIn(smallOperands)}
)

// withProducts are the bodies with a product, around which anything may be: what is in
// the way is worth telling.
var withProducts = reach{heart: aProduct, rest: anything}

// productsIn is the Make of products whose operands have a type.
func productsIn(of *operands) func(b *Body, o *Options) (*Prepared, string) {
	return func(b *Body, o *Options) (*Prepared, string) {
		if len(hearts(b)) == 0 {
			return nil, notMine
		}
		return makeProducts(plain(b), of, o)
	}
}

func makeProducts(b *Body, of *operands, o *Options) (*Prepared, string) {
	list := hearts(b)
	t := &productTask{level: o.Level}
	for _, heart := range list {
		p, why := productOf(b, heart, of, o.Level)
		if why != "" {
			return nil, why
		}
		t.products = append(t.products, p)
	}
	if why := t.share(b, list); why != "" {
		return nil, why
	}
	t.takeWay(o)
	prepared := &Prepared{Runner: t}
	for _, p := range t.products {
		if why := p.finish(b, o); why != "" {
			return nil, why
		}
		prepared.Work += p.work(o.Level)
		prepared.Within = max(prepared.Within, p.within())
	}
	prepared.Work = max(1, min(prepared.Work, MaxWork))
	return prepared, ""
}

// share gives each product the results that are made of it.
func (t *productTask) share(b *Body, list []int) (why string) {
	of := behind(b, list)
	next := 0
	for next < len(b.Out) {
		from := of[b.Out[next]]
		if len(from) != 1 {
			return fmt.Sprintf("a result of %d products", len(from))
		}
		p := t.products[slices.Index(list, from[0])]
		if p.outs > 0 {
			return "results of several products in turns"
		}
		p.out = next
		for next < len(b.Out) && slices.Equal(of[b.Out[next]], from) {
			next, p.outs = next+1, p.outs+1
		}
	}
	for _, p := range t.products {
		if p.outs == 0 {
			return "a product without result"
		}
	}
	return ""
}

// finish adds what follows the product and packs its constant.
func (p *product) finish(b *Body, o *Options) (why string) {
	if why := p.follow(b, o.Level); why != "" {
		return why
	}
	if b.InPlace != Absent && !p.replaces(b) {
		return "it needs the argument that it replaces until the end"
	}
	if c := b.Value(p.b.input); c != nil && p.n > 0 {
		p.pack(o, c)
	}
	return ""
}

// follow finds the tail, if the result is not the product itself.
func (p *product) follow(b *Body, level isa.Level) (why string) {
	if bias := p.biasOf(b); bias != nil {
		p.op, p.bias = bias.op, bias.input
	}
	p.scaled(b)
	// The tail rounds sums to halves, also where nothing else follows.
	rounds := p.wide == nil && b.Type(b.Out[p.out]).DType.Size() < 4
	if p.outs == 1 && b.Out[p.out] == b.Ops[p.op].First && !rounds || p.nothing(b) {
		return ""
	}
	if p.wide != nil {
		return "something follows a product of " + p.wide.name
	}
	sub, heart := following(b, p.op, p.out, p.outs)
	cols := 1
	if p.turned { // C is one row
		cols = b.Ops[p.op].Call.Out[0].Rank()
	}
	p.tail, why = tailOf(sub, heart, cols, level)
	return why
}

// biasOf finds a bias that the product's kernel adds: the only reader of a product of floats
// of four bytes or more, or of integers, and a vector that lies in an input and has an
// element for each column of the kernel's: of a matrix by a vector, which is turned, one for
// each row of the matrix.
func (p *product) biasOf(b *Body) (found *struct{ op, input int }) {
	product := b.Ops[p.op].First
	if b.Type(product).DType != tensor.F32 && p.wide == nil || b.Uses(product) != 1 {
		return nil
	}
	for i := range b.Ops {
		o := &b.Ops[i]
		if !o.Is("bias_add") || o.Args[0] != product {
			continue
		}
		if l, ok := lieOf(b, o.Args[1]); ok && l.at == 0 && l.shape[0] == p.n && l.steps[0] == 1 && l.input != b.InPlace {
			return &struct{ op, input int }{i, l.input}
		}
	}
	return nil
}

// nothing reports whether the product's results have no elements.
func (p *product) nothing(b *Body) bool {
	n := p.m * p.n
	for _, v := range b.Out[p.out : p.out+p.outs] {
		n += count(b.Type(v).Ints())
	}
	return n == 0
}

// replaces reports whether the first result may lie where an input lies: only the
// tail reads that, each element before it writes it.
func (p *product) replaces(b *Body) bool {
	return len(hearts(b)) == 1 && p.tail != nil && p.a.input != b.InPlace && p.b.input != b.InPlace && p.tail.sheet.follows(b.InPlace)
}

// A productRate is the picoseconds of a product, and of an element of B.
type productRate struct{ product, float int64 }

// productRates say how many picoseconds a level takes for a product of two floats, and for
// one of B that is used by few rows: measured on a processor of 2022.
var productRates = map[isa.Level]productRate{
	isa.Portable: {600, 500},
	isa.AVX2:     {23, 80},
	isa.AVX512:   {18, 80},
	isa.NEON:     {60, 100},
}

// narrowRates are the same of products in a format: those of AVX2 and of portable code,
// which NEON has, measured on that processor. Of AVX-512 they are in the same proportion
// to the rates of floats, where it has no instructions of its own for them.
var narrowRates = map[gemm.Kind]map[isa.Level]productRate{
	gemm.BF16: {isa.Portable: {540, 500}, isa.AVX2: {24, 40}, isa.AVX512: {19, 40}, isa.NEON: {540, 500}},
	gemm.F16:  {isa.Portable: {560, 2500}, isa.AVX2: {23, 40}, isa.AVX512: {18, 40}, isa.NEON: {560, 2500}},
	gemm.Int8: {isa.Portable: {980, 20}, isa.AVX2: {10, 20}, isa.AVX512: {9, 20}, isa.NEON: {980, 20}},
}

// ratesAt are those of a product at a level. Instructions for products of halves do two at
// a time, those for bytes four.
func (p *product) ratesAt(level isa.Level) productRate {
	switch {
	case p.wide != nil:
		return p.wide.rates[level]
	case p.format == nil:
		return productRates[level]
	}
	kind := p.format.Kind()
	r := narrowRates[kind][level]
	switch {
	case kind == gemm.BF16 && level == isa.AVX512 && isa.FastBF16():
		r.product = productRates[level].product / 2
	case kind == gemm.Int8 && isa.HasVNNI(level):
		r.product = productRates[level].product / 4
	}
	return r
}

// work estimates nanoseconds.
func (p *product) work(level isa.Level) int64 {
	r := p.ratesAt(level)
	floats := int64(p.batches()) * int64(p.n) * int64(p.k) // at most 2^63 bytes of them
	if floats > MaxWork/(r.float+r.product*int64(max(p.m, 1))) {
		return MaxWork
	}
	w := floats * (r.float + r.product*int64(p.m)) / 1000
	if p.tail != nil {
		w += p.tail.sheet.work(level)
	}
	return w
}

// workBy is work in given blocks: B comes again for every block of rows, and C for every
// step along k.
func (p *product) workBy(level isa.Level, blocks *gemm.Blocks) int64 {
	more := p.again(blocks) - p.again(&gemm.Default)
	return max(1, p.work(level)+int64(min(more, MaxWork)))
}

// Bytes a nanosecond at which B and C are read again, beside what is computed
// meanwhile.
const (
	againB = 100
	againC = 50
)

// again is the nanoseconds that it takes to read B and C again.
func (p *product) again(blocks *gemm.Blocks) float64 {
	depth, size := p.depth()
	m, k, n := float64(p.m), float64(p.k), float64(p.n)
	highs, deeps := ceil(p.m, blocks.Rows), ceil(depth, blocks.Deep)
	b, c := float64(size)*k*n, 8*m*n
	return float64(p.batches()) * (b*float64(max(0, highs-1))/againB + c*float64(max(0, deeps-1))/againC)
}

// depth is how deep the product is as blocks count, and the bytes of an element of B.
func (p *product) depth() (steps, size int) {
	if p.format == nil {
		return p.k, 4
	}
	return p.format.Depth(p.k), p.leftSize
}

// within bounds the error: each of k sums rounds once, at 2^-24 of what has come
// together, which is larger than the result where terms cancel.
func (p *product) within() float64 {
	w := float64(p.k+8) * 0x1p-22
	switch {
	case p.exact():
		w = 0
	case p.wide != nil: // and another rounding each, by the reference
		w = float64(p.k+8) * 0x1p-52
	}
	if p.tail != nil {
		w += p.tail.sheet.within
	}
	return w
}

// exact reports whether the sums are integers.
func (p *product) exact() bool {
	return p.format != nil && p.format.Kind() == gemm.Int8 || p.wide != nil && p.wide.exact
}

// matrixIn views a matrix from an element of its input on.
func matrixIn(data []float32, at int, m matrix) gemm.Matrix {
	return gemm.Matrix{Data: data[min(at, len(data)):], Row: m.row, Col: m.col}
}
