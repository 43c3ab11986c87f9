package npu

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/npulang/npu/ir/tensor"
	"github.com/npulang/npu/vm/kernel/isa"
)

// A levelSketch writes a random script whose sizes are those that fast kernels care
// about, larger than those of random graphs, with values for all that it reads.
type levelSketch struct {
	r       *rand.Rand
	inputs  []string // as the graph declares them
	values  []*Tensor
	params  []string
	weights Arrays
	body    []string
	names   int
}

// levelSizes are edges of registers, tiles and blocks.
var levelSizes = []int{1, 2, 3, 5, 6, 7, 8, 11, 12, 13, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 72, 96, 127, 128, 129, 192, 255, 256, 257, 384, 513}

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// size is at most so much.
func (s *levelSketch) size(most int) int {
	for {
		if n := oneOf(s.r, levelSizes...); n <= most {
			return n
		}
	}
}

func (s *levelSketch) name(letter string) string {
	s.names++
	return fmt.Sprint(letter, s.names)
}

// normal has normal elements, some of them whole numbers and zeros.
func (s *levelSketch) normal(shape []int) *Tensor {
	t := tensor.New(F32, shape...)
	for i := range t.Len() {
		t.SetFloat(i, s.r.NormFloat64()/4)
		if s.r.IntN(16) == 0 {
			t.SetFloat(i, float64(s.r.IntN(5)-2))
		}
	}
	return t
}

func f32Of(shape []int) string { return "f32" + strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") }

func (s *levelSketch) input(shape ...int) string {
	name := s.name("x")
	s.inputs = append(s.inputs, name+": "+f32Of(shape))
	s.values = append(s.values, s.normal(shape))
	return name
}

func (s *levelSketch) weight(shape ...int) string {
	name := s.name("w")
	s.params = append(s.params, "param "+name+": "+f32Of(shape))
	s.weights[name] = s.normal(shape)
	return name
}

// let adds a line that computes something.
func (s *levelSketch) let(format string, args ...any) string {
	name := s.name("v")
	s.body = append(s.body, name+" = "+fmt.Sprintf(format, args...))
	return name
}

// tail is what may follow, element by element.
func (s *levelSketch) tail(v string, shape ...int) string {
	for range s.r.IntN(4) {
		switch s.r.IntN(4) {
		case 0:
			v = s.let("%s(%s)", oneOf(s.r, "relu", "gelu", "silu", "tanh", "sigmoid", "exp", "erf", "mish", "abs", "hardswish", "sin"), v)
		case 1:
			v = s.let("%s * %s + %s", v, s.weight(shape[len(shape)-1]), s.input(shape...))
		case 2:
			v = s.let("clip(%s, -1.5, 6) * 0.5", v)
		case 3:
			v = s.let("where(%s > 0.25, %s, %s)", v, v, s.input(shape...))
		}
	}
	return v
}

// rows are layers of a transformer or a perceptron.
func (s *levelSketch) rows() string {
	m, k := s.size(200), s.size(513)
	x := s.input(m, k)
	if s.r.IntN(4) == 0 {
		x = s.let("transpose(%s)", s.input(k, m))
	}
	for range 1 + s.r.IntN(4) {
		n := s.size(400)
		switch s.r.IntN(7) {
		case 0:
			x, k = s.let("linear(%s, %s, %s)", x, s.weight(n, k), s.weight(n)), n
		case 1:
			x, k = s.let("matmul(%s, %s)", x, s.input(k, n)), n
		case 2:
			x, k = s.let("matmul(%s, transpose(%s))", x, x), m
		case 3:
			x, k = s.let("silu(%s @ %s) * (%s @ %s)", x, s.weight(k, n), x, s.weight(k, n)), n
		case 4:
			x = s.let("%s(%s, axis=%d)", oneOf(s.r, "softmax", "log_softmax", "l2_normalize", "cumsum"), x, -1-s.r.IntN(2))
		case 5:
			x = s.let("layernorm(%s + %s, %s, %s)", x, s.input(m, k), s.weight(k), s.weight(k))
		case 6:
			of := oneOf(s.r, "sum", "mean", "max", "std", "norm2", "logsumexp")
			x = s.let("%s - %s(%s, axis=%d, keepdims=true)", x, of, x, -1-s.r.IntN(2))
		}
		x = s.tail(x, m, k)
	}
	return x
}

// image is convolutions and pools.
func (s *levelSketch) image() string {
	n, c, h, w := 1+s.r.IntN(2), s.size(64), 7+s.r.IntN(24), 7+s.r.IntN(30)
	x := s.input(n, c, h, w)
	for range 1 + s.r.IntN(3) {
		size, step := oneOf(s.r, 1, 3, 3, 5, 7), 1+s.r.IntN(2)
		filters, groups := s.size(64), 1
		if s.r.IntN(3) == 0 {
			filters, groups = c, c
		}
		weights := s.weight(filters, c/groups, size, size)
		x = s.let("conv(%s, %s, %s, stride=%d, pad=%d, groups=%d)", x, weights, s.weight(filters), step, size/2, groups)
		c, h, w = filters, (h-1)/step+1, (w-1)/step+1
		x = s.tail(x, n, c, h, w)
		if s.r.IntN(3) == 0 && min(h, w) >= 2 {
			x = s.let("%s(%s, 2, stride=1)", oneOf(s.r, "max_pool", "avg_pool"), x)
			h, w = h-1, w-1
		}
	}
	return x
}

func (s *levelSketch) attention() string {
	batch, groups, queries, keys, deep := 1+s.r.IntN(2), 1+s.r.IntN(3), s.size(72), s.size(257), s.size(129)
	heads := groups * (1 + s.r.IntN(2))
	mask := oneOf(s.r, "", ", causal=true", ", "+s.input(batch, 1, queries, keys))
	v := s.let("attention(%s, %s, %s%s)", s.input(batch, heads, queries, deep), s.input(batch, groups, keys, deep), s.input(batch, groups, keys, deep), mask)
	return s.tail(v, batch, heads, queries, deep)
}

func newLevelSketch(r *rand.Rand) (s *levelSketch, text string) {
	s = &levelSketch{r: r, weights: Arrays{}}
	result := oneOf(r, s.rows, s.rows, s.image, s.attention)()
	return s, fmt.Sprintf("%s\ngraph main(%s) {\n    %s\n    return %s\n}\n",
		strings.Join(s.params, "\n"), strings.Join(s.inputs, ", "), strings.Join(s.body, "\n    "), result)
}

// TestLevelsAgree: random scripts give the same bits by every instruction set of this
// processor but the portable code, in any plan, on any number of threads, and in every
// run. So they do at every precision, but for bf16 where AVX-512 adds it in pairs.
func TestLevelsAgree(t *testing.T) {
	end := time.Now().Add(flag.Lookup("stress").Value.(flag.Getter).Get().(time.Duration))
	first, least := uint64(0), uint64(60)
	if testing.Short() {
		least = 6
	}
	if time.Now().Before(end) {
		first = uint64(time.Now().UnixNano()) % 1e12
	}
	for seed := first; seed < first+least || time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 41))
		s, text := newLevelSketch(r)
		opts := Options{Level: O2, Verify: true, Weights: s.weights, Precision: oneOf(r, "", "", "", PrecisionF16, PrecisionBF16, PrecisionInt8)}
		var want []*Tensor
		for i, name := range ISAs()[1:] {
			if i > 0 && opts.Precision == PrecisionBF16 && isa.FastBF16() {
				want = nil
			}
			opts.ISA, opts.Threads = name, 1+r.IntN(3)
			randomPlan(r, &opts)
			if err := s.agrees(text, opts, &want); err != nil {
				t.Fatalf("seed %d, %s, precision %q, %d threads: %v\n%s", seed, name, opts.Precision, opts.Threads, err, text)
			}
		}
	}
}

// agrees compares some runs of the script with what is wanted; nil: with the first.
func (s *levelSketch) agrees(text string, opts Options, want *[]*Tensor) error {
	p, err := Compile(Script("sketch.npu", text), opts)
	if err != nil {
		return err
	}
	defer p.Close()
	for range 3 {
		got, err := p.run(context.Background(), s.values)
		if err != nil {
			return err
		}
		if *want == nil {
			*want = got
		}
		if err := firstDifference(p.fn, got, *want, 0); err != nil {
			return err
		}
	}
	return nil
}
