package ir

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Einsum sums products over labelled axes, NumPy's notation: "bij,bjk->bik".
var Einsum = row(Op{
	Name: "einsum", Group: "product", Args: []string{"xs..."}, Over: Numbers, Class: Contract, Unit: Cube,
	Doc:    "sum of products over the labels that the output leaves out: a letter for each axis, the same letter for axes walked together, ... for any others",
	Attrs:  []Attr{{Name: "spec", Kind: KString, Required: true, Doc: "the labels of each operand and, after ->, of the output; without ->, those that occur once, in alphabetical order"}},
	Infer:  inferEinsum,
	Eval:   evalEinsum,
	Cost:   costEinsum,
	Sample: sampleEinsum,
})

// maxOperands keeps the search for an order of products short; NumPy stops at
// half of it.
const maxOperands = 64

// A label names an axis: a letter, or below 0 an axis that ... stands for, -1
// being its last.
type label int

// An equation is a spec that has been laid beside the ranks of its operands.
type equation struct {
	in  [][]label
	out []label
}

// parseEquation reads a spec for operands of the given ranks. What it makes lies in the
// call's memory, where it has any.
func parseEquation(c *Call, spec string, ranks []int) (*equation, error) {
	left, right, explicit := bytes.Cut(unspaced(c, spec), []byte("->"))
	if parts := bytes.Count(left, []byte(",")) + 1; parts != len(ranks) {
		return nil, Errorf("wrong-arguments", "%q has labels for %s, but has %d", spec, plural(parts, "operand"), len(ranks))
	}
	eq := &room[equation](c, 1)[0]
	eq.in = room[[]label](c, len(ranks))
	dots := 0
	for i, rank := range ranks {
		var part []byte
		part, left, _ = bytes.Cut(left, []byte(","))
		labels, n, err := parseLabels(c, spec, part, i, rank)
		if err != nil {
			return nil, err
		}
		eq.in[i] = labels
		dots = max(dots, n)
	}
	if !explicit {
		eq.out = implicitOutput(c, eq.in, dots)
		return eq, nil
	}
	var err error
	eq.out, err = parseOutput(c, spec, right, eq.in, dots)
	return eq, err
}

// unspaced is a spec without its white space.
func unspaced(c *Call, spec string) []byte {
	text := room[byte](c, len(spec))[:0]
	for i, r := range spec {
		if !unicode.IsSpace(r) {
			_, size := utf8.DecodeRuneInString(spec[i:])
			text = append(text, spec[i:i+size]...)
		}
	}
	return text
}

// anyAxes is what stands for any axes.
var anyAxes = []byte("...")

// parseLabels reads one operand's labels; n is how many axes ... stands for.
func parseLabels(c *Call, spec string, part []byte, arg, rank int) (labels []label, n int, err error) {
	before, after, dots := bytes.Cut(part, anyAxes)
	for _, letters := range [...][]byte{before, after} {
		if i := bytes.IndexFunc(letters, func(r rune) bool { return !isLetter(r) }); i >= 0 {
			r, _ := utf8.DecodeRune(letters[i:])
			return nil, 0, Errorf("wrong-arguments", "%q is not a label in %q", r, spec).
				Note("labels are the letters a to z and A to Z")
		}
	}
	letters := len(before) + len(after)
	if n = rank - letters; n < 0 || n > 0 && !dots {
		return nil, 0, Errorf("rank-mismatch", "%q has %d labels for operand %d, which has rank %d", spec, letters, arg+1, rank)
	}
	labels = appendLetters(room[label](c, rank)[:0], before)
	labels = appendDots(labels, n)
	return appendLetters(labels, after), n, nil
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func appendLetters(labels []label, letters []byte) []label {
	for _, l := range letters {
		labels = append(labels, label(l))
	}
	return labels
}

// appendDots adds the last n of the axes that ... stands for.
func appendDots(labels []label, n int) []label {
	for ; n > 0; n-- {
		labels = append(labels, label(-n))
	}
	return labels
}

// implicitOutput is what NumPy takes when there is no arrow.
func implicitOutput(c *Call, in [][]label, dots int) []label {
	var count ['z' + 1]int
	for _, labels := range in {
		for _, l := range labels {
			count[max(l, 0)]++
		}
	}
	out := appendDots(room[label](c, dots+len(count))[:0], dots)
	for l := 'A'; l <= 'z'; l++ {
		if count[l] == 1 {
			out = append(out, label(l))
		}
	}
	return out
}

func parseOutput(c *Call, spec string, right []byte, in [][]label, dots int) ([]label, error) {
	before, after, found := bytes.Cut(right, anyAxes)
	if dots > 0 && !found {
		return nil, Errorf("wrong-arguments", "the output of %q lacks the ... of its operands", spec)
	}
	for _, letters := range [...][]byte{before, after} {
		if i := bytes.IndexFunc(letters, func(r rune) bool { return !isLetter(r) || !anyHas(in, label(r)) }); i >= 0 {
			r, _ := utf8.DecodeRune(letters[i:])
			return nil, Errorf("wrong-arguments", "the output label %q of %q is in no operand", r, spec)
		}
	}
	out := appendLetters(room[label](c, len(before)+dots+len(after))[:0], before)
	out = appendLetters(appendDots(out, dots), after)
	for i, l := range out {
		if slices.Contains(out[:i], l) {
			return nil, Errorf("wrong-arguments", "the output label %q of %q is given twice", rune(l), spec)
		}
	}
	return out, nil
}

// anyHas reports whether an operand has a label.
func anyHas(in [][]label, l label) bool {
	return slices.ContainsFunc(in, func(labels []label) bool { return slices.Contains(labels, l) })
}

// sizes finds each label's size. Sizes of one label are equal, or some are the
// literal 1; within one operand they are equal.
func (eq *equation) sizes(c *Call) (map[label]Dim, error) {
	sizes, from := map[label]Dim{}, map[label]int{}
	for i, labels := range eq.in {
		for axis, l := range labels {
			d := c.In[i].Shape[axis]
			known, ok := sizes[l]
			twice := ok && slices.Contains(labels[:axis], l)
			switch {
			case !ok || known.Is(1) && !twice:
				sizes[l], from[l] = d, i
			case !known.Equal(d) && (twice || !d.Is(1)):
				return nil, Errorf("shape-mismatch", "%s has sizes %s and %s", l, known, d).
					Label(from[l], "%s", c.In[from[l]]).Label(i, "%s", c.In[i])
			}
		}
	}
	return sizes, nil
}

func (l label) String() string {
	if l < 0 {
		return "an axis of ..."
	}
	return "label " + string(rune(l))
}

func equationOf(c *Call) (*equation, error) {
	ranks := room[int](c, len(c.In))
	for i, t := range c.In {
		ranks[i] = t.Rank()
	}
	return parseEquation(c, c.Str("spec"), ranks)
}

func inferEinsum(c *Call) ([]Type, error) {
	switch n := len(c.In); {
	case n == 0:
		return nil, Errorf("missing-argument", "there are no operands")
	case n > maxOperands:
		return nil, Errorf("limit", "there are %d operands, more than %d", n, maxOperands)
	}
	if err := sameDType(c); err != nil {
		return nil, err
	}
	eq, err := equationOf(c)
	if err != nil {
		return nil, err
	}
	sizes, err := eq.sizes(c)
	if err != nil {
		return nil, err
	}
	out := make([]Dim, len(eq.out))
	for i, l := range eq.out {
		out[i] = sizes[l]
	}
	return []Type{{c.In[0].DType, out}}, nil
}

// costEinsum counts a multiply and an add for each operand but the first at
// each combination of labels.
func costEinsum(c *Call) Cost {
	cost := DefaultCost(c, 1)
	eq, err := equationOf(c)
	if err != nil {
		return cost
	}
	sizes, err := eq.sizes(c)
	if err != nil {
		return cost
	}
	n := N(max(1, 2*int64(len(c.In)-1)))
	for _, d := range sizes {
		n = n.Mul(d)
	}
	cost.Flops, _ = n.Const()
	return cost
}

// einsumSamples has every kind of equation.
var einsumSamples = []string{
	"ij,jk->ik", "bij,bjk->bik", "bhsd,bhtd->bhst", "ij->ji", "ii->i", "ii", "ij->", "i,i", "i,j->ij", "ij,ij->ij",
	"...i,ij->...j", "...ij,...jk->...ik", "a,ab,b->", "ab,bc,cd->ad", "ijj,j->i", "ij,kj", "...->...", "->", ",i->i", "aab,b->a",
	"ij,jk->i", "ij,k->", "bij,bj,bi->b",
}

func sampleEinsum(r *rand.Rand) Call {
	s := &sampler{r}
	spec := einsumSamples[s.IntN(len(einsumSamples))]
	d, dots, sizes := s.dtype(Numbers), s.shape(0, 2), map[rune]int{}
	c := Call{Attrs: []Lit{StrLit(spec)}}
	left, _, _ := strings.Cut(spec, "->")
	for _, part := range strings.Split(left, ",") {
		shape := []int{}
		before, after, hasDots := strings.Cut(part, "...")
		for _, l := range before + after {
			if _, ok := sizes[l]; !ok {
				sizes[l] = s.size()
			}
			shape = append(shape, sizes[l])
		}
		if hasDots {
			shape = slices.Insert(shape, len(before), s.part(dots)...)
		}
		c.In = append(c.In, T(d, Dims(shape...)...))
	}
	return c
}

// An EinsumSpec is what an einsum says of the axes: labels that are equal are walked
// together.
type EinsumSpec struct {
	In  [][]int // by operand and axis
	Out []int
}

// EinsumOf reads the equation of a call of einsum that is legal.
func EinsumOf(c *Call) (*EinsumSpec, error) {
	eq, err := equationOf(c)
	if err != nil {
		return nil, err
	}
	s := &EinsumSpec{Out: ints(eq.out)}
	for _, labels := range eq.in {
		s.In = append(s.In, ints(labels))
	}
	return s, nil
}

func ints(labels []label) []int {
	out := make([]int, len(labels))
	for i, l := range labels {
		out[i] = int(l)
	}
	return out
}
