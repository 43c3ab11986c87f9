package ir

import (
	"slices"

	"github.com/npulang/npu/ir/tensor"
)

// Elementwise operators are computed in chunks: each argument's elements are
// loaded in the order of the result's, broadcast and widened on the way, a
// loop runs over the chunk, and the results are rounded once when stored.

// chunk is how many elements are computed at a time: four arrays of 256
// float64 are 8 KiB, a quarter of the usual first-level cache.
const chunk = 256

// A wide is a Go type in which elements are computed. It holds every element
// of its dtypes exactly.
type wide interface{ float64 | int64 | uint64 }

// A width loads and stores the elements of any dtype as W.
type width[W any] struct {
	load  func(t *tensor.T, dst []W, at int)
	store func(t *tensor.T, at int, src []W)
}

var (
	asFloats = width[float64]{(*tensor.T).LoadFloats, (*tensor.T).StoreFloats}
	asInts   = width[int64]{(*tensor.T).LoadInts, (*tensor.T).StoreInts}
	asUints  = width[uint64]{(*tensor.T).LoadUints, (*tensor.T).StoreUints}
	asBools  = width[bool]{(*tensor.T).LoadBools, (*tensor.T).StoreBools}
)

// A loop computes one chunk. in has a chunk of each argument, as long as dst;
// that of an absent argument is nil.
type loop[W, R any] func(c *Call, dst []R, in [][]W)

// A runner computes a whole result.
type runner func(c *Call, out *tensor.T, in []*tensor.T)

// byKind holds an operator's runner for each kind of dtype; nil where the
// operator does not compute with it.
type byKind [5]runner

// stream makes a runner of a loop.
func stream[W, R any](w width[W], r width[R], f loop[W, R]) runner {
	if f == nil {
		return nil
	}
	return func(c *Call, out *tensor.T, in []*tensor.T) {
		n := out.Len()
		run := min(chunk, n)
		readers := room[reader[W]](c, len(in))
		chunks, part := zeros[[]W](c, len(in)), zeros[[]W](c, len(in))
		for i, t := range in {
			if t != nil {
				readers[i].init(c, w, t, out.Shape)
				chunks[i] = room[W](c, run)
			}
		}
		dst := room[R](c, run)
		for at := 0; at < n; at += chunk {
			if at%stopEvery == 0 && c.Budget.stop() != nil {
				return // Evaluate asks again
			}
			size := min(chunk, n-at)
			for i, buf := range chunks {
				if buf != nil {
					part[i] = buf[:size]
					readers[i].fill(part[i])
				}
			}
			f(c, dst[:size], part)
			r.store(out, at, dst[:size])
		}
	}
}

// A reader gives an argument's elements in the order of the result's.
type reader[W any] struct {
	t       *tensor.T
	load    func(*tensor.T, []W, int)
	dense   bool  // the argument has the result's elements, in the same order
	shape   []int // the result's, neighbouring axes merged where possible
	strides []int // of the argument, 0 along an axis that is broadcast
	index   []int // where the next element is
	off     int
}

func newReader[W any](c *Call, w width[W], t *tensor.T, shape []int) *reader[W] {
	r := &room[reader[W]](c, 1)[0]
	r.init(c, w, t, shape)
	return r
}

func (r *reader[W]) init(c *Call, w width[W], t *tensor.T, shape []int) {
	*r = reader[W]{t: t, load: w.load, dense: slices.Equal(t.Shape, shape)}
	if !r.dense {
		r.shape, r.strides = mergeAxes(c, shape, broadcastStrides(c, t.Shape, shape))
		r.index = zeros[int](c, len(r.shape))
	}
}

// broadcastStrides gives the strides with which a dense tensor of shape from
// is read as one of shape to.
func broadcastStrides(c *Call, from, to []int) []int {
	strides := zeros[int](c, len(to))
	lead := len(to) - len(from)
	for i, s := range stridesOf(c, from) {
		if from[i] != 1 {
			strides[lead+i] = s
		}
	}
	return strides
}

// mergeAxes drops axes of size 1 and joins neighbours that one stride walks
// through. At least one axis is left.
func mergeAxes(c *Call, shape, strides []int) (merged, by []int) {
	merged, by = room[int](c, len(shape)+1)[:0], room[int](c, len(shape)+1)[:0]
	for i, n := range shape {
		last := len(merged) - 1
		switch {
		case n == 1:
		case last >= 0 && by[last] == strides[i]*n:
			merged[last] *= n
			by[last] = strides[i]
		default:
			merged, by = append(merged, n), append(by, strides[i])
		}
	}
	if len(merged) == 0 {
		return append(merged, 1), append(by, 0)
	}
	return merged, by
}

// fill loads the elements that follow those of the last call.
func (r *reader[W]) fill(dst []W) {
	if r.dense {
		r.load(r.t, dst, r.off)
		r.off += len(dst)
		return
	}
	last := len(r.shape) - 1
	for len(dst) > 0 {
		n := min(len(dst), r.shape[last]-r.index[last])
		r.row(dst[:n], r.strides[last])
		dst = dst[n:]
		r.advance(n)
	}
}

// row loads neighbours along the innermost axis.
func (r *reader[W]) row(dst []W, stride int) {
	if stride == 1 {
		r.load(r.t, dst, r.off)
		return
	}
	// The innermost stride of a broadcast dense tensor is 1 or 0.
	r.load(r.t, dst[:1], r.off)
	for i := range dst {
		dst[i] = dst[0]
	}
}

func (r *reader[W]) advance(n int) {
	d := len(r.shape) - 1
	r.index[d] += n
	r.off += n * r.strides[d]
	for ; d > 0 && r.index[d] == r.shape[d]; d-- {
		r.off += r.strides[d-1] - r.shape[d]*r.strides[d]
		r.index[d] = 0
		r.index[d-1]++
	}
}

// perElement makes a loop of a function of one element.
func perElement[W, R any](f func(W) R) loop[W, R] {
	return func(_ *Call, dst []R, in [][]W) {
		for i, v := range in[0] {
			dst[i] = f(v)
		}
	}
}

// perPair is perElement for two arguments.
func perPair[W any](f func(a, b W) W) loop[W, W] {
	return func(_ *Call, dst []W, in [][]W) {
		a, b := in[0], in[1]
		for i := range dst {
			dst[i] = f(a[i], b[i])
		}
	}
}

// perFloat makes the runners of a function over floats.
func perFloat(f func(float64) float64) byKind { return arith(perElement(f), nil, nil) }

// perFloat2 is perFloat for two arguments.
func perFloat2(f func(a, b float64) float64) byKind { return arith(perPair(f), nil, nil) }

// arith makes runners whose result has the dtype of the arguments.
func arith(f loop[float64, float64], i loop[int64, int64], u loop[uint64, uint64]) byKind {
	return byKind{
		tensor.Float:    stream(asFloats, asFloats, f),
		tensor.Signed:   stream(asInts, asInts, i),
		tensor.Unsigned: stream(asUints, asUints, u),
	}
}

// tests makes runners whose result is bool.
func tests(f loop[float64, bool], i loop[int64, bool], u loop[uint64, bool]) byKind {
	return byKind{
		tensor.Float:    stream(asFloats, asBools, f),
		tensor.Signed:   stream(asInts, asBools, i),
		tensor.Unsigned: stream(asUints, asBools, u),
	}
}

// orBool adds the runner for bool.
func (k byKind) orBool(f loop[bool, bool]) byKind {
	k[tensor.Logical] = stream(asBools, asBools, f)
	return k
}

// A shaped is what the constructors of elementwise rows vary.
type shaped struct {
	group  string
	args   []string
	result func(tensor.DType) tensor.DType // nil: the dtype of the arguments
	runs   byKind
	guard  func(c *Call, in []*tensor.T) error // refuses values before the run
	known  func(*sampler, Type) *tensor.T      // values for the last argument in samples
}

// elementwise makes a row. op gives name, doc, attributes, dtypes and flags.
func elementwise(op Op, s shaped) *Op {
	op.Group, op.Args, op.Class = s.group, s.args, Elementwise
	op.Infer = func(c *Call) ([]Type, error) { return inferElementwise(c, s.result) }
	op.Eval = s.eval
	if op.Sample == nil {
		op.Sample = sampleElementwise(op.Over, s.args, op.Attrs, s.known)
	}
	return row(op)
}

func inferElementwise(c *Call, result func(tensor.DType) tensor.DType) ([]Type, error) {
	if err := sameDType(c); err != nil {
		return nil, err
	}
	shape, err := broadcastAll(c)
	if err != nil {
		return nil, err
	}
	d := c.In[0].DType
	if result != nil {
		d = result(d)
	}
	return []Type{{d, shape}}, nil
}

func (s *shaped) eval(c *Call, in ...*tensor.T) ([]*tensor.T, error) {
	out := into(c)
	if s.guard != nil && out[0].Len() > 0 {
		if err := s.guard(c, in); err != nil {
			return nil, err
		}
	}
	s.runs[in[0].DType.Kind()](c, out[0], in)
	return out, nil
}

func boolResult(tensor.DType) tensor.DType { return tensor.Bool }
