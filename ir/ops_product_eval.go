package ir

import "github.com/npulang/npu/ir/tensor"

// Products of matrices are computed block by block in float64, or in int64 for
// integers of every dtype: wrapping at 64 bits and then at the dtype's width is
// the same as wrapping at the dtype's.

// The blocks: a tile of b is 512 KiB, which a second-level cache holds; 64 rows
// of a share each tile, so that widening b costs a sixty-fourth of the product.
const (
	tileM = 64
	tileK = 256
	tileN = 256
)

// A multiplier computes out = a @ b for matrices of one size, m x k by k x n.
// It holds the tiles.
type multiplier[W float64 | int64] struct {
	width    width[W]
	m, k, n  int
	turned   bool // b lies as n x k
	a, b, to []W
	line     []W     // a row of b as it lies, if turned
	budget   *Budget // asked before each pair of tiles
}

func newMultiplier[W float64 | int64](c *Call, w width[W], m, k, n int, turned bool) *multiplier[W] {
	tm, tk, tn := min(m, tileM), min(k, tileK), min(n, tileN)
	p := &room[multiplier[W]](c, 1)[0]
	*p = multiplier[W]{width: w, m: m, k: k, n: n, turned: turned, budget: c.Budget}
	p.a, p.b, p.to = room[W](c, tm*tk), room[W](c, tk*tn), room[W](c, tm*tn)
	if turned {
		p.line = room[W](c, tk)
	}
	return p
}

// run multiplies the matrices that begin at the given elements.
func (p *multiplier[W]) run(out *tensor.T, oAt int, a *tensor.T, aAt int, b *tensor.T, bAt int) error {
	for i := 0; i < p.m; i += tileM {
		m := min(tileM, p.m-i)
		for j := 0; j < p.n; j += tileN {
			n := min(tileN, p.n-j)
			if err := p.block(a, aAt+i*p.k, b, bAt, j, m, n); err != nil {
				return err
			}
			for r := range m {
				p.width.store(out, oAt+(i+r)*p.n+j, p.to[r*n:(r+1)*n])
			}
		}
	}
	return nil
}

// block computes m x n sums, of the columns from j on, in the order of k
// whatever the tiles.
func (p *multiplier[W]) block(a *tensor.T, aAt int, b *tensor.T, bAt, j, m, n int) error {
	clear(p.to)
	for l := 0; l < p.k; l += tileK {
		if err := p.budget.stop(); err != nil {
			return err
		}
		k := min(tileK, p.k-l)
		p.load(p.a, a, aAt+l, p.k, m, k)
		if p.turned {
			p.turn(b, bAt+j*p.k+l, k, n)
		} else {
			p.load(p.b, b, bAt+l*p.n+j, p.n, k, n)
		}
		p.tile(m, k, n)
	}
	return nil
}

// load widens a tile of rows x cols elements; its rows lie stride apart.
func (p *multiplier[W]) load(dst []W, t *tensor.T, at, stride, rows, cols int) {
	for r := range rows {
		p.width.load(t, dst[r*cols:(r+1)*cols], at+r*stride)
	}
}

// turn widens a tile of k x n elements that lies as n x k.
func (p *multiplier[W]) turn(t *tensor.T, at, k, n int) {
	for j := range n {
		line := p.line[:k]
		p.width.load(t, line, at+j*p.k)
		for l, v := range line {
			p.b[l*n+j] = v
		}
	}
}

// tile adds the product of two tiles to the sums.
func (p *multiplier[W]) tile(m, k, n int) {
	for r := range m {
		addRow(p.to[r*n:(r+1)*n], p.a[r*k:(r+1)*k], p.b)
	}
}

// addRow adds the product of a row and a matrix to a row of sums. Four steps
// share one pass over the sums. The conversions keep Go from fusing product and
// sum on some machines.
func addRow[W float64 | int64](to, a, b []W) {
	n := len(to)
	for ; len(a) >= 4; a, b = a[4:], b[4*n:] {
		a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
		b0, b1, b2, b3 := b[:n], b[n:][:n], b[2*n:][:n], b[3*n:][:n]
		for j, s := range to {
			s += W(a0 * b0[j])
			s += W(a1 * b1[j])
			s += W(a2 * b2[j])
			s += W(a3 * b3[j])
			to[j] = s
		}
	}
	for ; len(a) > 0; a, b = a[1:], b[n:] {
		for j, v := range b[:n] {
			to[j] += W(a[0] * v)
		}
	}
}

// multiply computes out = a @ b for batches of matrices; a and b broadcast to
// the batch axes of out, all but its last two.
func multiply(c *Call, out, a, b *tensor.T) error {
	if out.Len() == 0 {
		return nil
	}
	if out.DType.IsFloat() {
		return multiplyAs(c, asFloats, out, a, b)
	}
	return multiplyAs(c, asInts, out, a, b)
}

// multiplyTurned computes out = a @ transpose(b) for matrices.
func multiplyTurned(c *Call, out, a, b *tensor.T) error {
	m, k, n := a.Shape[0], a.Shape[1], b.Shape[0]
	switch {
	case out.Len() == 0:
		return nil
	case out.DType.IsFloat():
		return newMultiplier(c, asFloats, m, k, n, true).run(out, 0, a, 0, b, 0)
	}
	return newMultiplier(c, asInts, m, k, n, true).run(out, 0, a, 0, b, 0)
}

func multiplyAs[W float64 | int64](c *Call, w width[W], out, a, b *tensor.T) error {
	rank := len(out.Shape)
	m, n, k := out.Shape[rank-2], out.Shape[rank-1], a.Shape[len(a.Shape)-1]
	batch := out.Shape[:rank-2]
	if len(b.Shape) == 2 { // one b for all: one tall a
		return newMultiplier(c, w, out.Len()/n, k, n, false).run(out, 0, a, 0, b, 0)
	}
	count, _ := tensor.Elements(batch)
	p := newMultiplier(c, w, m, k, n, false)
	as, bs := newSteps(c, a.Shape[:len(a.Shape)-2], batch), newSteps(c, b.Shape[:len(b.Shape)-2], batch)
	for i := range count {
		if err := p.run(out, i*m*n, a, as.off*m*k, b, bs.off*k*n); err != nil {
			return err
		}
		as.advance(1)
		bs.advance(1)
	}
	return nil
}

// newSteps walks the offsets of a batch that is broadcast.
func newSteps(c *Call, from, to []int) *reader[struct{}] {
	r := &room[reader[struct{}]](c, 1)[0]
	*r = reader[struct{}]{}
	r.shape, r.strides = mergeAxes(c, to, broadcastStrides(c, from, to))
	r.index = zeros[int](c, len(r.shape))
	return r
}
