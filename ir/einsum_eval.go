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
	s := &summing{c: c, out: eq.out}
	defer func() { c.Budget.Give(s.taken) }()
	if err := s.begin(in, eq.in); err != nil {
		return nil, err
	}
	for len(s.terms) > 1 {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	out := results(c)
	tensor.CastInto(out[0], s.terms[0].arrange(eq.out, out[0].Shape))
	return out, nil
}

// summing is an einsum on the way: the terms whose product is left to sum.
type summing struct {
	c     *Call
	terms []labelled
	out   []label
	taken int64 // bytes of the budget
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
		s.terms = append(s.terms, diagonal(tensor.Cast(t, wide), labels[i]))
	}
	for i, t := range s.terms {
		s.terms[i] = sumOut(s.c, t, neededBy(s.terms, s.out, i, i))
	}
	return nil
}

// step replaces the pair with the smallest product by it.
func (s *summing) step() error {
	i, j := cheapest(s.terms, s.out)
	m := meet(s.terms[i], s.terms[j], neededBy(s.terms, s.out, i, j))
	n, ok := m.elements(s.terms[i], s.terms[j]).Const()
	if !ok || n > maxProduct {
		return Errorf("limit", "a product on the way has %d elements, more than %d", n, maxProduct).
			Note("operands are multiplied two at a time; fewer labels in each pair make smaller products")
	}
	if err := s.take(n); err != nil {
		return err
	}
	var err error
	s.terms[i], err = contract(s.c, s.terms[i], s.terms[j], m)
	s.terms = slices.Delete(s.terms, j, j+1)
	return err
}

// diagonal walks axes of one label together and drops axes of size 1.
func diagonal(t *tensor.T, labels []label) labelled {
	var out labelled
	var shape, strides []int
	for axis, stride := range tensor.Strides(t.Shape) {
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
	out.t = tensor.New(t.DType, shape...)
	copyView(out.t, dense(out.t), t, view{0, strides}, out.t.Shape)
	return out
}

// neededBy lists the labels of the output and of every term but i and j.
func neededBy(terms []labelled, out []label, i, j int) []label {
	need := slices.Clone(out)
	for n, t := range terms {
		if n != i && n != j {
			need = append(need, t.labels...)
		}
	}
	return need
}

// axesOfLabels finds where labels are.
func (x *labelled) axesOfLabels(labels []label) []int {
	axes := make([]int, len(labels))
	for i, l := range labels {
		axes[i] = slices.Index(x.labels, l)
	}
	return axes
}

// size multiplies the sizes of some of x's labels.
func (x *labelled) size(labels []label) int {
	n := 1
	for _, a := range x.axesOfLabels(labels) {
		n *= x.t.Shape[a]
	}
	return n
}

// permute brings all of x's labels into the given order.
func (x *labelled) permute(order []label) *tensor.T { return rowsOf(nil, x.t, x.axesOfLabels(order)).t }

// sumOut sums over the labels that nobody needs.
func sumOut(c *Call, x labelled, need []label) labelled {
	keep, drop := partLabels(x.labels, need)
	if len(drop) == 0 {
		return x
	}
	rows := rowsOf(nil, x.t, x.axesOfLabels(drop))
	out := tensor.New(x.t.DType, permuted(nil, x.t.Shape, x.axesOfLabels(keep))...)
	sums[out.DType.Kind()](c, out, rows)
	return labelled{out, keep}
}

// partLabels parts labels into those that are in a set and the others.
func partLabels(labels, set []label) (in, out []label) {
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

func meet(a, b labelled, need []label) meeting {
	var m meeting
	both, aOnly := partLabels(a.labels, b.labels)
	_, m.bOnly = partLabels(b.labels, a.labels)
	m.aOnly = aOnly
	m.batch, m.sum = partLabels(both, need)
	return m
}

// elements is the size of the product, saturated.
func (m *meeting) elements(a, b labelled) Dim {
	return N(int64(a.size(m.batch))).Mul(N(int64(a.size(m.aOnly)))).Mul(N(int64(b.size(m.bOnly))))
}

// cheapest finds the pair with the smallest product, the first of equals.
func cheapest(terms []labelled, out []label) (i, j int) {
	best := N(MaxDim)
	for a := range terms {
		for b := a + 1; b < len(terms); b++ {
			m := meet(terms[a], terms[b], neededBy(terms, out, a, b))
			if n := m.elements(terms[a], terms[b]); j == 0 || !LessEq(best, n) {
				i, j, best = a, b, n
			}
		}
	}
	return i, j
}

// contract multiplies two terms and sums over what only they have.
func contract(c *Call, a, b labelled, m meeting) (labelled, error) {
	lent, err := borrow(c, a.t.Len()+b.t.Len()) // in the order of the product
	if err != nil {
		return labelled{}, err
	}
	defer lent.giveBack()
	at := a.permute(slices.Concat(m.batch, m.aOnly, m.sum))
	bt := b.permute(slices.Concat(m.batch, m.sum, m.bOnly))
	batch, rows, inner, cols := a.size(m.batch), a.size(m.aOnly), a.size(m.sum), b.size(m.bOnly)
	out := tensor.New(at.DType, batch, rows, cols)
	if err := multiply(c, out, at.Reshape(batch, rows, inner), bt.Reshape(batch, inner, cols)); err != nil {
		return labelled{}, err
	}
	labels := slices.Concat(m.batch, m.aOnly, m.bOnly)
	shape := slices.Concat(permuted(nil, a.t.Shape, a.axesOfLabels(m.batch)), permuted(nil, a.t.Shape, a.axesOfLabels(m.aOnly)), permuted(nil, b.t.Shape, b.axesOfLabels(m.bOnly)))
	return labelled{out.Reshape(shape...), labels}, nil
}

// arrange brings the labels into the output's order and puts the axes of size 1
// back.
func (x *labelled) arrange(out []label, shape []int) *tensor.T {
	order, _ := partLabels(out, x.labels)
	return x.permute(order).Reshape(shape...)
}
