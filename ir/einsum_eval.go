package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Einsum is evaluated two operands at a time, each pair as a batch of matrix
// products, in float64 or int64 throughout and rounded at the end. The pair
// with the smallest product goes first, so that "i,j,i,j->" never holds i x j.

// A labelled tensor is dense, each label once; axes of size 1 are left out,
// since the value does not depend on them.
type labelled struct {
	t      *tensor.T
	labels []label
}

// maxProduct bounds the elements of what lies between two steps (8 GiB).
const maxProduct = 1 << 30

func evalEinsum(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	eq, err := equationOf(c)
	if err != nil {
		return nil, err
	}
	s := &room[summing](c, 1)[0]
	*s = summing{c: c, out: eq.out, terms: room[labelled](c, len(in))[:0]}
	err = s.run(in, eq.in)
	c.Budget.Give(s.taken)
	if err != nil {
		return nil, err
	}
	out := results(c)
	castRuns[s.terms[0].t.DType.Kind()](c, out[0], s.arrange(&s.terms[0], out[0].Shape))
	return out, nil
}

// summing is an einsum on the way: the terms whose product is left to sum.
type summing struct {
	c     *Call
	terms []labelled
	out   []label
	taken int64 // bytes of the budget
}

// run leaves one term.
func (s *summing) run(in []*tensor.T, labels [][]label) error {
	if err := s.begin(in, labels); err != nil {
		return err
	}
	for len(s.terms) > 1 {
		if err := s.step(); err != nil {
			return err
		}
	}
	return nil
}

// take counts n elements of what lies between the steps.
func (s *summing) take(n int64) error {
	err := s.c.Budget.Take(8 * n)
	if err == nil {
		s.taken += 8 * n
	}
	return err
}

// begin widens the operands and sums over labels that only one of them has.
func (s *summing) begin(in []*tensor.T, labels [][]label) error {
	wide := tensor.I64
	if in[0].DType.IsFloat() {
		wide = tensor.F64
	}
	for i, t := range in {
		if err := s.take(int64(t.Len())); err != nil {
			return err
		}
		all := tensorRoom(s.c, wide, t.Shape)
		castRuns[t.DType.Kind()](s.c, all, t)
		s.terms = append(s.terms, s.diagonal(all, labels[i]))
	}
	for i := range s.terms {
		s.terms[i] = s.sumOut(&s.terms[i], s.neededBy(i, i))
	}
	return nil
}

// step replaces the pair with the smallest product by it.
func (s *summing) step() error {
	i, j := s.cheapest()
	a, b := &s.terms[i], &s.terms[j]
	m := s.meet(a, b, s.neededBy(i, j))
	n := m.elements(a, b)
	if n > maxProduct {
		return Errorf("limit", "a product on the way has %d elements, more than %d", n, maxProduct).
			Note("operands are multiplied two at a time; fewer labels in each pair make smaller products")
	}
	if err := s.take(n); err != nil {
		return err
	}
	made, err := s.contract(a, b, &m)
	s.terms[i] = made
	s.terms = slices.Delete(s.terms, j, j+1)
	return err
}

// diagonal walks axes of one label together and drops axes of size 1.
func (s *summing) diagonal(t *tensor.T, labels []label) labelled {
	rank := len(t.Shape)
	out := labelled{labels: room[label](s.c, rank)[:0]}
	shape, strides := room[int](s.c, rank)[:0], room[int](s.c, rank)[:0]
	for axis, stride := range stridesOf(s.c, t.Shape) {
		if t.Shape[axis] == 1 {
			continue
		}
		if at := slices.Index(out.labels, labels[axis]); at >= 0 {
			strides[at] += stride
			continue
		}
		out.labels = append(out.labels, labels[axis])
		shape, strides = append(shape, t.Shape[axis]), append(strides, stride)
	}
	if len(shape) == rank { // nothing to drop
		out.t = t
		return out
	}
	out.t = tensorRoom(s.c, t.DType, shape)
	copyView(out.t, denseOf(s.c, out.t), t, view{0, strides}, shape)
	return out
}

// neededBy lists the labels of the output and of every term but i and j.
func (s *summing) neededBy(i, j int) []label {
	n := len(s.out)
	for k := range s.terms {
		n += len(s.terms[k].labels)
	}
	need := append(room[label](s.c, n)[:0], s.out...)
	for k := range s.terms {
		if k != i && k != j {
			need = append(need, s.terms[k].labels...)
		}
	}
	return need
}

// axesOfLabels finds where labels are.
func (x *labelled) axesOfLabels(c *Call, labels []label) []int {
	axes := room[int](c, len(labels))
	for i, l := range labels {
		axes[i] = slices.Index(x.labels, l)
	}
	return axes
}

// size multiplies the sizes of some of x's labels.
func (x *labelled) size(labels []label) int64 {
	n := int64(1)
	for _, l := range labels {
		n = satMul(n, int64(x.t.Shape[slices.Index(x.labels, l)]))
	}
	return n
}

// permute brings all of x's labels into the given order.
func (x *labelled) permute(c *Call, order []label) *tensor.T {
	return rowsOf(c, x.t, x.axesOfLabels(c, order)).t
}

// sumOut sums over the labels that nobody needs.
func (s *summing) sumOut(x *labelled, need []label) labelled {
	keep, drop := s.part(x.labels, need)
	if len(drop) == 0 {
		return *x
	}
	rows := rowsOf(s.c, x.t, x.axesOfLabels(s.c, drop))
	out := tensorRoom(s.c, x.t.DType, permuted(s.c, x.t.Shape, x.axesOfLabels(s.c, keep)))
	sums[out.DType.Kind()](s.c, out, rows)
	return labelled{out, keep}
}

// part parts labels into those that are in a set and the others.
func (s *summing) part(labels, set []label) (in, out []label) {
	in, out = room[label](s.c, len(labels))[:0], room[label](s.c, len(labels))[:0]
	for _, l := range labels {
		if slices.Contains(set, l) {
			in = append(in, l)
		} else {
			out = append(out, l)
		}
	}
	return in, out
}

// A meeting sorts the labels of two terms by what a product does with them.
type meeting struct {
	batch, sum   []label // in both: kept, summed over
	aOnly, bOnly []label
}

func (s *summing) meet(a, b *labelled, need []label) (m meeting) {
	both, aOnly := s.part(a.labels, b.labels)
	_, m.bOnly = s.part(b.labels, a.labels)
	m.aOnly = aOnly
	m.batch, m.sum = s.part(both, need)
	return m
}

// elements is the size of the product, saturated.
func (m *meeting) elements(a, b *labelled) int64 {
	return satMul(satMul(a.size(m.batch), a.size(m.aOnly)), b.size(m.bOnly))
}

// cheapest finds the pair with the smallest product, the first of equals.
func (s *summing) cheapest() (i, j int) {
	best := int64(0)
	for a := range s.terms {
		for b := a + 1; b < len(s.terms); b++ {
			m := s.meet(&s.terms[a], &s.terms[b], s.neededBy(a, b))
			if n := m.elements(&s.terms[a], &s.terms[b]); j == 0 || n < best {
				i, j, best = a, b, n
			}
		}
	}
	return i, j
}

// contract multiplies two terms and sums over what only they have.
func (s *summing) contract(a, b *labelled, m *meeting) (labelled, error) {
	c := s.c
	lent, err := borrow(c, a.t.Len()+b.t.Len()) // in the order of the product
	if err != nil {
		return labelled{}, err
	}
	defer lent.giveBack()
	at := a.permute(c, concatenated(c, m.batch, m.aOnly, m.sum))
	bt := b.permute(c, concatenated(c, m.batch, m.sum, m.bOnly))
	batch, rows, inner, cols := int(a.size(m.batch)), int(a.size(m.aOnly)), int(a.size(m.sum)), int(b.size(m.bOnly))
	shape := concatenated(c,
		permuted(c, a.t.Shape, a.axesOfLabels(c, m.batch)),
		permuted(c, a.t.Shape, a.axesOfLabels(c, m.aOnly)),
		permuted(c, b.t.Shape, b.axesOfLabels(c, m.bOnly)))
	out := tensorRoom(c, at.DType, shape)
	clear(out.Data) // where there is nothing to sum
	if err := multiply(c, reshaped(c, out, batch, rows, cols), reshaped(c, at, batch, rows, inner), reshaped(c, bt, batch, inner, cols)); err != nil {
		return labelled{}, err
	}
	return labelled{out, concatenated(c, m.batch, m.aOnly, m.bOnly)}, nil
}

// concatenated is slices.Concat of three lists.
func concatenated[E any](c *Call, x, y, z []E) []E {
	all := append(room[E](c, len(x)+len(y)+len(z))[:0], x...)
	return append(append(all, y...), z...)
}

// arrange brings the labels into the output's order and puts the axes of size 1
// back.
func (s *summing) arrange(x *labelled, shape []int) *tensor.T {
	order, _ := s.part(s.out, x.labels)
	return reshaped(s.c, x.permute(s.c, order), shape...)
}
