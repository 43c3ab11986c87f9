package rewrite

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// A style says of what kind the cases of one attempt are: small ones come first,
// then ones whose sizes coincide, ones with constants, ones with symbols.
type style struct {
	*rand.Rand
	dtype      tensor.DType // of what is free to have any
	sizes      []int64      // to which free sizes are brought; nil: as drawn
	rank       int          // the highest
	oneConstIn int          // names that are constants, one in so many
	firstFree  bool         // but first operands never are: weights are known, not what runs through them
	symbolic   bool
	growing    bool     // names may stand for what operators compute,
	own, liked []*ir.Op // of these with preference
	tolerant   bool     // sides may be off by a tolerance: extreme numbers prove nothing
	numbers    []float64
	samples    *int // how many calls may still be drawn
}

const (
	mostRank = 6
	never    = 1 << 30 // one in so many
)

// newStyle makes the style of attempt i.
func newStyle(r *Rule, seed uint64, i int, small bool) *style {
	s := &style{Rand: rand.New(rand.NewPCG(seed, uint64(i))), rank: mostRank, tolerant: r.Within > 0, numbers: r.numbers()}
	s.dtype = tensor.DTypes[s.IntN(len(tensor.DTypes))]
	if s.chance(3) {
		s.dtype = tensor.F32
	}
	s.oneConstIn = []int{never, never, 2, 1}[s.IntN(4)]
	s.firstFree = s.chance(2)
	switch {
	case small:
		s.rank, s.sizes = i%3, []int64{int64(1 + i%2)}
	case s.chance(2):
		s.sizes = []int64{2, 3}
	}
	if small && s.chance(2) {
		s.rank = mostRank // some operators have none of a low rank
	}
	s.hint(r.hints())
	s.symbolic, s.growing = !small && s.chance(3), !small && r.When != nil && s.chance(2)
	return s
}

func (s *style) chance(oneIn int) bool { return s.IntN(oneIn) == 0 }

// numeral finds the numbers of a test.
var numeral = regexp.MustCompile(`-?\d+(\.\d+)?([eE][-+]?\d+)?`)

// Hints are what the tests of a rule ask for, by the words that they use: graphs
// of these are drawn more often, or a rule with three tests would find none.
//
//	where dtype(x) == u32              dtypes u32
//	where shape(x)[-1] == 4            sizes 4
type hints struct {
	dtypes []tensor.DType
	sizes  []int64
}

// word finds the names and the numbers of a test.
var word = regexp.MustCompile(`\w+`)

func (r *Rule) hints() hints {
	var h hints
	for _, t := range r.Where {
		for _, w := range word.FindAllString(t.text, -1) {
			if d, ok := tensor.ParseDType(w); ok {
				h.dtypes = append(h.dtypes, d)
			}
			if n, err := strconv.ParseInt(w, 10, 64); err == nil && n > 1 && n <= mostHinted && strings.Contains(t.text, "shape") {
				h.sizes = append(h.sizes, n)
			}
		}
	}
	return h
}

// mostHinted bounds the sizes that are drawn because a test names them.
const mostHinted = 64

// hint follows hints every other time.
func (s *style) hint(h hints) {
	if len(h.dtypes) > 0 && s.chance(2) {
		s.dtype = h.dtypes[s.IntN(len(h.dtypes))]
	}
	if len(h.sizes) > 0 && s.chance(2) {
		s.sizes = h.sizes
	}
}

// numbers lists what a constant may be for the rule's tests to hold.
func (r *Rule) numbers() []float64 {
	out := []float64{0, 1, 2, -1, 0.5, 3, 4}
	for _, t := range r.Where {
		for _, text := range numeral.FindAllString(t.text, -1) {
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				out = append(out, f, -f, f+1)
			}
		}
	}
	return out
}

// inputs makes values for the inputs of a function; nil: their sizes cannot be.
func (s *style) inputs(f *ir.Func, known map[string]*tensor.T) []*tensor.T {
	env := ir.Env{}
	for _, v := range f.Params {
		for _, d := range v.Type.Shape {
			d.Symbols(func(name string) {
				if _, ok := env[name]; !ok {
					env[name] = symbolSizes[s.IntN(len(symbolSizes))]
				}
			})
		}
	}
	out := make([]*tensor.T, len(f.Params))
	for i, v := range f.Params {
		t, err := v.Type.Bind(env)
		if n, _ := t.Elements().Const(); err != nil || t.Check() != nil || n > mostElements {
			return nil
		}
		out[i] = s.tensor(t, known[v.Name])
	}
	return out
}

// symbolSizes are what symbols stand for: any number from 0 on, and sometimes the
// same.
var symbolSizes = []int64{0, 1, 2, 2, 3, 4, 5}

// tensor draws the values of an input, from known ones if there are some.
func (s *style) tensor(t ir.Type, known *tensor.T) *tensor.T {
	out := tensor.New(t.DType, t.Ints()...)
	if known != nil && known.Len() > 0 {
		for i := range out.Len() {
			setFrom(out, i, known, s.IntN(known.Len()))
		}
		return out
	}
	draw := s.element()
	for i := range out.Len() {
		draw(out, i)
	}
	return out
}

func setFrom(t *tensor.T, i int, from *tensor.T, j int) {
	if t.DType.IsFloat() {
		t.SetFloat(i, from.FloatAt(j))
		return
	}
	t.SetInt(i, from.IntAt(j))
}

// constTensor draws the values of a constant: known ones, one number throughout,
// or any.
func (s *style) constTensor(t ir.Type, known *tensor.T) *tensor.T {
	if (known == nil || known.Len() == 0) && s.chance(2) {
		x := s.numbers[s.IntN(len(s.numbers))]
		return spread(tensor.FromFloats(t.DType, nil, []float64{x}), t.Ints())
	}
	return s.tensor(t, known)
}

// element chooses how the elements of one tensor are drawn: ordinary ones, some
// special ones among them, or mostly special ones.
func (s *style) element() func(t *tensor.T, i int) {
	special := []int{never, never, 6, 2}[s.IntN(4)]
	scale := 1.0
	if s.chance(4) {
		scale = math.Ldexp(1, s.IntN(17)-8)
	}
	return func(t *tensor.T, i int) {
		switch {
		case s.chance(special):
			s.special(t, i)
		case !t.DType.IsFloat():
			t.SetInt(i, int64(s.IntN(17)-8))
		case s.chance(2):
			t.SetFloat(i, float64(s.IntN(9)-4))
		default:
			t.SetFloat(i, s.NormFloat64()*scale)
		}
	}
}

var (
	// spreading are the floats that every rule has to do right.
	spreading = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1}
	// extremes are the ends of the dtypes, where sums and products overflow or
	// vanish, and numbers beside which a rounding shows.
	extremes = []float64{
		math.MaxFloat32, -math.MaxFloat32, math.MaxFloat64, 65504, 3.3895314e38, 1e30, -1e-30, 1 << 24, 1<<24 + 1, 1 << 53,
		0x1p-126, 0x1p-149, -0x1p-149, 0x1p-1022, 0x1p-1074, 0x1p-14, 0x1p-24, 0x1p-133, 0.5, 1.5, 2.5, -0.5, 0.1, 1 + 0x1p-10, 1 + 0x1p-7, 1 + 0x1p-23,
	}
	extremeInts = []int64{math.MinInt64, math.MaxInt64, 1 << 31, -1 << 31, 1<<31 - 1, 1 << 15, 1<<15 - 1, -1 << 15, -128, 127, 128, 255, 256, 65535, -1, 0, 1, 1<<24 + 1, 1<<53 + 1}
)

func (s *style) special(t *tensor.T, i int) {
	switch {
	case !t.DType.IsFloat():
		t.SetInt(i, extremeInts[s.IntN(len(extremeInts))])
	case s.tolerant || s.chance(2):
		t.SetFloat(i, spreading[s.IntN(len(spreading))])
	default:
		t.SetFloat(i, extremes[s.IntN(len(extremes))])
	}
}
