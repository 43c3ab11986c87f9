package kernel

import (
	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// triangleRow runs tril and triu: of each row of a matrix a part is copied, and the
// rest is zero.
var triangleRow = &Row{Name: "triangle", reach: reach{heart: aMove, alone: true}, Make: func(b *Body, _ *Options) (*Prepared, string) {
	if len(b.Ops) != 1 || !b.Ops[0].Is("tril") && !b.Ops[0].Is("triu") {
		return nil, notMine
	}
	c, why := onlyCall(b)
	if why != "" {
		return nil, why
	}
	cost := c.Cost()
	return &Prepared{Work: min(cost.In+cost.Out, MaxWork)/16 + 20, Runner: newTriangle(c)}, ""
}}

type triangleTask struct {
	lower          bool
	k              int // the diagonal
	rows, cols     int // of a matrix
	all, size, row int // rows of all matrices; bytes of an element, and of a row
}

func newTriangle(c *ir.Call) *triangleTask {
	shape := c.In[0].Ints()
	n := len(shape)
	t := &triangleTask{lower: c.Op.Name == "tril", rows: shape[n-2], cols: shape[n-1], size: c.In[0].DType.Size()}
	if t.cols > 0 {
		t.all = count(shape) / t.cols
	}
	t.row = t.cols * t.size
	k, _ := c.Attr("k").Dims[0].Const()
	t.k = int(max(-int64(t.rows), min(k, int64(t.cols)))) // beyond, nothing changes
	return t
}

func (t *triangleTask) Parts(want int) int { return max(1, min(want, t.all)) }

func (t *triangleTask) Run(x *Exec, part, parts int, out, in []*tensor.T) error {
	first, n := share(t.all, part, parts, 1)
	for i := first; i < first+n; i++ {
		if (i-first)*t.row%(1<<20) < t.row {
			if err := x.Stop(); err != nil {
				return err
			}
		}
		t.compute(out[0].Data[i*t.row:][:t.row], in[0].Data[i*t.row:], i%t.rows)
	}
	return nil
}

// compute writes a row of a matrix.
func (t *triangleTask) compute(to, from []byte, row int) {
	if t.lower {
		end := max(0, min(row+t.k+1, t.cols)) * t.size
		copy(to[:end], from)
		clear(to[end:])
		return
	}
	begin := max(0, min(row+t.k, t.cols)) * t.size
	clear(to[:begin])
	copy(to[begin:], from[begin:])
}
