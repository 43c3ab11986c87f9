package kernel

import "github.com/npulang/npu/ir"

// rows says which axes of a call's result are rows that can be computed by
// themselves: the first few. By argument and axis, args has the axis of the result
// that an argument's axis goes along with, -1 where every row needs all of it. The
// zero value says that there are none.
type rows struct {
	axes int
	args [][]int
}

// rowsOf is the table of operators with rows; of elementwise ones every axis
// is.
var rowsOf = map[string]func(*ir.Call) rows{
	"matmul":         matrixRows,
	"linear":         firstArgRows(func(c *ir.Call) int { return c.Out[0].Rank() - 1 }),
	"softmax":        firstArgRows(beforeAxis),
	"log_softmax":    firstArgRows(beforeAxis),
	"l2_normalize":   firstArgRows(beforeAxis),
	"cumsum":         firstArgRows(beforeAxis),
	"layernorm":      firstArgRows(beforeAxis),
	"rmsnorm":        firstArgRows(func(c *ir.Call) int { return c.Out[0].Rank() - 1 }),
	"batchnorm":      firstArgRows(onlyBatch),
	"instancenorm":   firstArgRows(onlyBatch),
	"groupnorm":      firstArgRows(onlyBatch),
	"conv":           firstArgRows(onlyBatch),
	"conv_transpose": firstArgRows(onlyBatch),
	"attention":      attentionRows,

	"max_pool":        firstArgRows(planes),
	"avg_pool":        firstArgRows(planes),
	"global_max_pool": firstArgRows(planes),
	"global_avg_pool": firstArgRows(planes),

	"sum":           firstArgRows(beforeAxis),
	"mean":          firstArgRows(beforeAxis),
	"prod":          firstArgRows(beforeAxis),
	"max":           firstArgRows(beforeAxis),
	"min":           firstArgRows(beforeAxis),
	"sum_square":    firstArgRows(beforeAxis),
	"norm1":         firstArgRows(beforeAxis),
	"norm2":         firstArgRows(beforeAxis),
	"logsumexp":     firstArgRows(beforeAxis),
	"variance":      firstArgRows(beforeAxis),
	"std":           firstArgRows(beforeAxis),
	"any":           firstArgRows(beforeAxis),
	"all":           firstArgRows(beforeAxis),
	"count_nonzero": firstArgRows(beforeAxis),
	"argmax":        firstArgRows(beforeAxis),
	"argmin":        firstArgRows(beforeAxis),
}

// referenceRows are the rows of calls that run by their operator's evaluation.
func referenceRows(c *ir.Call) rows {
	if c.Op.Class == ir.Elementwise && c.Op.Flags&ir.Impure == 0 {
		return broadcastRows(c)
	}
	if f := rowsOf[c.Op.Name]; f != nil {
		return f(c)
	}
	return rows{}
}

// upTo lists the axes before n.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// aligned lets the axes of an argument go along with those of the result as
// broadcasting does, all but the last few of them.
func aligned(arg, out ir.Type, last int) []int {
	list := make([]int, arg.Rank())
	for j := range list {
		list[j] = out.Rank() - arg.Rank() + j
		if j >= arg.Rank()-last {
			list[j] = -1
		}
	}
	return list
}

// broadcastRows are those of elementwise operators.
func broadcastRows(c *ir.Call) rows {
	r := rows{axes: c.Out[0].Rank()}
	for _, t := range c.In {
		r.args = append(r.args, aligned(t, c.Out[0], 0))
	}
	return r
}

// firstArgRows are those of operators whose first argument has the result's
// first axes, and whose other arguments every row needs.
func firstArgRows(axes func(*ir.Call) int) func(*ir.Call) rows {
	return func(c *ir.Call) rows {
		r := rows{axes: max(0, min(axes(c), c.Out[0].Rank()))}
		r.args = make([][]int, len(c.In))
		r.args[0] = upTo(min(r.axes, c.In[0].Rank()))
		return r
	}
}

// beforeAxis counts the axes before the first that the attribute axis names;
// absent, it names all.
func beforeAxis(c *ir.Call) int {
	rank := c.In[0].Rank()
	var list []int64
	switch l := c.Attr("axis"); l.Kind {
	case ir.KInt:
		list = []int64{l.Int}
	case ir.KInts:
		list = l.Ints
	default:
		return 0
	}
	first := rank
	for _, a := range list {
		if a < 0 {
			a += int64(rank)
		}
		first = min(first, int(a))
	}
	return first
}

// onlyBatch is for operators on images: one row an image.
func onlyBatch(*ir.Call) int { return 1 }

// planes is for operators on images that work on each channel by itself.
func planes(*ir.Call) int { return 2 }

// matrixRows are those of products of matrices: the batch axes, which
// broadcast, and the rows of the left one.
func matrixRows(c *ir.Call) rows {
	a, b, out := c.In[0], c.In[1], c.Out[0]
	if a.Rank() < 2 || b.Rank() < 2 {
		return rows{}
	}
	return rows{out.Rank() - 1, [][]int{aligned(a, out, 1), aligned(b, out, 2)}}
}

// attentionRows are the batch axes, if keys and values have as many heads as
// the queries.
func attentionRows(c *ir.Call) rows {
	q := c.In[0]
	r := rows{axes: q.Rank() - 2}
	for _, t := range c.In {
		if t.Absent() {
			r.args = append(r.args, nil)
			continue
		}
		r.args = append(r.args, aligned(t, c.Out[0], 2))
	}
	return r
}
